package relation

import (
	"context"
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
