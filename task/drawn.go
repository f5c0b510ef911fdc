package task

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
)

// drawn is output on its way to the receiver.
type drawn struct {
	batch arrow.RecordBatch // nil for pairs
	pairs query.Pairs
	done  chan struct{} // closed when the receiver asks for more
}

// Release releases the batch.
func (d *drawn) Release() {
	if d.batch != nil {
		d.batch.Release()
	}
}

// pass passes the output of a task on. delivered says that the receiver may have some of it.
func (s *Scheduler) pass(ctx context.Context, r *running) (delivered bool, err error) {
	switch {
	case s.part.Undelivered():
		return false, nil
	case s.part.Output == join.Pairs:
		return passAll(ctx, s, r.output.Pairs(ctx), func(p query.Pairs) *drawn { return &drawn{pairs: p} })
	}
	return passAll(ctx, s, r.output.Batches(ctx), func(b arrow.RecordBatch) *drawn { return &drawn{batch: b} })
}

// passAll puts output into the pipe of the receiver. In order, the task makes no batch before the receiver is done with
// the one before, as if the receiver drew it itself.
func passAll[T any](ctx context.Context, s *Scheduler, all iter.Seq2[T, error], as func(T) *drawn) (
	delivered bool, err error) {
	for output, err := range all {
		if err != nil {
			return delivered, err
		}
		d := as(output)
		d.done, delivered = make(chan struct{}), true
		if err := s.out.Put(ctx, d); err != nil {
			return delivered, err
		}
		if s.inOrder {
			select {
			case <-d.done:
			case <-ctx.Done():
				return delivered, backend.ContextError(ctx)
			}
		}
	}
	return delivered, nil
}

// drawAs yields one form of the output of all tasks.
func drawAs[T any](ctx context.Context, s *Scheduler, form func(*drawn) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for d, err := range s.out.All(ctx) {
			if err != nil {
				yield(*new(T), err)
				return
			}
			if !yield(form(d), nil) {
				return
			}
			close(d.done)
		}
	}
}
