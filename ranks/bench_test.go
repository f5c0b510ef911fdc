package ranks_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranks"
)

// BenchmarkJoin joins unique with foreign keys, from memory to batches, on one rank and on four of this process, and
// reports CPU time. All left rows have a partner, half, or a twentieth. SPIRJOIN_BENCH_ROWS is the number of rows on the
// left (default 2^22); the right side has a quarter.
func BenchmarkJoin(b *testing.B) {
	devicetest.Bench(b, func(device *backend.Device, name string) {
		rows, owners := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22), ranks.Knobs{Owners: true}
		right := numbered(b, 2, rows/4, func(i int) int64 { return int64(i) })
		for _, percent := range []int{100, 50, 5} {
			want := uint64(0)
			left := numbered(b, 1, rows, func(i int) int64 {
				key := uint64(i) * 0x9e3779b97f4a7c15 >> 20 % uint64(rows/4*100/percent)
				if key < uint64(rows/4) {
					want++
				}
				return int64(key)
			})
			never, all := owners, owners
			never.Filtering, all.Filtering = ranks.FilterNever, ranks.FilterAll
			for _, s := range []setup{{size: 1}, {size: 4, knobs: never}, {size: 4, knobs: owners}, {size: 4, knobs: all},
				{size: 4, knobs: ranks.Knobs{Copies: true}}} {
				name := fmt.Sprintf("device=%s/rows=%d/partners=%d/ranks=%d/copies=%t/filter=%s", name, rows, percent,
					s.size, s.knobs.Copies, s.knobs.Filtering)
				b.Run(name, func(b *testing.B) { benchJoin(b, device, s, left, right, want) })
			}
		}
	})
}

// benchJoin joins two tables, which gives so many rows.
func benchJoin(b *testing.B, device *backend.Device, s setup, left, right arrow.Table, want uint64) {
	ops, err := primitive.New(device, jointest.Tuning(b, device.Info()))
	require.NoError(b, err)
	e := engine.NewEngine(ops, &offheap.Shared, 0)
	defer e.Close()
	before := cputime.Now()
	for b.Loop() {
		var all sync.WaitGroup
		for rank, job := range cluster.Local(s.size, cluster.LocalOptions{}) {
			all.Go(func() {
				e := &ranks.Engine{Joins: e, Knobs: s.knobs}
				r, err := e.Join(context.Background(), job, share(left, rank, s.size),
					share(right, rank, s.size), join.Spec{On: onK})
				if err != nil {
					b.Error(err)
					return
				}
				defer r.Close()
				for batch, err := range r.Batches(context.Background()) {
					if err != nil {
						b.Error(err)
						return
					}
					batch.Release()
				}
				if t, err := r.Finish(context.Background()); err != nil || t.AllRows() != want {
					b.Error(t, err)
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric((cputime.Now()-before).Seconds()/float64(b.N), "cpu-s/op")
}
