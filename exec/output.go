package exec

import (
	"context"
	"fmt"
	"iter"

	"github.com/spirjoin/spirjoin/backend"
)

// Output is a pipe whose values one receiver draws, once, while goroutines of a flow make the next ones. The flow
// belongs to it. Not safe for concurrent use, except for the pipe.
type Output[T Releaser] struct {
	*Pipe[T]

	flow          *Flow
	first         T
	some          bool // first was taken from the pipe before the output is drawn
	drawn, closed bool
}

// NewOutput returns an output of values that a flow makes.
func NewOutput[T Releaser](flow *Flow) *Output[T] {
	return &Output[T]{Pipe: NewPipe[T](flow, 0), flow: flow}
}

// Begin waits for the first value, and reports whether there is one.
func (o *Output[T]) Begin() bool {
	o.first, o.some, _ = o.Take(o.flow.Context())
	return o.some
}

// All yields the values, which the receiver releases, and then the error of the flow, if there is one. The flow ends
// with the iteration.
//
// Errors: backend.ErrInvalidInput if the output was drawn or closed before; backend.ErrCancelled.
func (o *Output[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		switch {
		case o.closed:
			yield(none, fmt.Errorf("%w: the result of the join was closed", backend.ErrInvalidInput))
			return
		case o.drawn:
			yield(none, fmt.Errorf("%w: the output of the join was drawn already", backend.ErrInvalidInput))
			return
		}
		o.drawn = true
		defer context.AfterFunc(ctx, o.Abandon)()
		defer o.flow.Stop()
		for v, some := o.next(ctx); some; v, some = o.next(ctx) {
			if !yield(v, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(none, backend.ContextError(ctx))
		} else if err := o.flow.Wait(); err != nil {
			yield(none, err)
		}
	}
}

// next returns the next value. ctx has the track of the goroutine.
func (o *Output[T]) next(ctx context.Context) (v T, some bool) {
	defer BeginWait(ctx, "wait for rows").End()
	if o.some {
		o.some = false
		return o.first, true
	}
	v, some, _ = o.Take(o.flow.Context())
	return v, some
}

// Close ends the flow and releases what was not drawn. It reports whether the output was open.
func (o *Output[T]) Close() (open bool) {
	if o.closed {
		return false
	}
	if o.closed = true; o.some {
		o.some = false
		o.first.Release()
	}
	o.flow.Stop()
	return true
}
