package source

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// WithNumbers returns a table, which it releases, with the numbers of its rows, from first on, as one more column: the
// last field of schema. The caller releases the result.
func WithNumbers(table arrow.Table, first int64, schema *arrow.Schema, alloc memory.Allocator) arrow.Table {
	defer table.Release()
	b := array.NewInt64Builder(alloc)
	defer b.Release()
	b.Reserve(int(table.NumRows()))
	for row := range table.NumRows() {
		b.UnsafeAppend(first + row)
	}
	numbers := b.NewArray()
	defer numbers.Release()
	chunked := arrow.NewChunked(numbers.DataType(), []arrow.Array{numbers})
	defer chunked.Release()
	column := arrow.NewColumn(schema.Field(int(table.NumCols())), chunked)
	defer column.Release()
	var columns []arrow.Column
	for i := range int(table.NumCols()) {
		columns = append(columns, *table.Column(i))
	}
	return array.NewTable(schema, append(columns, *column), table.NumRows())
}
