package tableio

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestInOrder(t *testing.T) {
	const items, window = 200, 5
	var sums [items]atomic.Int64
	var unfinished, most atomic.Int64
	p := newInOrder(t.Context(), window)
	next := 0
	for i := range items {
		parts := i % 4
		require.NoError(t, p.add(parts, func(_ context.Context, part int) error {
			time.Sleep(time.Duration(rand.IntN(50)) * time.Microsecond)
			sums[i].Add(int64(part) + 1)
			return nil
		}, func() error {
			require.Equal(t, next, i)
			require.Equal(t, int64(parts*(parts+1)/2), sums[i].Load(), "all parts are done, once")
			next++
			unfinished.Add(-1)
			return nil
		}, func() { t.Error("dropped") }))
		most.Store(max(most.Load(), unfinished.Add(1)))
	}
	require.NoError(t, p.close())
	require.Equal(t, items, next)
	require.LessOrEqual(t, most.Load(), int64(window)+1, "one may be on its way out of finish")
}

// Whatever fails first in time, the error is that of the first item that fails.
func TestInOrderTakesTheFirstError(t *testing.T) {
	early, late := errors.New("early"), errors.New("late")
	for _, where := range []string{"part", "finish", "panic"} {
		p := newInOrder(t.Context(), 8)
		lateFailed := make(chan struct{})
		finished, dropped := 0, atomic.Int64{}
		err := error(nil)
		for i := range 6 {
			err = p.add(1, func(context.Context, int) error {
				switch {
				case i == 4:
					defer close(lateFailed)
					return late
				case i == 2 && runtime.GOMAXPROCS(0) > 1:
					<-lateFailed
				}
				if i == 2 && where == "panic" {
					panic(early)
				}
				if i == 2 && where == "part" {
					return early
				}
				return nil
			}, func() error {
				if finished++; i == 2 && where == "finish" {
					return early
				}
				return nil
			}, func() { dropped.Add(1) })
			if err != nil {
				require.ErrorIs(t, err, early)
			}
		}
		require.ErrorIs(t, p.close(), early, where)
		require.LessOrEqual(t, finished, 3)
		require.Equal(t, 6, finished+int(dropped.Load()), "every item is finished or dropped")
	}
}

func TestInOrderEndsWithItsContext(t *testing.T) {
	for _, stop := range []func(p *inOrder, cancel func()){
		func(_ *inOrder, cancel func()) { cancel() }, func(p *inOrder, _ func()) { p.stop() },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		p := newInOrder(ctx, 2)
		var dropped atomic.Int64
		for i := range 100 {
			if i == 10 {
				stop(p, cancel)
			}
			part := func(ctx context.Context, _ int) error { return ctx.Err() }
			if err := p.add(3, part, func() error { return nil }, func() { dropped.Add(1) }); err != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
		}
		require.ErrorIs(t, p.close(), context.Canceled)
		require.GreaterOrEqual(t, dropped.Load(), int64(90))
		cancel()
	}
}
