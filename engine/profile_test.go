package engine_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// TestProfilePerQuery: joins that run at the same time on one engine each count the stages of their own.
func TestProfilePerQuery(t *testing.T) {
	devicetest.SkipRace(t)
	left, right := tables(t, 3000, 9000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		stages := func(algorithm string) ([]string, error) {
			spec := onKeys
			spec.Algorithm, spec.BatchRows = algorithm, 1<<10
			plan, err := engine.Plan(context.Background(), left, right, spec)
			if err != nil {
				return nil, err
			}
			result, err := plan.Run(context.Background())
			if err != nil {
				return nil, err
			}
			defer result.Close()
			for batch, err := range result.Batches(context.Background()) {
				if err != nil {
					return nil, err
				}
				batch.Release()
			}
			return slices.Sorted(maps.Keys(result.Stats().StageSeconds)), nil
		}
		algorithms := []string{"smj-um", "phj-om", "hj", "smj-om"}
		alone := make([][]string, len(algorithms))
		for i, algorithm := range algorithms {
			names, err := stages(algorithm)
			require.NoError(t, err)
			require.NotEmpty(t, names)
			alone[i] = names
			for j := range i {
				require.NotEqual(t, alone[j], alone[i], "the test tells them apart by their stages")
			}
		}
		together, errs := make([][]string, len(algorithms)), make([]error, len(algorithms))
		var joins sync.WaitGroup
		for i, algorithm := range algorithms {
			joins.Go(func() {
				for range 3 {
					together[i], errs[i] = stages(algorithm)
					if errs[i] != nil || !slices.Equal(together[i], alone[i]) {
						return
					}
				}
			})
		}
		joins.Wait()
		for i := range algorithms {
			require.NoError(t, errs[i])
			require.Equal(t, alone[i], together[i], "%s", algorithms[i])
		}
	})
}
