package exec

import (
	"context"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Releaser is what holds memory until it is released.
type Releaser interface{ Release() }

// Pipe is the bounded queue between goroutines of a flow. It owns what it holds: a value belongs to the pipe from Put
// to Take, and what nobody takes is released when the pipe is abandoned, or with the flow. Safe for concurrent use;
// values are taken in the order in which they were put.
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

// NewPipe returns a pipe of a flow in which up to capacity values wait. With 0, Put returns when the value is taken.
func NewPipe[T Releaser](flow *Flow, capacity int) *Pipe[T] {
	p := &Pipe[T]{capacity: capacity, changed: make(chan struct{})}
	flow.mu.Lock()
	defer flow.mu.Unlock()
	flow.atEnd = append(flow.atEnd, p.Abandon)
	return p
}

// Put hands v over, also where it fails, and waits while the pipe is full. ErrCancelled or ErrTimedOut when ctx ends
// and ErrCancelled when the pipe is abandoned; v was released then.
func (p *Pipe[T]) Put(ctx context.Context, v T) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended && !p.abandoned {
		v.Release()
		return &backend.OpError{Op: "put", Err: backend.ErrInvalidInput, Detail: "the pipe has ended"}
	}
	s := &slot[T]{value: v}
	p.queue = append(p.queue, s)
	p.change()
	for {
		at := slices.Index(p.queue, s) // -1 when it is gone
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
		p.wait(ctx)
	}
}

// Take returns the next value, which is the caller's then. ok is false once the pipe has ended and is empty. The errors
// are those of Put.
func (p *Pipe[T]) Take(ctx context.Context) (v T, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.ended && !p.abandoned && len(p.queue) == 0:
			return v, false, nil
		case p.abandoned || ctx.Err() != nil:
			return v, false, stopped(ctx)
		case len(p.queue) > 0:
			s := p.queue[0]
			s.taken = true
			p.queue = slices.Delete(p.queue, 0, 1)
			p.change()
			return s.value, true, nil
		}
		p.wait(ctx)
	}
}

// End says that nothing more is put. It may be called again.
func (p *Pipe[T]) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.change()
}

// Abandon says that nothing more is taken, and releases what is there and what is still put. It may be called again.
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

// change wakes those who wait.
func (p *Pipe[T]) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// wait waits, with the lock given up, until something changes or ctx ends.
func (p *Pipe[T]) wait(ctx context.Context) {
	changed := p.changed
	p.mu.Unlock()
	defer p.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// stopped is the error of a pipe that was abandoned, or whose user is.
func stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return backend.ContextError(ctx)
	}
	return &backend.OpError{Op: "pipe", Err: backend.ErrCancelled, Detail: "abandoned"}
}
