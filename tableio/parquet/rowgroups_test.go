package parquet

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// The bytes of rows are those that they use, not the bytes of buffers that they share.
func TestRowBytes(t *testing.T) {
	types := arrow.PrimitiveTypes
	dictionary := func(values arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: types.Int8, ValueType: values}
	}
	for _, test := range []struct {
		dt    arrow.DataType
		json  string
		bytes int64 // of rows 1 and 2
	}{
		{types.Int64, `[1, 2, 3, 4]`, 16},
		{types.Int64, `[1, null, 3, 4]`, 17},
		{arrow.FixedWidthTypes.Boolean, `[true, true, true, true]`, 1},
		{&arrow.FixedSizeBinaryType{ByteWidth: 3}, `["AAAA", "AAAA", "AAAA", "AAAA"]`, 6},
		{arrow.BinaryTypes.String, `["abcdefghi", "ab", "c", "xyz"]`, 8 + 3},
		{arrow.BinaryTypes.LargeString, `["abcdefghi", "ab", "c", "xyz"]`, 16 + 3},
		{arrow.BinaryTypes.StringView, `["a", "twenty bytes of text", "c", "another text of 23 bytes"]`, 32 + 20},
		{arrow.ListOf(types.Int16), `[[1, 2, 3, 4], [5], [6, 7], [8, 9]]`, 8 + 6},
		{arrow.LargeListOf(types.Int16), `[[1, 2, 3, 4], [5], [6, 7], [8, 9]]`, 16 + 6},
		{arrow.FixedSizeListOf(3, types.Int16), `[[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1]]`, 12},
		{arrow.StructOf(arrow.Field{Name: "a", Type: types.Int8}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String}),
			`[{"a": 1, "b": "xxxxxx"}, {"a": 1, "b": "y"}, {"a": 1, "b": ""}, {"a": 1, "b": "z"}]`, 2 + 8 + 1},
		{dictionary(types.Int64), `[1, 1, 2, 3]`, 2 + 16},
		{dictionary(arrow.BinaryTypes.String), `["aaa", "aaa", "aaa", "b"]`, 2 + 2*(4+3)},
		{arrow.Null, `[null, null, null, null]`, 1},
	} {
		values, _, err := array.FromJSON(memory.NewGoAllocator(), test.dt, strings.NewReader(test.json))
		require.NoError(t, err, test.dt)
		require.Equal(t, test.bytes, rowBytes(values.Data(), 1, 3), test.dt)
		require.Equal(t, test.bytes, rowBytes(array.NewSlice(values, 1, 3).Data(), 0, 2), "%v sliced", test.dt)
	}
}

// Without a limit, row groups of long rows end at 256 MiB. These are views of one text, which the file has once.
func TestRowGroupsOfLongRows(t *testing.T) {
	const rows, length = 300, 1 << 20
	var header arrow.ViewHeader
	text := bytes.Repeat([]byte("0123456789abcdef"), length/16)
	header.SetBytes(text)
	headers := make([]arrow.ViewHeader, rows)
	for i := range headers {
		headers[i] = header
	}
	data := array.NewData(arrow.BinaryTypes.BinaryView, rows,
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.ViewHeaderTraits.CastToBytes(headers)), memory.NewBufferBytes(text)},
		nil, 0, 0)
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: data.DataType()}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{array.MakeFromData(data)}, rows)
	groups := newRowGroups(Options{})
	var cut []int64
	keep := func(group *rowGroup) error { cut = append(cut, group.rows); return nil }
	require.NoError(t, groups.add(batch, keep))
	require.NoError(t, groups.end(keep))
	require.Equal(t, []int64{255, 45}, cut)
}
