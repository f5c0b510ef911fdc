package keys

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
)

// TestSample compares samples with the codes of all rows: their order, number and spread, and rows that are left out.
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
	plan, err := PlanJoin(context.Background(), column(some), column(func(int) bool { return false }), []string{"k"},
		[]string{"k"})
	require.NoError(t, err)
	for _, c := range [][2]int{{1000, 1}, {1024, 64}, {rows, 64}, {2 * rows, 1}, {3000, 7}} {
		sample := plan.Sample(relation.Right, c[0], c[1])
		codes := slices.Concat(sample...)
		require.True(t, slices.IsSorted(codes))
		require.Len(t, slices.Compact(slices.Clone(codes)), len(codes), "no row twice")
		if c[0] < rows {
			require.InDelta(t, c[0], len(codes), 4*math.Sqrt(float64(c[0]*c[1])), c)
		} else {
			require.Len(t, codes, rows)
		}
		require.Less(t, codes[0], uint64(rows/4))
		require.Greater(t, codes[len(codes)-1], uint64(rows*3/4), "spread over all")
		for _, block := range sample {
			require.Zero(t, block[0]%uint64(c[1]), "a block")
			require.Len(t, block, min(c[1], rows-int(block[0])), "a block")
			require.Equal(t, block[0]+uint64(len(block)-1), block[len(block)-1], "a block")
		}
		left := slices.Concat(plan.Sample(relation.Left, c[0], c[1])...)
		require.False(t, slices.ContainsFunc(left, func(code uint64) bool { return some(int(code)) }),
			"rows without a key")
		require.InDelta(t, float64(len(codes))*2/3, len(left), 4*math.Sqrt(float64(len(codes)*c[1]))*0.5, c)
	}
}

// TestSampleOfPeriodicKeys: periodic keys are sampled as often as random ones, whatever the period, even where a fixed
// stride would find few.
func TestSampleOfPeriodicKeys(t *testing.T) {
	devicetest.SkipRace(t)
	const rows, sampled = 1 << 20, 1 << 13
	for _, period := range []int{65536, 4096, 128, rows / sampled * 37, 1000, 65537, 7} {
		b := array.NewInt32Builder(memory.DefaultAllocator)
		for i := range rows {
			b.Append(int32(i % period))
		}
		table := tableOf([]arrow.Array{b.NewArray()}, [][]int{{rows / 3}})
		plan, err := PlanJoin(context.Background(), table, table, []string{"k0"}, []string{"k0"})
		require.NoError(t, err)
		for _, block := range []int{1, 64} {
			sample := plan.Sample(relation.Left, sampled, block)
			require.Equal(t, sample, plan.Sample(relation.Right, sampled, block), "the same rows each time")
			codes := slices.Concat(sample...)
			counts := map[uint64]int{}
			most := 0
			for _, code := range codes {
				counts[code]++
				most = max(most, counts[code])
			}
			// Blocks are drawn independently, so that the count of a key has about a Poisson distribution. A block has
			// a key once, or several times if the period is shorter than the block.
			mean := float64(len(codes)) / float64(period)
			keys := float64(period) * (1 - math.Exp(-mean))
			require.InEpsilon(t, keys, len(counts), 0.08, "period %d, blocks of %d", period, block)
			require.Less(t, float64(most), mean+6*math.Sqrt(mean)*math.Sqrt(max(1, float64(block)/float64(period)))+6,
				"period %d, blocks of %d", period, block)
		}
	}
}
