package exec

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Releaser is a value that holds memory until it is released.
type Releaser interface{ Release() }

// Pipe is a bounded queue between goroutines of a flow. It owns its values from Put to Take, and releases those that
// are not taken when the pipe is abandoned or the flow ends. Values are taken in the order in which they were put. Safe
// for concurrent use.
type Pipe[T Releaser] struct {
	capacity int

	mu        sync.Mutex // guards what follows
	queue     []*slot[T]
	ended     bool
	abandoned bool
	changed   chan struct{} // closed at the next change
}

// slot is a value in the pipe.
type slot[T Releaser] struct {
	value T
	taken bool
}

// NewPipe returns a pipe of a flow that holds up to capacity values. With capacity 0, Put returns when the value has
// been taken.
func NewPipe[T Releaser](flow *Flow, capacity int) *Pipe[T] {
	p := &Pipe[T]{capacity: capacity, changed: make(chan struct{})}
	flow.AtEnd(p.Abandon)
	return p
}

// Put passes ownership of v to the pipe, even if it fails, and waits while the pipe is full. Errors: ErrCancelled or
// ErrTimedOut when ctx ends, ErrCancelled when the pipe is abandoned; v has been released in both cases.
func (p *Pipe[T]) Put(ctx context.Context, v T) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended && !p.abandoned {
		v.Release()
		return &backend.OpError{Op: "put", Err: backend.ErrInvalidInput, Detail: "the pipe has ended"}
	}
	s, waits := &slot[T]{value: v}, (*Span)(nil)
	defer func() { waits.End() }()
	p.queue = append(p.queue, s)
	p.change()
	for {
		at := slices.Index(p.queue, s) // -1 if it was taken or released
		switch {
		case s.taken:
			return nil
		case p.abandoned || ctx.Err() != nil:
			if at >= 0 {
				p.queue = slices.Delete(p.queue, at, at+1)
				v.Release()
				p.change()
			}
			return stopped(ctx)
		case at < p.capacity:
			return nil
		}
		if waits == nil {
			waits = BeginWait(ctx, "wait for a taker")
		}
		p.wait(ctx)
	}
}

// Take returns the next value, which the caller then owns. ok is false once the pipe has ended and is empty. Errors: as
// for Put.
func (p *Pipe[T]) Take(ctx context.Context) (v T, ok bool, err error) {
	var waits *Span
	defer func() { waits.End() }()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		v, ok, ready, err := p.poll(ctx)
		if ready {
			return v, ok, err
		}
		if waits == nil {
			waits = BeginWait(ctx, "wait for a value")
		}
		p.wait(ctx)
	}
}

// Each takes all values and passes each to do, which then owns it. It stops at the first error, of do or as for Put.
func (p *Pipe[T]) Each(ctx context.Context, do func(T) error) error {
	for {
		v, ok, err := p.Take(ctx)
		if err != nil || !ok {
			return err
		}
		if err := do(v); err != nil {
			return err
		}
	}
}

// PassOn has a goroutine of a flow make a value of each one of a pipe, which do owns, and put it in another pipe, which
// ends after the last one.
func PassOn[A, B Releaser](flow *Flow, name string, from *Pipe[A], to *Pipe[B],
	do func(context.Context, A) (B, error)) {
	flow.Go(name, func(ctx context.Context) error {
		defer to.End()
		return from.Each(ctx, func(a A) error {
			b, err := do(ctx, a)
			if err != nil {
				return err
			}
			return to.Put(ctx, b)
		})
	})
}

// TakeAny is Take for the first of the pipes that has a value or has ended, and waits until there is one. of is its
// index.
func TakeAny[T Releaser](ctx context.Context, pipes [2]*Pipe[T]) (v T, of int, ok bool, err error) {
	for {
		var changed [2]chan struct{}
		for i, p := range pipes {
			p.mu.Lock()
			v, ok, ready, err := p.poll(ctx)
			changed[i] = p.changed
			p.mu.Unlock()
			if ready {
				return v, i, ok, err
			}
		}
		select {
		case <-changed[0]:
		case <-changed[1]:
		case <-ctx.Done():
		}
	}
}

// poll is Take without waiting: ready is false where it would wait. The caller holds the lock.
func (p *Pipe[T]) poll(ctx context.Context) (v T, ok, ready bool, err error) {
	switch {
	case p.ended && !p.abandoned && len(p.queue) == 0:
		return v, false, true, nil
	case p.abandoned || ctx.Err() != nil:
		return v, false, true, stopped(ctx)
	case len(p.queue) > 0:
		s := p.queue[0]
		s.taken = true
		p.queue = slices.Delete(p.queue, 0, 1)
		p.change()
		return s.value, true, true, nil
	}
	return v, false, false, nil
}

// End says that no more values will be put. It may be called again.
func (p *Pipe[T]) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.change()
}

// Abandon says that no more values will be taken. It releases those in the pipe; those that are put later are released
// too. It may be called again.
func (p *Pipe[T]) Abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.abandoned = true
	for _, s := range p.queue {
		s.value.Release()
	}
	p.queue = nil
	p.change()
}

// Ahead yields the values of a sequence, which a goroutine of the flow draws, with its context, one step ahead of the
// receiver. The receiver releases the values that it gets; those that it does not get are released. The goroutine has
// ended when the iteration has.
func Ahead[T Releaser](flow *Flow, name string, values func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		pipe, ended := NewPipe[T](flow, 0), make(chan struct{})
		flow.Go(name, func(ctx context.Context) error {
			defer close(ended)
			for v, err := range values(ctx) {
				if err != nil {
					return err
				}
				if pipe.Put(ctx, v) != nil { // the receiver, or the flow, has ended
					return nil
				}
			}
			pipe.End()
			return nil
		})
		defer func() {
			pipe.Abandon()
			<-ended
		}()
		for {
			v, some, err := pipe.Take(flow.Context())
			if err == nil && !some {
				return
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// change wakes all waiting goroutines. The caller holds the lock.
func (p *Pipe[T]) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// wait releases the lock, waits until something changes or ctx ends, and takes the lock again.
func (p *Pipe[T]) wait(ctx context.Context) {
	changed := p.changed
	p.mu.Unlock()
	defer p.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// stopped is the error of a call whose ctx has ended, or whose pipe was abandoned.
func stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return backend.ContextError(ctx)
	}
	return &backend.OpError{Op: "pipe", Err: backend.ErrCancelled, Detail: "abandoned"}
}
