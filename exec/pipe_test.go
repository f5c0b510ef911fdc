package exec

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/leak"
)

// value is counted in live until it is released, and panics if it is released twice.
type value struct {
	n        int
	live     *atomic.Int32
	released atomic.Bool
}

func (v *value) Release() {
	if v.released.Swap(true) {
		panic("released twice")
	}
	v.live.Add(-1)
}

func newValue(n int, live *atomic.Int32) *value {
	live.Add(1)
	return &value{n: n, live: live}
}

func TestPipe(t *testing.T) {
	for _, capacity := range []int{0, 1, 3} {
		leak.Check(t)
		const values = 500
		var live, most atomic.Int32
		flow := NewFlow(context.Background())
		pipe := NewPipe[*value](flow, capacity)
		flow.Go("put", func(ctx context.Context) error {
			defer pipe.End()
			for n := range values {
				if err := pipe.Put(ctx, newValue(n, &live)); err != nil {
					return err
				}
				most.Store(max(most.Load(), live.Load()))
			}
			return nil
		})
		flow.Go("take", func(ctx context.Context) error {
			for n := 0; ; n++ {
				v, ok, err := pipe.Take(ctx)
				if err != nil || !ok {
					require.Equal(t, values, n)
					return err
				}
				if v.n != n {
					return errors.New("out of order")
				}
				if n%100 == 0 {
					time.Sleep(time.Millisecond) // so that the pipe fills
				}
				v.Release()
			}
		})
		require.NoError(t, flow.Wait())
		require.Zero(t, live.Load())
		require.LessOrEqual(t, int(most.Load()), capacity+1, "those that wait and the one that was taken")
		require.GreaterOrEqual(t, int(most.Load()), capacity)
		require.ErrorIs(t, pipe.Put(context.Background(), newValue(0, &live)), backend.ErrCancelled, "after the flow")
		require.Zero(t, live.Load())
	}
}

// TestPipeOwns: every value is released exactly once, however a pipe ends.
func TestPipeOwns(t *testing.T) {
	failed := errors.New("failed")
	for seed := range uint64(300) {
		leak.Check(t)
		random := rand.New(rand.NewPCG(seed, 1))
		how, after := random.IntN(4), random.IntN(20)
		var live atomic.Int32
		ctx, cancel := context.WithCancel(context.Background())
		flow := NewFlow(ctx)
		pipe := NewPipe[*value](flow, random.IntN(4))
		var putting sync.WaitGroup
		for range 3 {
			putting.Add(1)
			flow.Go("put", func(ctx context.Context) error {
				defer putting.Done()
				for n := range 10 {
					if err := pipe.Put(ctx, newValue(n, &live)); err != nil {
						return err
					}
				}
				return nil
			})
		}
		flow.Go("end", func(context.Context) error {
			putting.Wait()
			pipe.End()
			return nil
		})
		flow.Go("take", func(ctx context.Context) error {
			for range after {
				v, ok, err := pipe.Take(ctx)
				if err != nil || !ok {
					return err
				}
				v.Release()
			}
			switch how {
			case 0:
				pipe.Abandon()
			case 1:
				cancel()
			case 2:
				return failed
			default:
				panic(failed)
			}
			return nil
		})
		switch err := flow.Wait(); how {
		case 0, 1:
			require.ErrorIs(t, err, backend.ErrCancelled)
		default:
			require.ErrorIs(t, err, failed)
		}
		require.Zero(t, live.Load(), "seed %d", seed)
		cancel()
	}
}

func TestPipeMisuse(t *testing.T) {
	flow := NewFlow(context.Background())
	defer flow.Stop()
	var live atomic.Int32
	pipe := NewPipe[*value](flow, 1)
	require.NoError(t, pipe.Put(context.Background(), newValue(1, &live)))
	pipe.End()
	require.ErrorIs(t, pipe.Put(context.Background(), newValue(2, &live)), backend.ErrInvalidInput)
	v, ok, err := pipe.Take(context.Background())
	require.NoError(t, err)
	require.True(t, ok)
	v.Release()
	_, ok, err = pipe.Take(context.Background())
	require.NoError(t, err)
	require.False(t, ok)
	require.Zero(t, live.Load())
}

// TestAhead: values come in order, at most two of them exist at a time, and all are released, whether the receiver takes
// all, stops early, or the sequence fails or panics.
func TestAhead(t *testing.T) {
	const values = 50
	errBroken := errors.New("broken")
	for name, c := range map[string]struct {
		stop, fail, panics int
		err                error
	}{
		"all":    {stop: values, fail: -1, panics: -1},
		"some":   {stop: 7, fail: -1, panics: -1},
		"fails":  {stop: values, fail: 9, panics: -1, err: errBroken},
		"panics": {stop: values, fail: -1, panics: 9, err: errBroken},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			var live, most atomic.Int32
			var ended atomic.Bool
			flow := NewFlow(context.Background())
			sequence := func(yield func(*value, error) bool) {
				defer func() {
					time.Sleep(time.Millisecond) // so that whoever does not wait for the end sees none
					ended.Store(true)
				}()
				for n := range values {
					switch n {
					case c.fail:
						yield(nil, errBroken)
						return
					case c.panics:
						panic(errBroken)
					}
					v := newValue(n, &live)
					most.Store(max(most.Load(), live.Load()))
					if !yield(v, nil) {
						return
					}
				}
			}
			next := 0
			for v, err := range Ahead(flow, "make", func(context.Context) iter.Seq2[*value, error] { return sequence }) {
				if err != nil {
					require.ErrorIs(t, err, c.err)
					break
				}
				require.Equal(t, next, v.n)
				v.Release()
				if next++; next == c.stop {
					break
				}
			}
			require.True(t, ended.Load(), "the sequence has ended with the iteration")
			require.Zero(t, live.Load())
			require.ErrorIs(t, flow.Wait(), c.err)
			require.LessOrEqual(t, most.Load(), int32(2))
			if c.err == nil {
				require.Equal(t, c.stop, next)
			}
		})
	}
}
