package parquet

import (
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestSliceRows(t *testing.T) {
	cores := runtime.GOMAXPROCS(0)
	const slice = rowGroupRows
	require.EqualValues(t, slice, sliceRows(8*slice, 8*cores, 2))
	require.EqualValues(t, slice, sliceRows(8*slice, 20*cores, 2))
	require.EqualValues(t, 4*slice, sliceRows(8*slice, 2*cores, 2), "more would keep cores from other row groups")
	require.EqualValues(t, 8*slice, sliceRows(8*slice, cores, 2))
	require.EqualValues(t, slice, sliceRows(8*slice, 1, 1), "there is no other row group")
	require.EqualValues(t, 2*slice-1, sliceRows(2*slice-1, 20*cores, 1))
	require.EqualValues(t, slice+1<<10, sliceRows(3*slice+1, 1, 1))
	require.EqualValues(t, 1, sliceRows(0, 1, 1))
}

// A row group with more than 2 GiB of text is read in parts, also where memory has no limit.
func TestRowGroupOfMoreThanAnArrayHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 2 GiB of memory")
	}
	const rows, length = 2100, 1 << 20
	text := strings.Repeat("x", length)
	schema := arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text",
			Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		require.NoError(t, b.Field(1).(*array.BinaryDictionaryBuilder).AppendString(text))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	source := written(t, batch, Options{}, 0) // as written without a stored schema
	source.columns[1].Column.Field.Type = arrow.BinaryTypes.String
	source.fields = arrow.NewSchema([]arrow.Field{source.fields.Field(0), source.columns[1].Column.Field}, nil)
	seen := int64(0)
	for batch, err := range source.Batches(t.Context(), []int{0, 1}, memory.NewGoAllocator()) {
		require.NoError(t, err)
		require.Equal(t, seen, batch.Column(0).(*array.Int64).Value(0))
		require.Equal(t, length, len(batch.Column(1).(*array.String).Value(int(batch.NumRows())-1)))
		seen += batch.NumRows()
		batch.Release()
	}
	require.EqualValues(t, rows, seen)
}
