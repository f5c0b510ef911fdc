package groupby_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// BenchmarkGroups sums a column by an integer key, from memory to memory.
func BenchmarkGroups(b *testing.B) {
	devicetest.Bench(b, func(device *backend.Device, name string) {
		e := engine(b, device)
		rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)
		for _, groups := range []int{1 << 8, 1 << 16, rows} {
			tab := table(b, rows, column{"k", arrow.PrimitiveTypes.Int32, func(int) uint64 { return uint64(rand.IntN(groups)) }, nil},
				column{"x", arrow.PrimitiveTypes.Float64, func(row int) uint64 { return floatBits(row & 0xffff) }, nil})
			b.Run(fmt.Sprintf("device=%s/rows=%d/groups=%d", name, rows, groups), func(b *testing.B) {
				for b.Loop() {
					r, err := e.Group(context.Background(), tab, groupby.Spec{By: []string{"k"},
						Aggregates: []groupby.Aggregate{{Func: groupby.Sum, Column: "x"}}})
					require.NoError(b, err)
					for batch, err := range r.Batches(context.Background()) {
						require.NoError(b, err)
						batch.Release()
					}
					r.Close()
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
	})
}
