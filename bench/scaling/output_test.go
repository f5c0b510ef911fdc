package scaling

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/query"
)

// chunked is a table of a column of values in chunks.
func chunked(t *testing.T, name string, chunks ...[]int32) arrow.Table {
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int32},
		{Name: name + "_1", Type: arrow.PrimitiveTypes.Int64}}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	var batches []arrow.RecordBatch
	for _, values := range chunks {
		for _, v := range values {
			builder.Field(0).(*array.Int32Builder).Append(v)
			builder.Field(1).(*array.Int64Builder).Append(int64(v) * 1000)
		}
		batches = append(batches, builder.NewRecordBatch())
	}
	table := array.NewTableFromRecords(schema, batches)
	for _, b := range batches {
		b.Release()
	}
	t.Cleanup(table.Release)
	return table
}

// Rows of pairs have the key of the left side and the payload of both, from whichever chunk.
func TestEachRow(t *testing.T) {
	tables := [2]arrow.Table{chunked(t, "r", []int32{1, 2}, nil, []int32{3}), chunked(t, "s", []int32{4, 5, 6, 7})}
	pairs := query.Pairs{Left: []uint32{2, 0, 1}, Right: []uint32{0, 1, 0}, RightFirst: 2}
	var text string
	require.NoError(t, eachRow(tables, pairs, func(batch arrow.RecordBatch) error {
		require.EqualValues(t, 3, batch.NumCols())
		for _, column := range batch.Columns() {
			text += column.String()
		}
		return nil
	}))
	require.Equal(t, "[3 1 2][3000 1000 2000][6000 7000 6000]", text)
	pairs.Right[1] = 2
	err := eachRow(tables, pairs, func(arrow.RecordBatch) error { return nil })
	require.ErrorIs(t, err, measure.ErrWrong)
	require.ErrorContains(t, err, "row 4 of 4")
}
