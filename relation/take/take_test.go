package take

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
)

// takeValues has a few values of each type as JSON, with nulls.
var takeValues = []struct {
	dt   arrow.DataType
	json string
}{
	{arrow.FixedWidthTypes.Boolean, `[true, null, false, true, true]`},
	{arrow.PrimitiveTypes.Int8, `[1, null, -3, 4, 127]`},
	{arrow.PrimitiveTypes.Uint16, `[1, null, 3, 4, 65535]`},
	{arrow.FixedWidthTypes.Float16, `[1, null, 3, 4.5, 5]`},
	{arrow.PrimitiveTypes.Float32, `[1.5, null, -3, 4, 5]`},
	{arrow.PrimitiveTypes.Int64, `[1, 2, -3, 4, 5]`},
	{arrow.FixedWidthTypes.Timestamp_us, `["2020-01-01 00:00:00Z", null, "1969-12-31 23:59:59Z", "2020-01-02 00:00:00Z", "2020-01-03 00:00:00Z"]`},
	{arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months":1,"days":2,"nanoseconds":3}, null, {"months":4,"days":5,"nanoseconds":6}, null, {"months":-1,"days":-1,"nanoseconds":-1}]`},
	{&arrow.Decimal128Type{Precision: 38, Scale: 2}, `["1.23", null, "-4.56", "99999999999999999999.99", "0"]`},
	{&arrow.Decimal256Type{Precision: 60, Scale: 0}, `["1", null, "-4", "999999999999999999999999999999", "0"]`},
	{&arrow.FixedSizeBinaryType{ByteWidth: 3}, `["AAAA", null, "AQID", "////", "BAUG"]`},
	{arrow.Null, `[null, null, null, null, null]`},
	{arrow.BinaryTypes.String, `["", null, "ä string longer than twelve bytes", "b", "twelve bytes"]`},
	{arrow.BinaryTypes.LargeString, `["", null, "a string longer than twelve bytes", "b", "c"]`},
	{arrow.BinaryTypes.Binary, `["AAAA", null, "", "/w==", "BAUG"]`},
	{arrow.BinaryTypes.LargeBinary, `["AAAA", null, "", "/w==", "BAUG"]`},
	{arrow.BinaryTypes.StringView, `["", null, "a string longer than twelve bytes", "thirteen chars", "twelve bytes"]`},
	{arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1, null, 3], null, [], [4], [5, 6]]`},
	{arrow.LargeListOf(arrow.BinaryTypes.String), `[["a", null, "bcd"], null, [], ["e"], ["f", "g"]]`},
	{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16), `[[1, 2], null, [3, null], [5, 6], [7, 8]]`},
	{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8),
		`[[{"key":"a","value":1}], null, [], [{"key":"b","value":null},{"key":"c","value":3}], [{"key":"d","value":4}]]`},
	{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "b", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}),
		`[{"a":1,"b":["x"]}, null, {"a":null,"b":[]}, {"a":4,"b":null}, {"a":5,"b":["y",null]}]`},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		`["a", null, "b", "a", "c"]`},
	{arrow.ListViewOf(arrow.PrimitiveTypes.Int32), `[[1, null, 3], null, [], [4], [5, 6]]`},
	{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), `["a", "a", null, "b", "b"]`},
	{extensions.NewUUIDType(), `["00000000-0000-0000-0000-000000000001", null, "00000000-0000-0000-0000-0000000000ff", "10000000-0000-0000-0000-000000000001", "f0000000-0000-0000-0000-000000000001"]`},
}

// slowTake is the oracle: it gathers each row separately and concatenates them.
func slowTake(t require.TestingT, column *arrow.Chunked, ids []uint32) arrow.Array {
	if len(ids) == 0 {
		return array.NewBuilder(memory.DefaultAllocator, column.DataType()).NewArray()
	}
	rows := make([]arrow.Array, len(ids))
	for i, id := range ids {
		slice := array.NewChunkedSlice(column, int64(id), int64(id)+1)
		for _, chunk := range slice.Chunks() {
			if chunk.Len() == 1 {
				rows[i] = chunk
			}
		}
	}
	joined, err := array.Concatenate(rows, memory.DefaultAllocator)
	require.NoError(t, err)
	return joined
}

// chunkedOf cuts copies of an array into a column of several chunks, some of them slices with offsets or empty.
func chunkedOf(values arrow.Array, cuts ...int) *arrow.Chunked {
	var chunks []arrow.Array
	for _, cut := range cuts {
		cut = min(cut, values.Len())
		chunks = append(chunks, array.NewSlice(values, 0, int64(cut)),
			array.NewSlice(values, int64(cut), int64(values.Len())))
	}
	return arrow.NewChunked(values.DataType(), append(chunks, values))
}

func TestEveryType(t *testing.T) {
	for _, c := range takeValues {
		t.Run(c.dt.String(), func(t *testing.T) {
			values, _, err := array.FromJSON(memory.DefaultAllocator, c.dt, strings.NewReader(c.json))
			require.NoError(t, err)
			for _, column := range []*arrow.Chunked{chunkedOf(values), chunkedOf(array.NewSlice(values, 2, 5)),
				chunkedOf(values, 2, 0, 5, 3)} {
				rapid.Check(t, func(t *rapid.T) {
					ids := rapid.SliceOfN(rapid.Uint32Range(0, uint32(column.Len()-1)), 0, 200).Draw(t, "ids")
					alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
					got, err := Rows(context.Background(), column, ids, alloc)
					require.NoError(t, err)
					require.True(t, arrow.TypeEqual(c.dt, got.DataType()))
					want := slowTake(t, column, ids)
					require.True(t, array.Equal(want, got), "want %v, got %v", want, got)
					require.Equal(t, want.NullN(), got.NullN())
					got.Release()
					require.Zero(t, alloc.CurrentAlloc())
				})
			}
			// The oracle must see a wrong row.
			column := chunkedOf(values, 2)
			got, err := Rows(context.Background(), column, []uint32{0, 3}, memory.DefaultAllocator)
			require.NoError(t, err)
			if c.dt.ID() != arrow.NULL {
				assert.False(t, array.Equal(slowTake(t, column, []uint32{0, 2}), got))
			}
		})
	}
}

// TestNoRows: a column without chunks, also for types without a builder in arrow-go.
func TestNoRows(t *testing.T) {
	dictionary := func(of arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: of}
	}
	nanos := dictionary(arrow.FixedWidthTypes.MonthDayNanoInterval)
	fields := []arrow.Field{{Name: "a", Type: arrow.Null, Nullable: true}, {Name: "b", Type: nanos, Nullable: true}}
	types := []arrow.DataType{nanos, arrow.ListOf(nanos), arrow.StructOf(fields...),
		arrow.SparseUnionOf(fields, []arrow.UnionTypeCode{0, 1}),
		arrow.DenseUnionOf(fields, []arrow.UnionTypeCode{0, 1})}
	for _, c := range takeValues {
		types = append(types, c.dt)
	}
	for _, dt := range types {
		alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
		got, err := Rows(context.Background(), arrow.NewChunked(dt, nil), nil, alloc)
		require.NoError(t, err, dt)
		require.True(t, arrow.TypeEqual(dt, got.DataType()), dt)
		require.Zero(t, got.Len())
		require.NotEmpty(t, got.String()) // which reads it
		got.Release()
		alloc.AssertSize(t, 0)
	}
}

func TestUnions(t *testing.T) {
	codes := []arrow.UnionTypeCode{0, 1}
	fields := []arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}
	sparse := array.NewSparseUnionBuilder(memory.DefaultAllocator, arrow.SparseUnionOf(fields, codes))
	dense := array.NewDenseUnionBuilder(memory.DefaultAllocator, arrow.DenseUnionOf(fields, codes))
	for i := range 5 {
		sparse.Append(codes[i%2])
		dense.Append(codes[i%2])
		for _, children := range [][]array.Builder{{sparse.Child(0), sparse.Child(1)},
			{dense.Child(0), dense.Child(1)}} {
			if i%2 == 0 {
				children[0].(*array.Int32Builder).Append(int32(i))
			} else {
				children[1].(*array.StringBuilder).Append(fmt.Sprint("s", i))
			}
		}
		sparse.Child(1 - i%2).AppendEmptyValue()
	}
	for _, values := range []arrow.Array{sparse.NewArray(), dense.NewArray()} {
		var want []string
		column := chunkedOf(values, 2, 3)
		for _, chunk := range column.Chunks() {
			for i := range chunk.Len() {
				want = append(want, chunk.ValueStr(i))
			}
		}
		require.NotEqual(t, want[0], want[1])
		for _, ids := range [][]uint32{{}, {0, 1, 2, 3}, {14, 3, 3, 9, 8, 7, 0}} {
			alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
			got, err := Rows(context.Background(), column, ids, alloc)
			require.NoError(t, err)
			require.Equal(t, len(ids), got.Len())
			for i, id := range ids {
				assert.Equal(t, want[id], got.ValueStr(i))
			}
			got.Release()
			alloc.AssertSize(t, 0)
		}
	}
	builder := array.NewDenseUnionBuilder(memory.DefaultAllocator, arrow.DenseUnionOf(fields, codes))
	builder.Append(0)
	builder.Child(0).(*array.Int32Builder).Append(1)
	good := builder.NewArray().Data()
	for name, bad := range map[string][]byte{"type code": {9, 0, 0, 0, 0}, "negative type code": {0xff, 0, 0, 0, 0},
		"offset": {0, 1, 0, 0, 0}} {
		data := array.NewData(good.DataType(), 1, []*memory.Buffer{nil, memory.NewBufferBytes(bad[:1]),
			memory.NewBufferBytes(bad[1:])}, good.Children(), 0, 0)
		_, err := gatherRaw(data, []uint32{0}, memory.DefaultAllocator)
		assert.ErrorIs(t, err, backend.ErrInvalidInput, name)
	}
}

func TestAcrossBlocks(t *testing.T) {
	const rows = 2*relation.BlockRows + 1234
	builder := array.NewStringBuilder(memory.DefaultAllocator)
	numbers := array.NewInt32Builder(memory.DefaultAllocator)
	for i := range rows {
		if i%1001 == 5 {
			builder.AppendNull()
			numbers.AppendNull()
			continue
		}
		builder.Append(strings.Repeat("x", i%7) + fmt.Sprint(i))
		numbers.Append(int32(i))
	}
	ids := make([]uint32, rows)
	for i := range ids {
		ids[i] = uint32(i*7919) % rows
	}
	for _, values := range []arrow.Array{builder.NewArray(), numbers.NewArray()} {
		chunked := arrow.NewChunked(values.DataType(),
			[]arrow.Array{array.NewSlice(values, 0, 1), array.NewSlice(values, 1, 70000),
				array.NewSlice(values, 70000, rows)})
		alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
		got, err := Rows(context.Background(), chunked, ids, alloc)
		require.NoError(t, err)
		for i, id := range ids {
			require.Equal(t, values.ValueStr(int(id)), got.ValueStr(i), "row %d", i)
		}
		got.Release()
		alloc.AssertSize(t, 0)
	}
}

// TestDifferingDictionaries gathers from chunks that use different indices for the same values.
// manyBytes returns a column of one row of n bytes, with 32-bit offsets.
func manyBytes(n int) *arrow.Chunked {
	offsets := []int32{0, int32(n)}
	data := array.NewData(arrow.BinaryTypes.Binary, 1,
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes(offsets)),
			memory.NewBufferBytes(make([]byte, n))}, nil, 0, 0)
	return arrow.NewChunked(data.DataType(), []arrow.Array{array.MakeFromData(data)})
}

// int8s returns zeros.
func int8s(n int) arrow.Array {
	b := array.NewInt8Builder(memory.DefaultAllocator)
	b.AppendValues(make([]int8, n), nil)
	return b.NewArray()
}

func TestTellsWhenTheBatchIsTooLarge(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	ids := make([]uint32, 1<<11) // times 1 MiB: 2^31, one more than offsets can count
	_, err := Rows(context.Background(), manyBytes(1<<20), ids, alloc)
	require.ErrorIs(t, err, relation.ErrBatchTooLarge)
	assert.ErrorIs(t, err, backend.ErrLimit)
	assert.ErrorContains(t, err, "2147483648")
	alloc.AssertSize(t, 0)

	// Within lists, the elements are counted the same way, before they are gathered.
	elements := arrow.NewChunked(arrow.PrimitiveTypes.Int8,
		[]arrow.Array{int8s(1 << 10)})
	offsets := []int32{0, 1 << 10}
	data := array.NewData(arrow.ListOf(arrow.PrimitiveTypes.Int8), 1,
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes(offsets))},
		[]arrow.ArrayData{elements.Chunk(0).Data()}, 0, 0)
	lists := arrow.NewChunked(data.DataType(), []arrow.Array{array.MakeFromData(data)})
	_, err = Rows(context.Background(), lists, make([]uint32, 1<<21), alloc)
	require.ErrorIs(t, err, relation.ErrBatchTooLarge)
	alloc.AssertSize(t, 0)
}

func TestErrors(t *testing.T) {
	ctx, alloc := context.Background(), memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	column := arrow.NewChunked(arrow.PrimitiveTypes.Int8,
		[]arrow.Array{array.NewSlice(int8s(5), 2, 5)})
	_, err := Rows(ctx, column, []uint32{0, 3}, alloc)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	assert.ErrorContains(t, err, "id 1 is row 3 of a column of 3 rows")
	_, err = Rows(ctx, arrow.NewChunked(arrow.PrimitiveTypes.Int8, nil), []uint32{0}, alloc)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	empty, err := Rows(ctx, arrow.NewChunked(arrow.PrimitiveTypes.Int8, nil), nil, alloc)
	require.NoError(t, err)
	assert.Zero(t, empty.Len())
	empty.Release()

	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Rows(ended, column, []uint32{0}, alloc)
	assert.ErrorIs(t, err, backend.ErrCancelled)

	for name, offsets := range map[string][]int32{"beyond the data": {0, 9}, "backwards": {3, 1}, "negative": {-1, 1},
		"missing": {0}, "backwards in between": {0, 3, 1, 4}, "negative in between": {0, -2, 1},
		"beyond all numbers": {1, math.MaxInt32, math.MinInt32 + 4, 2}} {
		rows := max(1, len(offsets)-1)
		data := array.NewData(arrow.BinaryTypes.String, rows,
			[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes(offsets)),
				memory.NewBufferBytes([]byte("abcd"))}, nil, 0, 0)
		var run, scattered []uint32 // all rows, in order and backwards, the first one twice
		for row := range uint32(rows) {
			run, scattered = append(run, row), append(scattered, uint32(rows)-1-row)
		}
		for _, ids := range [][]uint32{run, append(scattered, 0)} {
			_, err := gatherRaw(data, ids, alloc)
			assert.ErrorIs(t, err, backend.ErrInvalidInput, "%s: %v", name, ids)
		}
	}
	header := arrow.ViewHeader{}
	header.SetString("thirteen chars")
	for name, at := range map[string][2]int32{"buffer": {1, 0}, "offset": {0, 1}, "negative": {0, math.MinInt32}} {
		header.SetIndexOffset(at[0], at[1])
		data := array.NewData(arrow.BinaryTypes.StringView, 1,
			[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes([]arrow.ViewHeader{header})),
				memory.NewBufferBytes([]byte("thirteen chars"))}, nil, 0, 0)
		_, err := gatherRaw(data, []uint32{0}, alloc)
		assert.ErrorIs(t, err, backend.ErrInvalidInput, name)
	}
}

// gatherRaw gathers from array data as it may come from outside, without making an array of it, which could panic.
func gatherRaw(data arrow.ArrayData, ids []uint32, alloc memory.Allocator) (arrow.ArrayData, error) {
	return gather(context.Background(), data.DataType(), []arrow.ArrayData{data}, ids, alloc)
}

func TestFindsRowsInUnevenChunks(t *testing.T) {
	var chunks []arrow.Array
	var want []uint64
	for c := range 300 {
		rows := 1
		if c == 7 {
			rows = 100_000
		}
		b := array.NewUint64Builder(memory.DefaultAllocator)
		for range rows {
			b.Append(uint64(len(want)))
			want = append(want, uint64(len(want)))
		}
		chunks = append(chunks, b.NewArray())
	}
	ids := make([]uint32, len(want))
	for i := range ids {
		ids[i] = uint32(i)
	}
	got, err := Rows(context.Background(), arrow.NewChunked(arrow.PrimitiveTypes.Uint64, chunks), ids,
		memory.DefaultAllocator)
	require.NoError(t, err)
	require.Equal(t, want, got.(*array.Uint64).Uint64Values())
}

// TestRuns: consecutive rows are copied together, up to the end of their chunk; rows that only look consecutive,
// or repeat, are not.
func TestRuns(t *testing.T) {
	texts, numbers := array.NewStringBuilder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	for i := range 1000 {
		texts.Append(strings.Repeat(string(rune('a'+i%26)), i%7) + strconv.Itoa(i))
		numbers.Append(int64(i) * 3)
	}
	var ids []uint32
	run := func(from, n int) {
		for i := range n {
			ids = append(ids, uint32(from+i))
		}
	}
	run(0, 1000)
	for _, n := range []int{1, 63, 64, 65, 127, 128, 200} {
		run(300-n/2, n) // across the border of two chunks
		run(700, n)
		ids = append(ids, 5, 5, 5, 4, 3)
	}
	for i := range 64 { // its first and last differ by 63
		ids = append(ids, 100+uint32(i^1&(i>>1)|i&62))
	}
	for range 64 {
		ids = append(ids, 17)
	}
	for _, values := range []arrow.Array{texts.NewArray(), numbers.NewArray()} {
		for _, cuts := range [][]int{{}, {300}, {1, 64, 300, 301, 990}} {
			column := chunkedOf(values, cuts...)
			got, err := Rows(t.Context(), column, ids, memory.DefaultAllocator)
			require.NoError(t, err)
			require.True(t, array.Equal(slowTake(t, column, ids), got), "%s, %v", values.DataType(), cuts)
		}
	}
}

// TestFewRows: gathering a few rows is cheap: it allocates no working memory of a block on each call.
func TestFewRows(t *testing.T) {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(make([]int32, 1000), nil)
	values := b.NewArray()
	defer values.Release()
	column := arrow.NewChunked(values.DataType(), []arrow.Array{values})
	defer column.Release()
	const calls = 500
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		taken, err := Rows(t.Context(), column, []uint32{999, 0, 7}, memory.DefaultAllocator)
		require.NoError(t, err)
		taken.Release()
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(calls*48<<10))
}

// TestFromManyChunks: a gather of rows that are near one another does no work for each of many chunks, and gives
// the same as one from all of them; dictionaries of batches stay the same.
func TestFromManyChunks(t *testing.T) {
	devicetest.SkipRace(t)
	const rows = 3 * manyChunks
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "number", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int16)},
		{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String}},
	}, nil))
	defer b.Release()
	for i := range rows {
		if i%7 == 3 {
			for _, f := range b.Fields() {
				f.AppendNull()
			}
			continue
		}
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(strconv.Itoa(i))
		b.Field(2).(*array.ListBuilder).Append(true)
		b.Field(2).(*array.ListBuilder).ValueBuilder().(*array.Int16Builder).AppendValues(make([]int16, i%3), nil)
		require.NoError(t, b.Field(3).(*array.BinaryDictionaryBuilder).AppendString(strconv.Itoa(i%5)))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	const calls = 20
	for i, values := range batch.Columns() {
		chunks := make([]arrow.Array, rows)
		for row := range chunks {
			chunks[row] = array.NewSlice(values, int64(row), int64(row)+1)
		}
		column := arrow.NewChunked(values.DataType(), chunks)
		for _, ids := range [][]uint32{{2000, 2003, 1999, 2003}, {0, 5}, {rows - 1}, {rows - 1, 0, 1500}} {
			got, err := Rows(t.Context(), column, ids, memory.DefaultAllocator)
			require.NoError(t, err)
			require.True(t, array.Equal(slowTake(t, column, ids), got), "%s %v: %s", values.DataType(), ids, got)
			got, err = Nullable(t.Context(), column, append(ids, NoRow, ids[0]), memory.DefaultAllocator)
			require.NoError(t, err)
			for at, id := range append(ids, NoRow, ids[0]) {
				require.Equal(t, id == NoRow || values.IsNull(int(id)), got.IsNull(at))
				require.True(t, got.IsNull(at) || got.ValueStr(at) == values.ValueStr(int(id)))
			}
		}
		if i == 3 {
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			taken, err := Rows(t.Context(), column, []uint32{2000, 2010, 2005}, memory.DefaultAllocator)
			require.NoError(t, err)
			taken.Release()
		}
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(calls*rows*8), values.DataType())
	}
}
