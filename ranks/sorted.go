package ranks

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exchange/shuffle"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
)

// A join whose rows meet on the owners of their keys has its output anywhere. If the output is to have the order of a
// side, rows bring their numbers along, and the output moves once more: to the rank whose share has the row of that
// side, or to the last rank if there is no such row. Each rank then sorts what it has got by both numbers.
//
//	left join in the order of the left side, shares of 3 left rows
//	rank 0 joined rows 4 0 2, rank 1 rows 3 1 5    ─►    rank 0: 0 1 2, rank 1: 3 4 5

// sorted is the output on its way to its order.
type sorted struct {
	side  *shuffle.Side
	merge *task.Merge
	disk  *exec.Grant
	file  *exchange.File // nil: in memory
}

// sort has the output of the local join move to its ranks. numbered is the layout of that join.
func (r *run) sort(o shuffle.Options, numbered *join.Layout) (err error) {
	of, _ := r.ordered()
	s := &sorted{merge: task.NewMerge(&r.Joins.Means, r.layout, numbered, r.layout.Form()),
		disk: r.Joins.Budget().Empty()}
	r.sorted, s.merge.Fail = s, r.flow.Fail
	if r.Joins.Divisible() {
		if s.file, err = exchange.NewFile(r.Joins.TempDir, s.disk); err != nil {
			return err
		}
		s.merge.File = s.file
	}
	// Number columns have one name: columns are named by their places on the way.
	fields := make([]arrow.Field, numbered.Schema.NumFields())
	divider := &exchange.Divider{Parts: r.job.Size(), Bounds: r.bounds(of)}
	for i, field := range numbered.Schema.Fields() {
		fields[i] = field
		fields[i].Name = fmt.Sprint(i)
		if c := numbered.Columns[i]; c.Source == join.NumberColumn && c.Role == join.ValueColumn && c.Side == of {
			divider.Column = i
		}
	}
	o.Stream, o.Side, o.Number, o.Witness, o.Copies = r.job.Open("join output"), of, -1, false, nil
	o.Schema, o.Divider = arrow.NewSchema(fields, nil), divider
	s.side = shuffle.Start(r.flow, source.Source{Schema: o.Schema, Rows: -1,
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] { return r.joined(ctx, o.Schema) }}, o)
	return nil
}

// bounds are the numbers of the first rows of all ranks but the first.
func (r *run) bounds(of relation.Side) (bounds []int64) {
	first := int64(0)
	for rank := range r.job.Size() - 1 {
		if first += r.all[rank].Rows[of]; !r.tables() {
			first = int64(rank+2) * relation.RankRows
		}
		bounds = append(bounds, first)
	}
	return bounds
}

// joined yields the output of the local join with other names. Then no more rows of the sides are needed.
func (r *Result) joined(ctx context.Context, schema *arrow.Schema) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for batch, err := range r.Result.Batches(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			named := array.NewRecordBatch(schema, batch.Columns(), batch.NumRows())
			batch.Release()
			if !yield(named, nil) {
				return
			}
		}
		r.discard()
	}
}

// batches yields this rank's part of the output in its order.
func (s *sorted) batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return s.merge.Batches(ctx, s.side.Source(-1).Batches(ctx))
}

func (s *sorted) close() {
	s.merge.Close()
	if s.file != nil {
		_ = s.file.Close()
	}
	s.disk.Release()
}
