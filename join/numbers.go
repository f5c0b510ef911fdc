package join

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
)

// numberColumn is the name of a column that rows of a division have beside their own: the number of the row in its
// source. No column of a user has this name.
const numberColumn = "\x00row"

var numberField = arrow.Field{Name: numberColumn, Type: arrow.PrimitiveTypes.Int64}

// numbered returns what the parts of a divided join are joined for. Rows bring their numbers along where pairs of them are
// wanted, where an error names the rows whose keys should be unique, and where the output is to be in their order: then
// the output has them, too, as its last columns.
func (t *task) numbered() *task {
	l, n, part := t.layout, *t.layout, *t
	part.layout, part.order = &n, Unordered
	for side := range n.Needed {
		side := relation.Side(side)
		orders := t.ordered() && t.how.Has(side)
		wanted := t.output == Pairs || l.Spec.Validate.Unique(side) || orders
		if orders && t.output == Rows {
			field := numberField
			field.Nullable = t.how.Optional(side)
			n.Schema = arrow.NewSchema(append(slices.Clone(n.Schema.Fields()), field), nil)
			n.Columns = append(slices.Clone(n.Columns), OutputColumn{Role: ValueColumn, Side: side, Source: numberColumn})
		}
		if wanted && !slices.Contains(l.Needed[side], numberColumn) {
			n.Needed[side] = append(slices.Clone(l.Needed[side]), numberColumn)
		}
	}
	if t.output == Pairs {
		part.output = Rows
		n.Columns, n.Schema = nil, arrow.NewSchema([]arrow.Field{numberField, numberField}, nil)
		for _, side := range []relation.Side{relation.Left, relation.Right} {
			n.Columns = append(n.Columns, OutputColumn{Role: ValueColumn, Side: side, Source: numberColumn})
		}
	}
	return &part
}

// numbersColumn is the column of row numbers of a table; nil if it has none.
func numbersColumn(table arrow.Table) *arrow.Chunked {
	at := table.Schema().FieldIndices(numberColumn)
	if len(at) == 0 {
		return nil
	}
	return table.Column(at[0]).Data()
}

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
	column := arrow.NewColumn(numberField, chunked)
	defer column.Release()
	var columns []arrow.Column
	for i := range int(table.NumCols()) {
		columns = append(columns, *table.Column(i))
	}
	return array.NewTable(schema, append(columns, *column), table.NumRows())
}
