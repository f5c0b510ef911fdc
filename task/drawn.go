package task

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/query"
)

// drawn is output on its way to the receiver.
type drawn struct {
	batch arrow.RecordBatch // nil for pairs
	pairs query.Pairs
}

// Release releases the batch.
func (d *drawn) Release() {
	if d.batch != nil {
		d.batch.Release()
	}
}

// passAll puts output into the pipe of the receiver.
func passAll[T any](ctx context.Context, to *exec.Pipe[*drawn], all iter.Seq2[T, error], as func(T) *drawn) (
	delivered bool, err error) {
	for output, err := range all {
		if err == nil {
			delivered, err = true, to.Put(ctx, as(output))
		}
		if err != nil {
			return delivered, err
		}
	}
	return delivered, nil
}

// drawAs yields one form of the output of all tasks.
func drawAs[T any](ctx context.Context, s *Lines, form func(*drawn) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for d, err := range s.out.All(ctx) {
			if err != nil {
				yield(*new(T), err)
			} else if !yield(form(d), nil) {
				return
			}
		}
	}
}

// batches yields the batches of all tasks in any order.
func (s *Lines) batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return drawAs(ctx, s, func(d *drawn) arrow.RecordBatch { return d.batch })
}

// pairs yields the pairs of row numbers of all tasks.
func (s *Lines) pairs(ctx context.Context) iter.Seq2[query.Pairs, error] {
	return drawAs(ctx, s, func(d *drawn) query.Pairs { return d.pairs })
}
