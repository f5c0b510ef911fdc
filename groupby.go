package spirjoin

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/groupby"
)

// GroupSpec says by which columns rows are grouped and what is computed of each group. [groupby.Spec] documents the
// fields in full:
//
//	By          key columns; NULL is one more value of each; without any, all rows are one group
//	Aggregates  output columns behind the keys: a function, its column, and a name if the default does not do
//	Algorithm   "graphics" or "sort" forces how rows are grouped; default: chosen
//	BatchRows   maximum rows of an output batch; default 1,048,576
//	Progress    callback that gets the phase, the rows done and in all, and the time elapsed and left
type GroupSpec = groupby.Spec

// GroupAggregate is one output column of a group-by: Func of Column, named Name.
type GroupAggregate = groupby.Aggregate

// GroupResult is the groups of a table, whose owner closes it. One goroutine may draw them, once. [groupby.Result]
// documents it in full: Batches(ctx), Rows(), Schema(), Device, Stats(), Explain() and Close() are as in [JoinResult].
type GroupResult = groupby.Result

// Further types of group-bys.
type (
	GroupFunc   = groupby.Func
	GroupLayout = groupby.Layout // the output columns and the input columns that they need
	GroupStats  = groupby.Stats  // measurements, from GroupResult.Stats
	GroupPlan   = groupby.Plan   // from Engine.ExplainGroups
)

// The functions of aggregates. NULL does not count: of no values, counts are 0 and all else is NULL.
const (
	GroupCount         = groupby.Count         // number of values, or of rows if there is no column
	GroupCountDistinct = groupby.CountDistinct // number of different values
	GroupSum           = groupby.Sum           // exact, except of floats
	GroupMin           = groupby.Min
	GroupMax           = groupby.Max
	GroupAvg           = groupby.Avg    // float64
	GroupFirst         = groupby.First  // value of the first row, which may be NULL
	GroupVar           = groupby.Var    // sample variance, float64
	GroupStddev        = groupby.Stddev // its square root
)

// GroupFuncs returns all functions of aggregates; String is the name of one, and Help says what it computes.
func GroupFuncs() []GroupFunc { return groupby.Funcs() }

// ParseGroupFunc parses the name of a function. Errors: ErrInvalidInput with the nearest name.
func ParseGroupFunc(name string) (GroupFunc, error) { return groupby.ParseFunc(name) }

// NewGroupLayout derives the output columns of a group-by, and the input columns that it needs, from the schema alone.
func NewGroupLayout(schema *arrow.Schema, spec GroupSpec) (*GroupLayout, error) {
	return groupby.NewLayout(schema, spec)
}

// GroupBy puts the rows of a table in groups of equal keys and computes aggregates of each group, on the first device.
// The output is read from the result, which keeps the table and which the caller closes; ctx must not end before.
//
// Errors: ErrInvalidInput (unknown columns, output columns of one name), ErrUnsupported (types that cannot be keys, or
// that a function has no meaning for; an algorithm that the device cannot run), ErrLimit (a sum of integers or decimals
// that its type does not hold), ErrDeviceMemory, ErrHostMemory; device errors.
func (e *Engine) GroupBy(ctx context.Context, table arrow.Table, spec GroupSpec) (*GroupResult, error) {
	return e.groups.Group(ctx, table, spec)
}

// GroupByLayout is GroupBy with an existing layout. The layout may come from a schema with more columns than the table,
// so that a caller can read only the columns in layout.Needed.
func (e *Engine) GroupByLayout(ctx context.Context, layout *GroupLayout, table arrow.Table) (*GroupResult, error) {
	return e.groups.GroupLayout(ctx, layout, table)
}

// GroupByStream is GroupBy of record batches that are read as they are grouped. Memory is taken for some of them at a
// time and for the groups, whatever the number of rows; with Options.TempDir and MemoryLimitBytes, groups that are too
// many are on disk, and ErrDiskSpace may be an error, also of drawing. The source must stay alive until the call
// returns.
func (e *Engine) GroupByStream(ctx context.Context, source Source, spec GroupSpec) (*GroupResult, error) {
	if source.Schema == nil {
		return e.groups.Stream(ctx, nil, nil)
	}
	layout, err := groupby.NewLayout(source.Schema, spec)
	if err != nil {
		return nil, err
	}
	return e.groups.Stream(ctx, layout, source.Batches)
}

// GroupByStreamLayout is GroupByStream with an existing layout; see [Engine.GroupByLayout].
func (e *Engine) GroupByStreamLayout(ctx context.Context, layout *GroupLayout, source Source) (*GroupResult, error) {
	return e.groups.Stream(ctx, layout, source.Batches)
}

// ExplainGroups plans a group-by without running it. String returns the text of the plan.
func (e *Engine) ExplainGroups(ctx context.Context, layout *GroupLayout, table arrow.Table) (*GroupPlan, error) {
	return e.groups.Plan(ctx, layout, table)
}
