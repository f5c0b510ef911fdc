package join_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/primitive"
)

// TestStages asks for the device time of a short join, whose only wait is that for its output.
func TestStages(t *testing.T) {
	left, right := tables(t, 1000, 9000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, small.With(jointest.Tuning(t, device.Info())))
		require.NoError(t, err)
		engine := &join.Engine{Ops: ops, Allocator: memory.DefaultAllocator}
		for _, c := range []struct {
			algorithm join.Algorithm
			output    join.Output
			stages    []string
		}{
			{plan.SMJUM, join.Count, []string{"varying bits", "sort right", "range search"}},
			{plan.SMJUM, join.Rows, []string{"varying bits", "sort right", "range search", "scan", "expand"}},
			{plan.PHJOM, join.Count, []string{"cut", "count"}},
			{plan.PHJOM, join.Rows, []string{"cut", "match"}},
			{plan.HJ, join.Rows, []string{"build", "match"}},
		} {
			spec := onKeys
			spec.Output, spec.Algorithm = c.output, c.algorithm
			plan, err := engine.Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			result, err := plan.Run(context.Background())
			require.NoError(t, err)
			if c.output == join.Rows {
				for batch, err := range result.Batches(context.Background()) {
					require.NoError(t, err)
					batch.Release()
				}
			}
			measured := result.Stats().StageSeconds
			for _, stage := range c.stages {
				require.Contains(t, measured, stage, "%s %s", c.algorithm, c.output)
			}
			result.Close()
		}
	})
}

// TestClosedResult draws output from a result that was closed.
func TestClosedResult(t *testing.T) {
	left, right := tables(t, 100, 900)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, small.With(jointest.Tuning(t, device.Info())))
		require.NoError(t, err)
		engine := &join.Engine{Ops: ops, Allocator: memory.DefaultAllocator}
		for _, output := range []join.Output{join.Rows, join.Pairs} {
			spec := onKeys
			spec.Output = output
			plan, err := engine.Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			result, err := plan.Run(context.Background())
			require.NoError(t, err)
			result.Close()
			result.Close()
			if output == join.Rows {
				for _, err = range result.Batches(context.Background()) {
				}
			} else {
				for _, err = range result.Pairs(context.Background()) {
				}
				_, rangesErr := result.KeyRanges(context.Background())
				require.ErrorIs(t, rangesErr, backend.ErrInvalidInput)
			}
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, "closed")
		}
	})
}
