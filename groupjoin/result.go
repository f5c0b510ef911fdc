package groupjoin

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// Result is the groups of the rows of a join. One goroutine may draw them, once. The owner closes it.
type Result struct {
	Layout *Layout
	Device backend.DeviceInfo

	groups *groupby.Result
	join   query.Stats
	joined string          // the plan of the join, with measured times
	rows   uint64          // joined rows
	sides  []groupby.Stats // nil if rows were joined
}

// Stats are measurements of a group-by of joined rows.
type Stats struct {
	// GroupBy counts as its rows the rows of the join, also if only their numbers are known. Its time includes that of
	// the join if rows were grouped where they were joined, and otherwise begins with the first rows of the join.
	GroupBy groupby.Stats `json:"group_by"`
	Join    query.Stats   `json:"join"` // of groups of both sides, if these were joined instead of rows
	// Sides are the measurements of grouping both sides by the keys of the join; nil if rows were joined.
	Sides []groupby.Stats `json:"sides,omitempty"`
}

// Rows returns the number of output rows.
func (r *Result) Rows() uint64 { return r.groups.Rows() }

// Counted reports whether Rows is the number of all output rows; see [groupby.Result.Counted].
func (r *Result) Counted() bool { return r.groups.Counted() }

// Schema returns the schema of the record batches.
func (r *Result) Schema() *arrow.Schema { return r.Layout.Groups.Schema }

// Stats returns the measurements so far.
func (r *Result) Stats() Stats {
	s := Stats{GroupBy: r.groups.Stats(), Join: r.join, Sides: r.sides}
	s.GroupBy.Rows = r.rows
	return s
}

// Batches yields the groups as record batches of at most BatchRows rows; see [groupby.Result.Batches].
func (r *Result) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for batch, err := range r.groups.Batches(ctx) {
			if err != nil {
				yield(nil, r.Layout.explain(err))
				return
			}
			named, err := r.finish(batch)
			if !yield(named, err) || err != nil {
				return
			}
		}
	}
}

// finish makes a batch of the output, and releases the one that it is made of.
func (r *Result) finish(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	defer batch.Release()
	if r.Layout.byKey == nil {
		return array.NewRecordBatch(r.Schema(), batch.Columns(), batch.NumRows()), nil
	}
	columns, err := r.Layout.byKey.finish(r.Layout.Groups, batch)
	if err != nil {
		return nil, err
	}
	defer func() { relation.ReleaseAll(columns) }()
	return array.NewRecordBatch(r.Schema(), columns, batch.NumRows()), nil
}

// Explain returns the text of what was done.
func (r *Result) Explain() string {
	var b strings.Builder
	for side, s := range r.sides {
		fmt.Fprintf(&b, "group %s side by %s: %d rows, %d groups, %.3f s\n", relation.Side(side),
			strings.Join(r.Layout.byKey.sides[side].Spec.By, ", "), s.Rows, s.Groups, s.GroupSeconds)
	}
	b.WriteString(visible(r.joined))
	b.WriteString(r.groups.Explain())
	return b.String()
}

// visible leaves out what no name of a user begins with.
func visible(plan string) string { return strings.ReplaceAll(plan, "\x00", "") }

// Close releases the memory of the result. Nothing can be drawn afterwards; a second Close does nothing.
func (r *Result) Close() { r.groups.Close() }

// planRows plans the join of rows that are grouped, and says where that is.
func (e *Engine) planRows(ctx context.Context, l *Layout, left, right arrow.Table) (plan *engine.Plan, where string,
	err error) {
	on := e.Join.Leaving(groupShare)
	if windows := e.windows(l); windows != nil {
		plan, err = on.PlanLayout(ctx, l.Join, left, right, e.behind().Consumer(windows))
		if !e.otherwise(err) {
			return plan, " on the device", err
		}
	}
	plan, err = on.PlanLayout(ctx, l.Join, left, right, nil)
	return plan, "", err
}

// plansRows reports whether rows are joined although the groups of both sides could be.
func (e *Engine) plansRows(ctx context.Context, l *Layout, left, right arrow.Table) bool {
	most := e.fewRows(l, [2]source.Source{source.FromTable(left), source.FromTable(right)})
	if most == 0 {
		return false
	}
	plan, err := e.Join.Leaving(groupShare).PlanLayout(ctx, l.Join, left, right, e.behind().Consumer(l.windows))
	return err == nil && !expectsMore(plan, most)
}

// Explain plans a join and a group-by of its rows without running them, and returns the text of the plan. Errors: as
// for the join and the group-by, as far as they are known before these run.
func (e *Engine) Explain(ctx context.Context, l *Layout, left, right arrow.Table) (string, error) {
	var b strings.Builder
	if l.byKey != nil && e.plansRows(ctx, l, left, right) {
		l = l.ofRows()
	}
	if l.byKey == nil {
		plan, where, err := e.planRows(ctx, l, left, right)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s\ngroup the rows of the join%s ", visible(plan.String()), where)
	} else {
		b.WriteString("no rows are joined: both sides are grouped by the keys of the join, and their groups are joined\n")
		var none [2]arrow.Table
		for side, table := range [2]arrow.Table{left, right} {
			plan, err := e.Groups.Plan(ctx, l.byKey.sides[side], table)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "\n%s side: %s", relation.Side(side), visible(plan.String()))
			none[side] = array.NewTableFromRecords(l.byKey.sides[side].Schema, nil)
			defer none[side].Release()
		}
		// An algorithm that is forced may not join the groups. They are not known before they are made.
		if _, err := e.Join.PlanLayout(ctx, l.byKey.join, none[0], none[1], nil); err != nil {
			return "", err
		}
		b.WriteString("\ngroup the joined groups ")
	}
	b.WriteString(l.Groups.String())
	return b.String(), nil
}
