package tableio

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// hidden makes rows of an array NULL and keeps what they have below.
func hidden(a arrow.Array, validity byte) arrow.Array {
	data := a.Data()
	buffers := append([]*memory.Buffer{memory.NewBufferBytes([]byte{validity})}, data.Buffers()[1:]...)
	return array.MakeFromData(array.NewData(data.DataType(), data.Len(), buffers, data.Children(), -1, 0))
}

// Columns of every type beside a nested one are written to Parquet and read as what they were, or as their values.
func TestNestedColumnsOfEveryType(t *testing.T) {
	types := arrow.PrimitiveTypes
	field := func(name string, dt arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: dt, Nullable: true}
	}
	element := func(dt arrow.DataType) arrow.Field { return field("element", dt) }
	json := func(dt arrow.DataType, text string) arrow.Array {
		a, _, err := array.FromJSON(memory.NewGoAllocator(), dt, strings.NewReader(text))
		require.NoError(t, err, dt)
		return a
	}
	required := arrow.StructOf(arrow.Field{Name: "x", Type: types.Int8}, arrow.Field{Name: "s", Type: arrow.BinaryTypes.String})
	view, text := arrow.BinaryTypes.StringView, arrow.BinaryTypes.LargeString
	category := dictionaryOf(types.Uint32, view)
	lists := arrow.ListOfField(element(types.Int32))
	fixed := arrow.FixedSizeListOfField(2, element(arrow.PrimitiveTypes.Float32))
	structs := arrow.StructOf(field("l", lists), field("x", types.Int8))
	categories := dictionaryFromJSON(t, category, `["a text of twenty bytes", null, "c"]`, 0, 1, 2)
	for name, test := range map[string]struct {
		column arrow.Array // of three rows
		read   arrow.DataType
	}{
		"text":     {json(view, `["a", null, "a text of twenty bytes"]`), view},
		"bytes":    {json(arrow.BinaryTypes.BinaryView, `["YQ==", null, "Yg=="]`), arrow.BinaryTypes.BinaryView},
		"short":    {json(&arrow.Decimal32Type{Precision: 9, Scale: 2}, `["1.25", null, "-3.00"]`), &arrow.Decimal32Type{Precision: 9, Scale: 2}},
		"second":   {json(arrow.FixedWidthTypes.Time32s, `["00:00:01", null, "23:59:59"]`), arrow.FixedWidthTypes.Time32s},
		"uuid":     {json(extensions.NewUUIDType(), `["00000000-0000-0000-0000-000000000001", null, "f0000000-0000-0000-0000-000000000001"]`), extensions.NewUUIDType()},
		"null":     {json(arrow.Null, `[null, null, null]`), arrow.Null},
		"category": {categories, category},
		"narrow":   {dictionaryFromJSON(t, dictionaryOf(types.Int8, types.Int64), `[7, 8]`, 1, -1, 0), dictionaryOf(types.Int32, types.Int64)},
		"entries":  {dictionaryFromJSON(t, dictionaryOf(types.Int8, lists), `[[1], null, [2, 3]]`, 2, 1, 0), lists},

		"list":              {json(lists, `[[1, null], null, [3]]`), lists},
		"hidden":            {hidden(json(lists, `[[1, null], [2], [3]]`), 0b101), lists},
		"hidden first":      {hidden(json(lists, `[[1, null], [2], [3]]`), 0b110), lists},
		"hidden, large":     {hidden(json(arrow.LargeListOfField(element(view)), `[["a"], ["b"], ["c", null]]`), 0b101), arrow.LargeListOfField(element(text))},
		"views":             {json(arrow.ListOf(view), `[["a", null], null, ["a text of twenty bytes"]]`), arrow.ListOfField(element(text))},
		"categories":        {wrapped(t, categories, arrow.ListOf(category)), arrow.ListOfField(element(text))},
		"fixed":             {json(fixed, `[[1, 2], null, [null, 4]]`), fixed},
		"fixed, first null": {json(fixed, `[null, [1, 2], [3, 4]]`), fixed},
		"fixed, all null":   {json(fixed, `[null, null, null]`), fixed},
		"fixed in fixed":    {json(arrow.FixedSizeListOfField(1, element(fixed)), `[[[1, 2]], null, [null]]`), arrow.FixedSizeListOfField(1, element(fixed))},
		"fixed in list":     {json(arrow.ListOfField(element(fixed)), `[[[1, 2], null], null, [[3, 4]]]`), arrow.ListOfField(element(fixed))},
		"structs":           {json(structs, `[{"l": [1, 2], "x": 1}, null, {"l": null, "x": 2}]`), structs},
		"hidden in structs": {hidden(json(structs, `[{"l": [1, 2], "x": 1}, {"l": [3], "x": 2}, {"l": [4], "x": 3}]`), 0b101), structs},
		"required fields":   {json(required, `[{"x": 1, "s": "a"}, null, {"x": 2, "s": "b"}]`), required},
		"required, in list": {json(arrow.ListOfField(element(required)), `[[{"x": 1, "s": "a"}, null], null, [{"x": 2, "s": ""}]]`), arrow.ListOfField(element(required))},
		"decimals":          {json(arrow.StructOf(field("d", &arrow.Decimal64Type{Precision: 18})), `[{"d": "1"}, null, {"d": "2"}]`), arrow.StructOf(field("d", &arrow.Decimal128Type{Precision: 18}))},
		"map":               {wrapped(t, categories, arrow.MapOf(types.Int8, category)), arrow.MapOf(types.Int8, text)},
		"hidden map":        {hidden(wrapped(t, json(types.Int8, `[1, 2, 3]`), arrow.MapOf(types.Int8, types.Int8)), 0b110), arrow.MapOf(types.Int8, types.Int8)},
		"structs in list":   {json(arrow.ListOfField(element(structs)), `[[{"l": [1], "x": null}, null], [], [{"l": [], "x": 3}]]`), arrow.ListOfField(element(structs))},
	} {
		t.Run(name, func(t *testing.T) {
			schema := arrow.NewSchema([]arrow.Field{field("c", test.column.DataType()), field("beside", lists)}, nil)
			batch := array.NewRecordBatch(schema, []arrow.Array{test.column, json(lists, `[[1], null, []]`)}, 3)
			batches := []arrow.RecordBatch{batch, batch.NewSlice(1, 3), batch.NewSlice(2, 3)}
			want := array.NewTableFromRecords(schema, batches)
			path := tempPath(t, Parquet)
			writeFile(t, path, schema, batches, WriteOptions{RowGroupRows: 4})
			readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
				require.Equal(t, fmt.Sprint(test.read), fmt.Sprint(got.Schema().Field(0).Type))
				for row := range want.NumRows() {
					for i := range 2 {
						require.Equal(t, jsonText(t, want.Column(i).Data(), row), jsonText(t, got.Column(i).Data(), row), "row %d", row)
					}
				}
			})
		})
	}
}

