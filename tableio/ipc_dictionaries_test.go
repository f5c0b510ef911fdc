package tableio

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func dictionaryOf(index, value arrow.DataType) *arrow.DictionaryType {
	return &arrow.DictionaryType{IndexType: index, ValueType: value}
}

// dictionaryFromJSON makes an array of the dictionary type; negative indices are NULL.
func dictionaryFromJSON(t *testing.T, dt *arrow.DictionaryType, entries string, indices ...int) arrow.Array {
	values, _, err := array.FromJSON(memory.NewGoAllocator(), dt.ValueType, strings.NewReader(entries))
	require.NoError(t, err)
	b := array.NewBuilder(memory.NewGoAllocator(), dt.IndexType)
	for _, index := range indices {
		if index < 0 {
			b.AppendNull()
		} else {
			require.NoError(t, b.AppendValueFromString(fmt.Sprint(index)))
		}
	}
	return array.NewDictionaryArray(dt, b.NewArray(), values)
}

// An Arrow file has one dictionary for a column, whatever dictionaries its batches come with.
func TestArrowFileUnitesDictionaries(t *testing.T) {
	types := arrow.PrimitiveTypes
	list := func(elements arrow.Array, offsets ...int32) arrow.Array {
		data := array.NewData(arrow.ListOf(elements.DataType()), len(offsets)-1,
			[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))},
			[]arrow.ArrayData{elements.Data()}, 0, 0)
		return array.MakeFromData(data)
	}
	for name, test := range map[string]struct {
		dt      *arrow.DictionaryType
		entries [3]string
		united  int // entries
	}{
		"texts":    {dictionaryOf(types.Int8, arrow.BinaryTypes.String), [3]string{`["a","b",null]`, `["c","b","a"]`, `["b"]`}, 4},
		"views":    {dictionaryOf(types.Uint16, arrow.BinaryTypes.StringView), [3]string{`["a","b"]`, `["a longer text, not inline","b","a"]`, `["b"]`}, 3},
		"binary":   {dictionaryOf(types.Int64, arrow.BinaryTypes.LargeBinary), [3]string{`["YQ==","Yg=="]`, `["Yw==","Yg==","YQ=="]`, `["Yg=="]`}, 3},
		"numbers":  {dictionaryOf(types.Int32, types.Int16), [3]string{`[1,2]`, `[3,2,1]`, `[2]`}, 3},
		"decimals": {dictionaryOf(types.Uint64, &arrow.Decimal128Type{Precision: 9, Scale: 1}), [3]string{`["1.0","2.0"]`, `["3.5","2.0","1.0"]`, `["2.0"]`}, 3},
		"bools":    {dictionaryOf(types.Int8, arrow.FixedWidthTypes.Boolean), [3]string{`[true,null]`, `[null,true,false]`, `[false]`}, 3},
		"fixed":    {dictionaryOf(types.Uint32, &arrow.FixedSizeBinaryType{ByteWidth: 1}), [3]string{`["YQ==","Yg=="]`, `["Yw==","Yg==","YQ=="]`, `["Yg=="]`}, 3},
		"structs": {dictionaryOf(types.Int32, arrow.StructOf(arrow.Field{Name: "x", Type: types.Int8, Nullable: true})),
			[3]string{`[{"x":1},{"x":2}]`, `[{"x":3},{"x":2},{"x":1}]`, `[{"x":2}]`}, 6}, // not compared
		"none": {dictionaryOf(types.Int32, arrow.BinaryTypes.String), [3]string{`[]`, `[]`, `[]`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			indices := [3][]int{{1, -1, 0, 0, 1}, {2, 1, 0, -1, 0}, {0, 0, -1, 0, 0}}
			if test.united == 0 {
				indices = [3][]int{{-1, -1, -1, -1, -1}, {-1, -1, -1, -1, -1}, {-1, -1, -1, -1, -1}}
			}
			schema := arrow.NewSchema([]arrow.Field{
				{Name: "flat", Type: test.dt, Nullable: true},
				{Name: "in lists", Type: arrow.ListOf(test.dt), Nullable: true},
				{Name: "no dictionary", Type: types.Int32},
			}, nil)
			numbers := array.NewInt32Builder(memory.NewGoAllocator())
			numbers.AppendValues([]int32{1, 2, 3, 4, 5}, nil)
			plain := numbers.NewArray()
			var batches []arrow.RecordBatch
			for i, entries := range test.entries {
				flat := dictionaryFromJSON(t, test.dt, entries, indices[i]...)
				nested := list(dictionaryFromJSON(t, test.dt, entries, indices[i]...), 0, 2, 2, 3, 5, 5)
				batch := array.NewRecordBatch(schema, []arrow.Array{flat, nested, plain}, 5)
				batches = append(batches, batch, batch.NewSlice(1, 5))
			}
			want := array.NewTableFromRecords(schema, batches)
			for _, compression := range []string{"none", "zstd"} {
				path := tempPath(t, ArrowFile)
				writeFile(t, path, schema, batches, WriteOptions{Compression: compression})
				readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
					requireSameTexts(t, want, got)
					for _, chunk := range got.Column(0).Data().Chunks() {
						require.Equal(t, test.united, chunk.(*array.Dictionary).Dictionary().Len())
					}
				})
				readFile(t, path, []string{"in lists"}, ReadOptions{}, func(got arrow.Table) { require.EqualValues(t, 27, got.NumRows()) })
			}
		})
	}
}

// requireSameTexts compares types and values, whatever the dictionaries are.
func requireSameTexts(t *testing.T, want, got arrow.Table) {
	t.Helper()
	require.Equal(t, want.Schema().String(), got.Schema().String())
	require.Equal(t, want.NumRows(), got.NumRows())
	for i := range int(want.NumCols()) {
		for row := range want.NumRows() {
			require.Equal(t, chunkedText(want.Column(i).Data(), row), chunkedText(got.Column(i).Data(), row), "%d %d", i, row)
		}
	}
}

func TestArrowFileWithoutBatchesHasDictionaries(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dictionaryOf(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String)}}, nil)
	path := tempPath(t, ArrowFile)
	writeFile(t, path, schema, nil, WriteOptions{})
	readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
		require.Equal(t, schema.String(), got.Schema().String())
		require.Zero(t, got.NumRows())
	})
}

// More entries than the indices count are refused by the name of the column.
func TestArrowFileRefusesTooManyEntries(t *testing.T) {
	dt := dictionaryOf(arrow.PrimitiveTypes.Int8, &arrow.Decimal128Type{Precision: 38})
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt}}, nil)
	w, err := Create(tempPath(t, ArrowFile), schema, WriteOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Abort()) }()
	for _, first := range []int64{0, 100} {
		values := array.NewDecimal128Builder(memory.NewGoAllocator(), dt.ValueType.(*arrow.Decimal128Type))
		for i := range int64(100) {
			values.Append(decimal128.FromI64(math.MaxInt64 - first - i))
		}
		index := array.NewInt8Builder(memory.NewGoAllocator())
		index.Append(99)
		column := array.NewDictionaryArray(dt, index.NewArray(), values.NewArray())
		err = w.Write(t.Context(), array.NewRecordBatch(schema, []arrow.Array{column}, 1))
		if first == 0 {
			require.NoError(t, err)
		}
	}
	require.ErrorIs(t, err, ErrOutput)
	require.ErrorContains(t, err, `column "d": its dictionaries have 200 entries together, an index of type int8 counts 128`)
}
