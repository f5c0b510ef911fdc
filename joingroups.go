package spirjoin

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/groupjoin"
)

// JoinGroupLayout is the output of a join whose rows are grouped, and what it needs. Join is the layout of the join,
// whose Needed lists the columns of both inputs. Groups is the layout of the group-by of its rows.
type JoinGroupLayout = groupjoin.Layout

// JoinGroupResult is the groups of the rows of a join, whose owner closes it. One goroutine may draw them, once.
// Batches(ctx), Rows(), Schema(), Device, Stats(), Explain() and Close() are as in [GroupResult].
type JoinGroupResult = groupjoin.Result

// JoinGroupStats are measurements, from JoinGroupResult.Stats.
type JoinGroupStats = groupjoin.Stats

// NewJoinGroupLayout derives the output columns of a join whose rows are grouped, and the input columns that it needs,
// from schemas alone. groups names columns as the output of the join does: a right column that has a suffix there has
// it here, and merged keys have the name of the left one.
//
// Errors: as for [NewJoinLayout] and [NewGroupLayout]; ErrInvalidInput if spec.Columns or spec.Output is given.
func NewJoinGroupLayout(left, right *arrow.Schema, spec JoinSpec, groups GroupSpec) (*JoinGroupLayout, error) {
	return groupjoin.NewLayout(left, right, spec, groups)
}

// JoinGroupBy joins two tables and groups the rows, which never exist all at once: they are grouped batch by batch,
// with only the columns that groups names. Memory is taken for some batches and for the groups. If groups asks for
// counts, sums, means, least and greatest values by key columns of the join, both tables are grouped first and only
// their groups are joined. The caller closes the result; both tables must stay alive, and ctx must not end, until the
// call returns.
//
// The function first takes the order of the rows from spec.Order. Under a memory limit the join is planned for three
// quarters of it. A group-by never waits for memory: if other queries hold it, the group-by fails with ErrHostMemory or
// ErrDeviceMemory.
//
// Errors: as for [Engine.Join] and [Engine.GroupBy]; ErrLimit for a count beyond int64.
func (e *Engine) JoinGroupBy(ctx context.Context, left, right arrow.Table, spec JoinSpec, groups GroupSpec) (
	*JoinGroupResult, error) {
	return e.JoinGroupByStream(ctx, FromTable(left), FromTable(right), spec, groups)
}

// JoinGroupByStream is JoinGroupBy of sources, of which one is read part by part as by [Engine.JoinStream], or both if
// they are grouped first.
func (e *Engine) JoinGroupByStream(ctx context.Context, left, right Source, spec JoinSpec, groups GroupSpec) (
	*JoinGroupResult, error) {
	layout, err := groupjoin.NewLayout(left.Schema, right.Schema, spec, groups)
	if err != nil {
		return nil, err
	}
	return e.JoinGroupByLayout(ctx, layout, left, right)
}

// JoinGroupByLayout is JoinGroupByStream with an existing layout. The layout may come from schemas with more columns
// than the sources, so that a caller can read only the columns in layout.Join.Needed.
func (e *Engine) JoinGroupByLayout(ctx context.Context, layout *JoinGroupLayout, left, right Source) (
	*JoinGroupResult, error) {
	return e.joinGroups().Run(ctx, layout, left, right)
}

// ExplainJoinGroups plans a join and the group-by of its rows without running them, and returns the text of the plan.
func (e *Engine) ExplainJoinGroups(ctx context.Context, layout *JoinGroupLayout, left, right arrow.Table) (string,
	error) {
	return e.joinGroups().Explain(ctx, layout, left, right)
}

func (e *Engine) joinGroups() *groupjoin.Engine {
	return &groupjoin.Engine{Join: e.join, Groups: e.groups}
}
