package relation

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// TestSample compares samples with the codes of all rows: their order, their number, their spread, and rows that are left out.
func TestSample(t *testing.T) {
	const rows = 100_000
	column := func(null func(i int) bool) arrow.Table {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		for i := range rows {
			if null(i) {
				b.AppendNull()
			} else {
				b.Append(int64(i) - 5)
			}
		}
		values := b.NewArray()
		defer values.Release()
		schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: values.DataType(), Nullable: true}}, nil)
		batch := array.NewRecordBatch(schema, []arrow.Array{values}, rows)
		defer batch.Release()
		table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
		t.Cleanup(table.Release)
		return table
	}
	some := func(i int) bool { return i%3 == 0 }
	plan, err := PlanKeys(context.Background(), column(some), column(func(int) bool { return false }), []string{"k"}, []string{"k"})
	require.NoError(t, err)
	for _, c := range [][2]int{{1000, 1}, {1024, 64}, {rows, 64}, {2 * rows, 1}, {10, 64}} {
		codes := plan.Sample(Right, c[0], c[1])
		require.True(t, slices.IsSorted(codes))
		require.Len(t, slices.Compact(slices.Clone(codes)), len(codes), "no row twice")
		require.InDelta(t, min(c[0], rows), len(codes), 64, c)
		if c[0] > 64 {
			require.Less(t, codes[0], uint64(rows/10))
			require.Greater(t, codes[len(codes)-1], uint64(rows*9/10), "spread over all")
		}
		for i := 0; i+c[1] <= len(codes) && c[0] > 64; i += c[1] {
			require.Equal(t, codes[i]+uint64(c[1]-1), codes[i+c[1]-1], "a run")
		}
		left := plan.Sample(Left, c[0], c[1])
		require.False(t, slices.ContainsFunc(left, func(code uint64) bool { return some(int(code)) }), "rows without a key")
		require.InDelta(t, min(c[0], rows)*2/3, len(left), 64, c)
	}
}

// TestSampleOfPeriodicKeys: keys that repeat with a period are met as often as random ones, whatever the period, also
// those of which a fixed stride would meet few.
func TestSampleOfPeriodicKeys(t *testing.T) {
	const rows, sampled = 1 << 20, 1 << 13
	for _, period := range []int{65536, 4096, 128, rows / sampled * 37, 1000, 65537, 7} {
		b := array.NewInt32Builder(memory.DefaultAllocator)
		for i := range rows {
			b.Append(int32(i % period))
		}
		table := tableOf([]arrow.Array{b.NewArray()}, [][]int{{rows / 3}})
		plan, err := PlanKeys(context.Background(), table, table, []string{"k0"}, []string{"k0"})
		require.NoError(t, err)
		for _, run := range []int{1, 64} {
			codes := plan.Sample(Left, sampled, run)
			require.Len(t, codes, sampled)
			require.Equal(t, codes, plan.Sample(Right, sampled, run), "the same rows each time")
			counts := map[uint64]int{}
			most := 0
			for _, code := range codes {
				counts[code]++
				most = max(most, counts[code])
			}
			// Runs start independently, so that a key's count is about Poisson distributed, and a run holds its keys once, or
			// several times where the period is shorter.
			mean := float64(sampled) / float64(period)
			keys := float64(period) * (1 - math.Exp(-mean))
			require.InEpsilon(t, keys, len(counts), 0.05, "period %d, runs of %d", period, run)
			require.Less(t, float64(most), mean+6*math.Sqrt(mean)*math.Sqrt(max(1, float64(run)/float64(period)))+6,
				"period %d, runs of %d", period, run)
		}
	}
}
