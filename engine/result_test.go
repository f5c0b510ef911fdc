package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
)

// TestStages asks for the device time of a short join, whose only wait is that for its output.
func TestStages(t *testing.T) {
	left, right := tables(t, 1000, 9000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, c := range []struct {
			algorithm string
			output    join.Output
			stages    []string
		}{
			{"smj-um", join.Count, []string{"varying bits", "sort probe", "range search"}},
			{"smj-um", join.Rows, []string{"varying bits", "sort probe", "range search", "scan", "expand"}},
			{"phj-om", join.Count, []string{"cut", "count"}},
			{"phj-om", join.Rows, []string{"cut", "match"}},
			{"hj", join.Rows, []string{"build", "match"}},
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
		engine := smallEngine(t, device)
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
			}
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, "closed")
		}
	})
}

// TestDrawnOnce: the output is drawn once, in the form that was asked for.
func TestDrawnOnce(t *testing.T) {
	left, right := tables(t, 100, 900)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, output := range []join.Output{join.Rows, join.Pairs, join.Count} {
			spec := onKeys
			spec.Output = output
			plan, err := engine.Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			for range 2 { // a plan runs any number of times
				result, err := plan.Run(context.Background())
				require.NoError(t, err)
				draw := func() (rows int, errs [2]error) {
					for batch, err := range result.Batches(context.Background()) {
						if errs[0] = err; err == nil {
							rows += int(batch.NumRows())
							batch.Release()
						}
					}
					for pairs, err := range result.Pairs(context.Background()) {
						rows, errs[1] = rows+len(pairs.Left), err
					}
					return rows, errs
				}
				rows, errs := draw()
				for i, of := range []join.Output{join.Rows, join.Pairs} {
					if output == of {
						require.NoError(t, errs[i])
						require.Equal(t, 900, rows)
					} else {
						require.ErrorIs(t, errs[i], backend.ErrInvalidInput)
						require.ErrorContains(t, errs[i], "was not asked for")
					}
				}
				require.EqualValues(t, 900, result.Rows())
				_, errs = draw()
				require.ErrorIs(t, errs[0], backend.ErrInvalidInput)
				require.ErrorIs(t, errs[1], backend.ErrInvalidInput)
				if output != join.Count {
					require.ErrorContains(t, errors.Join(errs[:]...), "drawn already")
				}
				result.Close()
			}
		}
	})
}

// TestContexts: the context of a run ends the join, and so does the context of a drawing.
func TestContexts(t *testing.T) {
	left, right := tables(t, 1000, 9000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		spec := onKeys
		spec.BatchRows = 1 << 10
		plan, err := engine.Plan(context.Background(), left, right, spec)
		require.NoError(t, err)
		for _, ofRun := range []bool{true, false} {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			contexts := [2]context.Context{context.Background(), ctx}
			if ofRun {
				contexts = [2]context.Context{ctx, context.Background()}
			}
			result, err := plan.Run(contexts[0])
			require.NoError(t, err)
			rows := int64(0)
			for batch, drawErr := range result.Batches(contexts[1]) {
				if err = drawErr; err == nil {
					rows += batch.NumRows()
					batch.Release()
					cancel()
				}
			}
			require.ErrorIs(t, err, backend.ErrCancelled)
			require.Less(t, rows, int64(9000))
			noMemoryInUse(t, device)
			result.Close()
		}
	})
}
