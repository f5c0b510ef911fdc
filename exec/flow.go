package exec

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Flow is a group of goroutines that end together: the first error, or panic, of one cancels the others, and Wait
// returns when all have ended.
type Flow struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	parent  *Flow // the flow around this one; nil for the outermost
	running sync.WaitGroup

	mu      sync.Mutex // guards what follows
	err     error
	atEnd   []func()
	claimed bool // the flow has a grant or waits for one
	open    bool // the flow has an open grant
}

// flowKey is the key of the innermost flow in a context.
type flowKey struct{}

// NewFlow returns a flow without goroutines, which is cancelled with ctx. The caller must call Wait or Stop.
func NewFlow(ctx context.Context) *Flow {
	f := &Flow{parent: flowOf(ctx)}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	f.ctx = context.WithValue(f.ctx, flowKey{}, f)
	return f
}

// flowOf returns the innermost flow of a context, or nil.
func flowOf(ctx context.Context) *Flow {
	f, _ := ctx.Value(flowKey{}).(*Flow)
	return f
}

// Context returns a context that is done after the first error, which is its cause, and after Wait.
func (f *Flow) Context() context.Context { return f.ctx }

// Go starts a goroutine with the context of the flow. Goroutines of the flow may start others. name identifies it in a
// PanicError.
func (f *Flow) Go(name string, run func(context.Context) error) {
	f.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				f.fail(&PanicError{name, p, debug.Stack()})
			}
		}()
		if err := run(f.ctx); err != nil {
			f.fail(err)
		}
	})
}

func (f *Flow) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
		f.cancel(err)
	}
}

// Wait waits until all goroutines have ended, releases what is left in the pipes of the flow, and returns the first
// error. It may be called again.
func (f *Flow) Wait() error {
	f.running.Wait()
	f.cancel(nil)
	f.mu.Lock()
	atEnd, err := f.atEnd, f.err
	f.atEnd = nil
	f.mu.Unlock()
	for _, end := range atEnd {
		end()
	}
	return err
}

// Stop cancels the goroutines and waits for them, for a consumer that needs nothing more from them.
func (f *Flow) Stop() {
	f.cancel(nil)
	_ = f.Wait() // after a stop, an error is expected
}

// claim reserves the only grant that the flow may have. ErrInvalidInput if the flow, or one around it, has one already.
func (f *Flow) claim() error {
	if f == nil {
		return nil
	}
	for outer := f; outer != nil; outer = outer.parent {
		outer.mu.Lock()
		claimed := outer.claimed
		if outer == f {
			outer.claimed = true
		}
		outer.mu.Unlock()
		if !claimed {
			continue
		}
		if outer != f {
			f.unclaim()
		}
		detail := "the flow has a grant already, which can only grow"
		return &backend.OpError{Op: "acquire", Err: backend.ErrInvalidInput, Detail: detail}
	}
	return nil
}

func (f *Flow) unclaim() {
	if f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.claimed = false
	}
}

// hasOpen reports whether the flow, or one around it, has an open grant.
func (f *Flow) hasOpen() bool {
	for ; f != nil; f = f.parent {
		f.mu.Lock()
		open := f.open
		f.mu.Unlock()
		if open {
			return true
		}
	}
	return false
}

func (f *Flow) setOpen(open bool) {
	if f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.open = open
	}
}

// PanicError is the error of a flow in which a goroutine panicked: its name, the value of the panic and its stack.
type PanicError struct {
	Goroutine string
	Value     any
	Stack     []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("%s: panic: %v", e.Goroutine, e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
