package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Flow is a group of goroutines that end together: the first error, or panic, of one cancels the others, and Wait
// returns when all have ended.
type Flow struct {
	ctx     context.Context
	outer   context.Context // the caller's
	cancel  context.CancelCauseFunc
	parent  *Flow  // the flow around this one; nil for the outermost
	trace   *Trace // the context's; nil if it has none
	running sync.WaitGroup
	ending  sync.Mutex // held while what is in atEnd is called

	mu      sync.Mutex // guards what follows
	err     error
	atEnd   []func()
	ended   func() // called last; may be nil
	claimed bool   // the flow has a grant or waits for one
	open    bool   // the flow has an open grant
}

// flowKey is the key of the innermost flow in a context.
type flowKey struct{}

// NewFlow returns a flow without goroutines, which is cancelled with ctx. It records what they do in the trace of ctx
// ([WithTrace]). The caller must call Wait or Stop.
func NewFlow(ctx context.Context) *Flow {
	f := &Flow{outer: ctx, parent: FlowOf(ctx), trace: traceOf(ctx)}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	f.ctx = context.WithValue(f.ctx, flowKey{}, f)
	if f.trace != nil { // goroutines with this context have tracks of their own
		f.ctx = context.WithValue(f.ctx, trackKey{}, (*track)(nil))
	}
	return f
}

// FlowOf returns the innermost flow whose goroutine has the context; nil if there is none.
func FlowOf(ctx context.Context) *Flow {
	f, _ := ctx.Value(flowKey{}).(*Flow)
	return f
}

// Context returns a context that is done after the first error, which is its cause, and after Wait.
func (f *Flow) Context() context.Context { return f.ctx }

// Go starts a goroutine with the context of the flow. Goroutines of the flow may start others. name identifies it in a
// PanicError and in a trace.
func (f *Flow) Go(name string, run func(context.Context) error) {
	f.running.Go(func() {
		ctx := f.ctx
		if f.trace != nil {
			var end func()
			ctx, end = f.trace.track(ctx, name)
			defer end()
		}
		if err := Protect(name, func() error { return run(ctx) }); err != nil {
			f.Fail(err)
		}
	})
}

// Protect returns the error of run, or its panic as a PanicError with this name.
func Protect(name string, run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{name, p, debug.Stack()}
		}
	}()
	return run()
}

// Fail cancels the flow, whose error is err unless it has one. The error of an ended context, from a goroutine that does
// not know of this package, becomes ErrCancelled or ErrTimedOut if the caller's context has ended.
func (f *Flow) Fail(err error) {
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if ended && f.outer.Err() != nil && !errors.Is(err, backend.ErrCancelled) && !errors.Is(err, backend.ErrTimedOut) {
		err = backend.ContextError(f.outer)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
		f.cancel(err)
	}
}

// Wait waits until all goroutines have ended, releases what is left in the pipes of the flow, and returns the first
// error. It may be called again, also by several at a time: the first releases, and the others wait for it.
func (f *Flow) Wait() error {
	f.running.Wait()
	f.cancel(nil)
	f.ending.Lock()
	defer f.ending.Unlock()
	f.mu.Lock()
	atEnd, ended, err := f.atEnd, f.ended, f.err
	f.atEnd, f.ended = nil, nil
	f.mu.Unlock()
	for _, end := range atEnd {
		end()
	}
	if ended != nil {
		ended()
	}
	return err
}

// AtEnd has Wait call end, once, when all goroutines have ended. end must not wait for the flow.
func (f *Flow) AtEnd(end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.atEnd = append(f.atEnd, end)
}

// Stop cancels the goroutines and waits for them, for a consumer that needs nothing more from them.
func (f *Flow) Stop() {
	f.cancel(nil)
	_ = f.Wait() // after a stop, an error is expected
}

// End stops a flow that ends with err, and returns the error that counts: if the flow has failed before, err only follows
// from that.
func (f *Flow) End(err error) error {
	failed := f.ctx.Err() != nil
	f.Stop()
	if first := f.Wait(); failed && first != nil {
		return first
	}
	return err
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

// PanicError is the error of a flow, or of [Protect], where a goroutine panicked: its name, the value of the panic and
// its stack.
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
