package engine_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
)

// TestSpeed: the speed of an engine follows from rates; it is unknown without them, and with little memory.
func TestSpeed(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		speed := func(limitBytes uint64) float64 {
			e := engine.NewEngine(ops, memory.DefaultAllocator, limitBytes)
			defer e.Close()
			speed, err := e.Speed(context.Background())
			require.NoError(t, err)
			return speed
		}
		if planner.RatesFor(device.Info()) == nil {
			require.Zero(t, speed(0))
			return
		}
		require.Greater(t, speed(0), 1e5)
		require.Less(t, speed(0), 1e11)
		require.Zero(t, speed(1<<20))
	})
}
