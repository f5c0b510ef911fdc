package exec

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// TestFlow: the first error cancels the other goroutines, is the cause of their cancellation, and is returned by Wait.
func TestFlow(t *testing.T) {
	leak.Check(t)
	flow := NewFlow(context.Background())
	first := errors.New("first")
	var ended atomic.Int32
	for range 3 {
		flow.Go("waits", func(ctx context.Context) error {
			flow.Go("started inside", func(ctx context.Context) error {
				<-ctx.Done()
				ended.Add(1)
				return nil
			})
			<-ctx.Done()
			ended.Add(1)
			return backend.ContextError(ctx)
		})
	}
	flow.Go("fails", func(context.Context) error { return first })
	require.Equal(t, first, flow.Wait())
	require.EqualValues(t, 6, ended.Load(), "Wait outlives all")
	require.Equal(t, first, context.Cause(flow.Context()))
	require.Equal(t, first, flow.Wait())
}

// TestFlowOfEndedContext: what goroutines say of an ended context, as those that know only of contexts do, becomes what
// the caller's context says, and other errors stay.
func TestFlowOfEndedContext(t *testing.T) {
	timed, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	other := errors.New("other")
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want error
	}{
		{timed, context.DeadlineExceeded, backend.ErrTimedOut},
		{timed, context.Canceled, backend.ErrTimedOut},
		{timed, other, other},
		{cancelled, context.Canceled, backend.ErrCancelled},
		{cancelled, context.DeadlineExceeded, backend.ErrCancelled},
		{context.Background(), context.DeadlineExceeded, context.DeadlineExceeded}, // of the source's own
	} {
		flow := NewFlow(c.ctx)
		flow.Go("reads", func(context.Context) error { return c.err })
		err := flow.Wait()
		require.ErrorIs(t, err, c.want)
		for _, sentinel := range []error{backend.ErrTimedOut, backend.ErrCancelled} {
			require.Equal(t, sentinel == c.want, errors.Is(err, sentinel), "%v", err)
		}
	}
}

func TestFlowPanic(t *testing.T) {
	leak.Check(t)
	flow := NewFlow(context.Background())
	flow.Go("waits", func(ctx context.Context) error { <-ctx.Done(); return nil })
	flow.Go("divides", func(context.Context) error { panic(backend.ErrLimit) })
	err := flow.Wait()
	require.ErrorIs(t, err, backend.ErrLimit)
	require.EqualError(t, err, "divides: panic: limit exceeded")
	var p *PanicError
	require.ErrorAs(t, err, &p)
	require.Contains(t, string(p.Stack), "TestFlowPanic")
}

func TestFlowEnds(t *testing.T) {
	leak.Check(t)
	flow := NewFlow(context.Background())
	flow.Go("succeeds", func(context.Context) error { return nil })
	require.NoError(t, flow.Wait())

	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	flow = NewFlow(ctx)
	flow.Go("waits", func(ctx context.Context) error { <-ctx.Done(); return backend.ContextError(ctx) })
	cancel(cause)
	err := flow.Wait()
	require.ErrorIs(t, err, backend.ErrCancelled)
	require.ErrorIs(t, err, cause)

	flow = NewFlow(context.Background())
	flow.Go("waits", func(ctx context.Context) error { <-ctx.Done(); return nil })
	flow.Stop()
}

// TestWaitsTogether: a Wait that does not release what the flow holds returns only when the other one has.
func TestWaitsTogether(t *testing.T) {
	leak.Check(t)
	flow := NewFlow(context.Background())
	releases, release := make(chan struct{}), make(chan struct{})
	released := false
	flow.AtEnd(func() {
		close(releases)
		<-release
		released = true
	})
	first := make(chan error)
	go func() { first <- flow.Wait() }()
	<-releases
	time.AfterFunc(10*time.Millisecond, func() { close(release) })
	require.NoError(t, flow.Wait())
	require.True(t, released)
	require.NoError(t, <-first)
}
