package join

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/relation"
)

// Schema is the schema of the record batches.
func (r *Result) Schema() *arrow.Schema { return r.Plan.Layout.Schema }

// Batches yields the output as record batches of at most Spec.BatchRows rows; for a join that was asked for Rows. The
// order of rows is not specified. A batch is the receiver's, who releases it. After an error nothing follows. A join
// without matches yields nothing.
func (r *Result) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if err := r.checkDraw(Rows); err != nil {
			yield(nil, err)
			return
		}
		for p, err := range r.pieces(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			more := r.materialize(ctx, p, yield)
			p.Release()
			if !more {
				return
			}
		}
	}
}

// materialize puts a piece together and yields it. A piece with more bytes of text than one array can hold is halved.
func (r *Result) materialize(ctx context.Context, p *piece, yield func(arrow.RecordBatch, error) bool) bool {
	columns := make([]arrow.Array, len(p.columns))
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, c := range r.Plan.Layout.Columns {
		if p.columns[i] != nil {
			p.columns[i].Retain()
			columns[i] = p.columns[i]
			continue
		}
		ids := p.pairs.Left
		if c.Side == relation.Right {
			ids = p.pairs.Right
		}
		var err error
		start := time.Now()
		columns[i], err = relation.Take(ctx, r.Plan.column(c), ids, r.Plan.engine.Allocator)
		r.deliver.Add(int64(time.Since(start)))
		if errors.Is(err, relation.ErrBatchTooLarge) && p.rows > 1 {
			half := p.rows / 2
			return r.materializePart(ctx, p, 0, half, yield) && r.materializePart(ctx, p, half, p.rows, yield)
		}
		if err != nil {
			return yield(nil, err) && false
		}
	}
	return yield(array.NewRecordBatch(r.Schema(), columns, int64(p.rows)), nil)
}

func (r *Result) materializePart(
	ctx context.Context, p *piece, from, to uint32, yield func(arrow.RecordBatch, error) bool,
) bool {
	part := &piece{rows: to - from, columns: make([]arrow.Array, len(p.columns))}
	if p.pairs.Left != nil {
		part.pairs.Left = p.pairs.Left[from:to]
	}
	if p.pairs.Right != nil {
		part.pairs.Right = p.pairs.Right[from:to]
	}
	for i, c := range p.columns {
		if c != nil {
			part.columns[i] = array.NewSlice(c, int64(from), int64(to))
		}
	}
	defer part.Release()
	return r.materialize(ctx, part, yield)
}
