package task

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
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

// draw yields the output of all tasks. The join ends with the iteration.
func (s *Lines) draw(ctx context.Context) iter.Seq2[*drawn, error] {
	return func(yield func(*drawn, error) bool) {
		switch {
		case s.closed:
			yield(nil, fmt.Errorf("%w: the result of the join was closed", backend.ErrInvalidInput))
			return
		case s.drawn:
			yield(nil, fmt.Errorf("%w: the output of the join was drawn already", backend.ErrInvalidInput))
			return
		}
		s.drawn = true
		defer context.AfterFunc(ctx, s.out.Abandon)()
		defer s.flow.Stop()
		for d := s.take(); d != nil; d = s.take() {
			if !yield(d, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(nil, backend.ContextError(ctx))
		} else if err := s.flow.Wait(); err != nil {
			yield(nil, err)
		}
	}
}

// take returns what was delivered next; nil if there is nothing more.
func (s *Lines) take() (d *drawn) {
	if d, s.first = s.first, nil; d == nil {
		d, _, _ = s.out.Take(s.flow.Context())
	}
	return d
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
		for d, err := range s.draw(ctx) {
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
