package ranks_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranks"
)

// forecastAndJoin forecasts and runs a join on ranks of this process, and returns what each rank was forecast to send
// and what its job has counted.
func forecastAndJoin(t *testing.T, device *backend.Device, size int, knobs ranks.Knobs, left, right arrow.Table,
	spec join.Spec) (f *ranks.Forecast, counted [][]cluster.Traffic) {
	t.Helper()
	ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
	require.NoError(t, err)
	joins := engine.NewEngine(ops, memory.NewGoAllocator(), 0)
	defer joins.Close()
	e := &ranks.Engine{Joins: joins, Knobs: knobs}
	forecasts, outcomes := make([]*ranks.Forecast, size), make([]outcome, size)
	counted = make([][]cluster.Traffic, size)
	var all sync.WaitGroup
	for rank, job := range cluster.Local(size, cluster.LocalOptions{}) {
		all.Go(func() {
			l, r := share(left, rank, size), share(right, rank, size)
			var err error
			if forecasts[rank], err = e.Forecast(context.Background(), job, l, r, spec); err != nil {
				outcomes[rank].err = err
				return
			}
			for _, sent := range job.Stats().To {
				if sent != (cluster.Traffic{}) {
					outcomes[rank].err = fmt.Errorf("a forecast has sent %v", sent)
					return
				}
			}
			outcomes[rank] = draw(job, e, l, r, spec)
			counted[rank] = job.Stats().To
		})
	}
	all.Wait()
	for rank, o := range outcomes {
		require.NoError(t, o.err)
		require.Equal(t, forecasts[0], forecasts[rank])
		require.Equal(t, o.way, forecasts[0].Way)
		require.Equal(t, o.hot, forecasts[0].HotKeys)
		for _, batch := range o.batches {
			batch.Release()
		}
	}
	return forecasts[0], counted
}

// Forecast messages and bytes equal what jobs of 2 to 8 ranks count, from each rank to each.
func TestForecast(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		owners := ranks.Knobs{Owners: true, BlockBytes: 16 << 10}
		for _, c := range []struct {
			name  string
			knobs ranks.Knobs
			rows  [2]shape
			spec  join.Spec
			way   ranks.Way
			hot   bool
		}{
			{"uniform", owners, [2]shape{{rows: 3000, values: 100}, {rows: 2000, values: 100}}, join.Spec{},
				ranks.Owners, false},
			{"NULLs", owners, [2]shape{{rows: 3000, values: 100, null: 0.3}, {rows: 2000, values: 100, null: 0.2}},
				join.Spec{How: join.Full}, ranks.Owners, false},
			{"one block", ranks.Knobs{Owners: true}, [2]shape{{rows: 3000, values: 100}, {rows: 900, values: 100}},
				join.Spec{How: join.Semi}, ranks.Owners, false},
			{"hot keys", owners, [2]shape{{rows: 4000, values: 100, hot: 0.6}, {rows: 600, values: 100}},
				join.Spec{}, ranks.Owners, true},
			{"copies to all", ranks.Knobs{Copies: true, BlockBytes: 16 << 10},
				[2]shape{{rows: 3000, values: 100}, {rows: 700, values: 100, null: 0.1}}, join.Spec{How: join.Left},
				ranks.RightToAll, false},
			{"witness", owners, [2]shape{{rows: 1000, values: 100, null: 0.1}, {rows: 600, values: 100, null: 0.1}},
				join.Spec{How: join.NotIn}, ranks.Owners, false},
		} {
			for size := 2; size <= 8; size++ {
				key, spec := keyTypes[size%len(keyTypes)], c.spec
				spec.On = onK
				t.Run(fmt.Sprintf("%s/ranks=%d/key=%s", c.name, size, key[0]), func(t *testing.T) {
					left, right := table(t, 1, key[0], c.rows[0]), table(t, 2, key[1], c.rows[1])
					forecast, counted := forecastAndJoin(t, device, size, c.knobs, left, right, spec)
					require.Equal(t, c.way, forecast.Way)
					require.Equal(t, c.hot, forecast.HotKeys > 0)
					require.Equal(t, counted, forecast.Sent)
				})
			}
		}
	})
}
