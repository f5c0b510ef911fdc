package spirjoin

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/leak"
)

// TestCloseEndsJoins: joins of every kind that run while their engine is closed end with an error that says so, and
// use nothing of it afterwards.
func TestCloseEndsJoins(t *testing.T) {
	left, right := budgetTables(t, 5000, 20_000)
	for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
		devicetest.ForEachDriver(t, func(t *testing.T, driver backend.Driver) {
			leak.Check(t)
			e, err := newEngine([]*backend.Device{backend.NewDevice(driver, backend.DeviceOptions{})}, Options{})
			require.NoError(t, err)
			ctx, spec := t.Context(), JoinSpec{On: []string{"k"}, BatchRows: 1000}
			table := func() error {
				result, err := e.Join(ctx, left, right, spec)
				_, err = draw(ctx, result, err)
				return err
			}
			stream := func() error {
				result, err := e.JoinStream(ctx, FromTable(left), FromTable(right), spec)
				_, err = draw(ctx, result, err)
				return err
			}
			kept := func() error {
				built, err := e.BuildSide(ctx, left, right.Schema(), 0, spec)
				if err != nil {
					return err
				}
				defer built.Close()
				for range 2 {
					result, err := built.Join(ctx, right)
					if _, err := draw(ctx, result, err); err != nil {
						return err
					}
				}
				result, err := built.JoinStream(ctx, FromTable(right))
				_, err = draw(ctx, result, err)
				return err
			}
			runs := []func() error{table, stream, kept}
			ends := make(chan error, len(runs))
			for _, run := range runs {
				go func() {
					err := run()
					for err == nil {
						err = run()
					}
					ends <- err
				}()
			}
			time.Sleep(after)
			require.NoError(t, e.Close())
			require.NoError(t, e.Close())
			for range runs {
				require.ErrorContains(t, <-ends, "the engine was closed")
			}
		})
	}
}

// TestCloseWithResults: a result that nobody draws, one that is drawn in part, and a build side with one neither keep
// an engine from being closed nor use it afterwards.
func TestCloseWithResults(t *testing.T) {
	left, right := budgetTables(t, 5000, 20_000)
	devicetest.ForEachDriver(t, func(t *testing.T, driver backend.Driver) {
		leak.Check(t)
		e, err := newEngine([]*backend.Device{backend.NewDevice(driver, backend.DeviceOptions{})}, Options{})
		require.NoError(t, err)
		e.join.WindowRows = 1000 // so that no result is complete before it is drawn
		spec := JoinSpec{On: []string{"k"}, BatchRows: 100}
		open := func() *JoinResult {
			result, err := e.Join(t.Context(), left, right, spec)
			require.NoError(t, err)
			return result
		}
		part, undrawn := open(), open()
		built, err := e.BuildSide(t.Context(), left, right.Schema(), 0, spec)
		require.NoError(t, err)
		probed, err := built.Join(t.Context(), right)
		require.NoError(t, err)
		batches := 0
		for batch, err := range part.Batches(context.Background()) {
			if err != nil {
				require.ErrorIs(t, err, ErrCancelled)
				require.EqualError(t, err, "cancelled: the engine was closed")
				batches = -batches
				break
			}
			if batches++; batches == 2 {
				require.NoError(t, e.Close())
			}
			_, err := batch.MarshalJSON()
			require.NoError(t, err, "a batch stays valid")
			batch.Release()
		}
		require.LessOrEqual(t, batches, -2, "the end is an error")
		for _, result := range []*JoinResult{undrawn, probed} {
			_, err := draw(t.Context(), result, nil)
			require.ErrorIs(t, err, ErrCancelled)
		}
		part.Close()
		_, err = built.Join(t.Context(), right)
		require.ErrorIs(t, err, ErrInvalidInput)
		require.ErrorContains(t, err, "the engine was closed")
		built.Close()
		_, err = e.Join(t.Context(), left, right, spec)
		require.ErrorIs(t, err, ErrInvalidInput)
	})
}
