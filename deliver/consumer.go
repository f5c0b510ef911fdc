package deliver

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Consumer takes the rows of a join on the devices that make them, so that no row comes to the host. All tasks of the
// join share it. Safe for concurrent use.
type Consumer interface {
	// Carry returns the columns that windows have for the rows of a table. later says that the table is a part of a
	// side, or has no rows and stands for the parts, all of which have the same fields. An error ends the join.
	Carry(ctx context.Context, side relation.Side, table arrow.Table, later bool) (Carried, error)
	// Open returns the sink of a lane, whose windows come from room.
	Open(room Room) WindowSink
	// Kept returns how many rows it has, apart from those that open sinks hold. Rows that are kept are not taken back, so
	// what has made them cannot run again.
	Kept() uint64
	// Rehearsal returns a consumer that does the same on a device but keeps no rows.
	Rehearsal() Consumer
}

// Carried are the columns that windows have for the rows of a table, in place of output columns.
type Carried interface {
	Columns() []*arrow.Chunked // of types with [relation.WordBits]; they are valid as long as the table
	// Fields describe Columns. A column has the name of a column of the table only if it is that column.
	Fields() []arrow.Field
	HostBytes(rows uint64) uint64 // host memory beside a table with this number of rows
}

// WindowSink is the sink of a lane of a [Consumer].
type WindowSink interface {
	operator.Sink
	// Turn says what the columns of the windows that follow are.
	Turn(f *Format)
	// EndPart ends the rows of a part of the probe side, whose table may be released afterwards.
	EndPart(ctx context.Context) error
	// End ends the rows of the lane, which are kept then. The build side was released before.
	End(ctx context.Context) error
	// Close releases the memory of the sink, whatever happened before.
	Close()
}

// Kept returns how many rows a consumer has kept; 0 without one.
func Kept(c Consumer) uint64 {
	if c == nil {
		return 0
	}
	return c.Kept()
}
