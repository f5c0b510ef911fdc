package core

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func countTo(n int, drawn *atomic.Int64) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			drawn.Add(1)
			if !yield(i, nil) {
				return
			}
		}
	}
}

func TestInOrderKeepsTheOrder(t *testing.T) {
	var drawn, running, most, discarded atomic.Int64
	slowFirst := func(_ context.Context, job int) (int, error) {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		if job%5 == 0 {
			time.Sleep(time.Millisecond)
		}
		return 2 * job, nil
	}
	next := 0
	for result, err := range InOrder(t.Context(), 3, countTo(100, &drawn), slowFirst, func(int) { discarded.Add(1) }) {
		require.NoError(t, err)
		require.Equal(t, 2*next, result)
		next++
	}
	require.Equal(t, 100, next)
	require.Zero(t, discarded.Load())
	require.LessOrEqual(t, most.Load(), int64(5))
	require.Greater(t, most.Load(), int64(1))
}

// The consumer that leaves stops the jobs and gets the rest discarded.
func TestInOrderStopsWithTheConsumer(t *testing.T) {
	before := runtime.NumGoroutine()
	var drawn, made, discarded atomic.Int64
	work := func(_ context.Context, job int) (int, error) { made.Add(1); return job, nil }
	for result := range InOrder(t.Context(), 4, countTo(1_000_000, &drawn), work, func(int) { discarded.Add(1) }) {
		if result == 9 {
			break
		}
	}
	require.Less(t, drawn.Load(), int64(30))
	require.Equal(t, made.Load(), discarded.Load()+10)
	for i := 0; i < 1000 && runtime.NumGoroutine() > before; i++ { // none runs, but the last may not have gone yet
		time.Sleep(time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

func TestInOrderReportsTheFirstError(t *testing.T) {
	var drawn atomic.Int64
	early, late := errors.New("early"), errors.New("late")
	failing := func(_ context.Context, job int) (int, error) {
		switch job {
		case 5:
			time.Sleep(5 * time.Millisecond)
			return 0, early
		case 6:
			return 0, late
		case 7:
			panic("never seen")
		}
		return job, nil
	}
	collect := func(ctx context.Context, jobs iter.Seq2[int, error]) (results []int, err error) {
		for result, err := range InOrder(ctx, 8, jobs, failing, func(int) {}) {
			if err != nil {
				return results, err
			}
			results = append(results, result)
		}
		return results, nil
	}
	results, err := collect(t.Context(), countTo(20, &drawn))
	require.ErrorIs(t, err, early)
	require.Equal(t, []int{0, 1, 2, 3, 4}, results)

	cause := errors.New("no more jobs")
	results, err = collect(t.Context(), func(yield func(int, error) bool) { _ = yield(1, nil) && yield(0, cause) })
	require.ErrorIs(t, err, cause)
	require.Equal(t, []int{1}, results)

	_, err = collect(t.Context(), func(func(int, error) bool) { panic("drawing") })
	require.Error(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = collect(ctx, countTo(1_000_000, &drawn))
	require.ErrorIs(t, err, context.Canceled)
}
