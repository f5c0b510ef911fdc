package groupjoin_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/groupjoin"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/source"
)

// BenchmarkGroups joins unique with foreign keys and sums a column of the right side, by columns of the left side, of
// the right side and of both, from memory to memory. SPIRJOIN_BENCH_ROWS is the number of rows on the right; the left
// side has a quarter.
func BenchmarkGroups(b *testing.B) {
	devicetest.Bench(b, func(device *backend.Device, name string) {
		e := open(b, device, 0)
		rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)
		random, column := rand.New(rand.NewPCG(uint64(rows), 1)), func(below int) func(int) int64 {
			return func(int) int64 { return int64(rand.IntN(below)) }
		}
		unique := random.Perm(rows / 4)
		left := longs(b, rows/4, map[string]func(int) int64{"k": func(row int) int64 { return int64(unique[row]) },
			"a": column(1 << 10), "many": column(rows / 16)})
		right := longs(b, rows, map[string]func(int) int64{"k": column(rows / 4), "x": column(1 << 30), "b": column(100)})
		for _, by := range [][]string{{"a"}, {"many"}, {"b"}, {"a", "b"}} {
			l, err := groupjoin.NewLayout(left.Schema(), right.Schema(), join.Spec{On: []string{"k"}},
				groupby.Spec{By: by, Aggregates: aggregates("count", "sum:x")})
			require.NoError(b, err)
			b.Run(fmt.Sprintf("device=%s/rows=%dx%d/by=%s", name, rows/4, rows, strings.Join(by, "+")), func(b *testing.B) {
				for b.Loop() {
					batches, stats, err := run(b.Context(), e, l, source.FromTable(left), source.FromTable(right))
					require.NoError(b, err)
					require.EqualValues(b, rows, stats.GroupBy.Rows)
					for _, batch := range batches {
						batch.Release()
					}
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
	})
}