// jsonText is the value of a row, which has the same text in a dictionary, a view or a fixed-size list.
func jsonText(t *testing.T, column *arrow.Chunked, row int64) string {
	for _, chunk := range column.Chunks() {
		if row < int64(chunk.Len()) {
			one := array.NewSlice(chunk, row, row+1)
			defer one.Release()
			text, err := one.MarshalJSON()
			require.NoError(t, err)
			return strings.ReplaceAll(string(text), "\n", "")
		}
		row -= int64(chunk.Len())
	}
	panic("no such row")
}

// Rows beyond the first part of a batch have their own elements.
func TestFixedSizeListsOfManyRows(t *testing.T) {
	const rows = 1<<14 + 2 // a part that is encoded between two looks at the context, and a few
	dt := arrow.FixedSizeListOfField(1, arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Int32})
	schema := arrow.NewSchema([]arrow.Field{{Name: "l", Type: dt}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i := range rows {
		b.Field(0).(*array.FixedSizeListBuilder).Append(true)
		b.Field(0).(*array.FixedSizeListBuilder).ValueBuilder().(*array.Int32Builder).Append(int32(i))
	}
	batch := b.NewRecordBatch()
	path := tempPath(t, Parquet)
	writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{})
	readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
		tabletest.RequireSameTable(t, array.NewTableFromRecords(schema, []arrow.RecordBatch{batch}), got)
	})
}

// The entries of a dictionary are written to CSV whatever type of text or decimal they have.
func TestDictionariesOfPlainTypesToCSV(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "v", Type: dictionaryOf(arrow.PrimitiveTypes.Uint32, arrow.BinaryTypes.StringView), Nullable: true},
		{Name: "d", Type: dictionaryOf(arrow.PrimitiveTypes.Int8, &arrow.Decimal32Type{Precision: 4, Scale: 1}), Nullable: true},
	}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{
		dictionaryFromJSON(t, schema.Field(0).Type.(*arrow.DictionaryType), `["a text of twenty bytes", null]`, 0, 1, -1),
		dictionaryFromJSON(t, schema.Field(1).Type.(*arrow.DictionaryType), `["1.5", "2.0"]`, 1, 0, -1),
	}, 3)
	path := tempPath(t, CSV)
	writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{})
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "v,d\na text of twenty bytes,2.0\n,1.5\n,\n", string(content))
}
