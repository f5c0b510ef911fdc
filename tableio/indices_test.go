package tableio

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// Batches of a stream and row groups have dictionaries of their own, so the indices that are read have 32 bits or more.
func TestShortIndicesAreWidened(t *testing.T) {
	types := arrow.PrimitiveTypes
	for index, want := range map[arrow.DataType]arrow.DataType{
		types.Int8: types.Int32, types.Uint8: types.Int32, types.Int16: types.Int32, types.Uint16: types.Int32,
		types.Uint32: types.Uint32, types.Int64: types.Int64,
	} {
		dt, wide := dictionaryOf(index, arrow.BinaryTypes.String), dictionaryOf(want, arrow.BinaryTypes.String)
		flat := arrow.NewSchema([]arrow.Field{{Name: "flat", Type: dt, Nullable: true}}, nil)
		field := func(name string, dt arrow.DataType) arrow.Field {
			return arrow.Field{Name: name, Type: dt, Nullable: true}
		}
		nested := func(dt arrow.DataType) []arrow.Field {
			return []arrow.Field{
				field("flat", dt), field("list", arrow.ListOf(dt)), field("large", arrow.LargeListOf(dt)),
				field("fixed", arrow.FixedSizeListOf(1, dt)), field("struct", arrow.StructOf(field("x", dt))),
				field("map", arrow.MapOf(types.Int8, dt)), field("number", types.Int8),
			}
		}
		deep := arrow.NewSchema(nested(dt), nil)
		var flats, deeps []arrow.RecordBatch
		for _, entries := range []string{`["a","b"]`, `["b","c"]`} {
			values := dictionaryFromJSON(t, dt, entries, 1, -1, 0)
			flats = append(flats, array.NewRecordBatch(flat, []arrow.Array{values}, 3))
			columns := make([]arrow.Array, deep.NumFields())
			for i, field := range deep.Fields() {
				columns[i] = wrapped(t, values, field.Type)
			}
			deeps = append(deeps, array.NewRecordBatch(deep, columns, 3).NewSlice(1, 3))
		}
		for format, table := range map[Format]arrow.Table{
			Parquet:     array.NewTableFromRecords(flat, flats),
			ArrowStream: array.NewTableFromRecords(deep, deeps),
		} {
			path := tempPath(t, format)
			writeFile(t, path, table.Schema(), map[Format][]arrow.RecordBatch{Parquet: flats, ArrowStream: deeps}[format],
				WriteOptions{})
			readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
				require.Equal(t, arrow.NewSchema(nested(wide)[:got.NumCols()], nil).String(), got.Schema().String())
				for i := range int(got.NumCols()) {
					for row := range got.NumRows() {
						require.Equal(t, chunkedText(table.Column(i).Data(), row), chunkedText(got.Column(i).Data(), row))
					}
				}
			})
		}
	}
}

// wrapped makes an array of three rows of a type with the three values in it.
func wrapped(t *testing.T, values arrow.Array, dt arrow.DataType) arrow.Array {
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 1, 1, 3}))
	large := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes([]int64{0, 1, 1, 3}))
	child := values.Data()
	var buffers []*memory.Buffer
	switch dt := dt.(type) {
	case *arrow.ListType:
		buffers = []*memory.Buffer{nil, offsets}
	case *arrow.LargeListType:
		buffers = []*memory.Buffer{nil, large}
	case *arrow.MapType:
		buffers = []*memory.Buffer{nil, offsets}
		keys, _, err := array.FromJSON(memory.NewGoAllocator(), dt.KeyType(), strings.NewReader(`[1, 2, 3]`))
		require.NoError(t, err)
		child = array.NewData(dt.Elem(), 3, []*memory.Buffer{nil}, []arrow.ArrayData{keys.Data(), child}, 0, 0)
	case *arrow.FixedSizeListType, *arrow.StructType:
		buffers = []*memory.Buffer{nil}
	default:
		if arrow.TypeEqual(dt, values.DataType()) {
			return values
		}
		numbers, _, err := array.FromJSON(memory.NewGoAllocator(), dt, strings.NewReader(`[1, 2, 3]`))
		require.NoError(t, err)
		return numbers
	}
	return array.MakeFromData(array.NewData(dt, 3, buffers, []arrow.ArrayData{child}, 0, 0))
}
