package task

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/join"
)

// withNumbers adds the numbers of rows to a table, which it releases, from first on.
func withNumbers(table arrow.Table, first int64, schema *arrow.Schema, alloc memory.Allocator) arrow.Table {
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
	column := arrow.NewColumn(join.NumberField, chunked)
	defer column.Release()
	var columns []arrow.Column
	for i := range int(table.NumCols()) {
		columns = append(columns, *table.Column(i))
	}
	return array.NewTable(schema, append(columns, *column), table.NumRows())
}
