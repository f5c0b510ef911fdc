package task

import (
	"context"

	"github.com/spirjoin/spirjoin/query"
)

// Policy is a way to divide a join into tasks. The scheduler calls its methods one at a time.
type Policy interface {
	// Prepare divides both sides. It is called once, before Next.
	Prepare(ctx context.Context) error
	// Next returns the next task; nil after the last one. There is at least one.
	Next(ctx context.Context) (*Task, error)
	// Failed reports whether Next will return other tasks in place of one, which failed with err before it had output.
	Failed(t *Task, err error) (again bool)
	// Err returns an error of the policy's own work that explains why tasks fail, such as a failed write of a part; nil
	// if there is none.
	Err() error
	// Close frees what all tasks need. It may be called before Prepare.
	Close()
	// String says how the join was divided, as the first line of explain texts.
	String() string
}

// Means are the memory, the device and the disk with which joins are divided.
type Means struct {
	*query.Engine
	Knobs
	// TempDir is the folder for parts of sides that do not fit in memory; "": there is none.
	TempDir string
}

// Knobs force what policies otherwise choose, for measurements and tests. Zero values leave the choice to the policies.
type Knobs struct {
	DivideBytes uint64      // size of a build side beyond which a stream divides both sides; 0: half of the memory limit
	DivideOn    DividePlace // where both sides are divided
	PartsBytes  uint64      // memory for parts, beyond which they are on disk; 0: half of the memory limit
	ByRange     KeyRanges   // how the strategy hmg divides tables that do not fit the devices together
}
