package task

import (
	"context"

	"github.com/spirjoin/spirjoin/query"
)

// Policy is where the tasks of a join come from: the only place where a way of dividing work is written. The scheduler
// calls its methods one at a time.
type Policy interface {
	// Prepare is called once, before the first task: it divides both sides.
	Prepare(ctx context.Context) error
	// Next returns the next task; nil after the last one. There is at least one.
	Next(ctx context.Context) (*Task, error)
	// Failed reports whether the last task, which failed before it had output, is replaced by others.
	Failed(err error) (again bool)
	// Err returns why no task can go on, as an error of a write for which others waited; nil if they can.
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
	DivideBytes uint64      // size of a build side beyond which a stream divides both sides; default half of the memory limit
	DivideOn    DividePlace // where both sides are divided
	PartsBytes  uint64      // memory for parts, beyond which they are on disk; default half of the memory limit
}
