package columnchunk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
)

// pageList is a page reader of pages that a test has made.
type pageList struct {
	file.PageReader
	pages []file.Page
	at    int
	err   error
}

func (p *pageList) Next() bool      { p.at++; return p.at <= len(p.pages) }
func (p *pageList) Page() file.Page { return p.pages[p.at-1] }
func (p *pageList) Err() error      { return p.err }

func pageV1(values int, encoding parquet.Encoding, data ...[]byte) file.Page {
	all := joined(data)
	return file.NewDataPageV1(memory.NewBufferBytes(all), int32(values), encoding, parquet.Encodings.RLE,
		parquet.Encodings.RLE, int32(len(all)))
}

func pageV2(values, levelBytes int, encoding parquet.Encoding, data ...[]byte) file.Page {
	all := joined(data)
	return file.NewDataPageV2(memory.NewBufferBytes(all), int32(values), 0, int32(values), encoding, int32(levelBytes),
		0, int32(len(all)), false)
}

func dictionaryPage(values int, data ...[]byte) file.Page {
	return file.NewDictionaryPage(memory.NewBufferBytes(joined(data)), int32(values), parquet.Encodings.Plain)
}

func joined(parts [][]byte) (all []byte) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// prefixed are values with their lengths.
func prefixed(values ...string) (out []byte) {
	for _, value := range values {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(value))), value...)
	}
	return out
}

func numbers(values ...int32) (out []byte) {
	for _, value := range values {
		out = binary.LittleEndian.AppendUint32(out, uint32(value))
	}
	return out
}

func testColumn(t testing.TB, dt arrow.DataType, nullable bool, kind parquet.Type, logical schema.LogicalType,
	width int) Column {
	repetition, level := parquet.Repetitions.Required, int16(0)
	if nullable {
		repetition, level = parquet.Repetitions.Optional, 1
	}
	node, err := schema.NewPrimitiveNodeLogical("price", repetition, logical, kind, width, -1)
	require.NoError(t, err)
	return Column{Field: arrow.Field{Name: "price", Type: dt, Nullable: nullable}, Leaf: schema.NewColumn(node, level, 0)}
}

func int32Column(t testing.TB, nullable bool) Column {
	return testColumn(t, arrow.PrimitiveTypes.Int32, nullable, parquet.Types.Int32, schema.NoLogicalType{}, 0)
}

func textColumn(t testing.TB, dt arrow.DataType) Column {
	return testColumn(t, dt, true, parquet.Types.ByteArray, schema.StringLogicalType{}, 0)
}

func decodePages(t testing.TB, column Column, rows int, pages ...file.Page) (arrow.Array, error) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	var d Decoder
	out, err := decodeChunk(context.Background(), &d, column, int64(rows), &pageList{pages: pages}, mem)
	if err != nil {
		mem.AssertSize(t, 0)
	}
	return out, err
}

var (
	plain = parquet.Encodings.Plain
	rle   = parquet.Encodings.RLEDict
)

func TestDecodePackedLevels(t *testing.T) {
	page := file.NewDataPageV1(memory.NewBufferBytes(append([]byte{0b10100000, 0b01000000}, numbers(7, 8, 9)...)), 10,
		plain,
		parquet.Encodings.BitPacked, parquet.Encodings.BitPacked, 0) //nolint:staticcheck // what old programs wrote
	got, err := decodePages(t, int32Column(t, true), 10, page)
	require.NoError(t, err)
	defer got.Release()
	require.Equal(t, "[7 (null) 8 (null) (null) (null) (null) (null) (null) 9]", got.String())
}

func TestDecodeWithoutNullsHasNoBitmap(t *testing.T) {
	got, err := decodePages(t, int32Column(t, true), 3, pageV2(3, 2, plain, []byte{6, 1}, numbers(1, 2, 3)))
	require.NoError(t, err)
	defer got.Release()
	require.Empty(t, got.NullBitmapBytes())
	got, err = decodePages(t, int32Column(t, true), 3, pageV2(3, 2, plain, []byte{3, 7}, numbers(1, 2, 3)))
	require.NoError(t, err)
	defer got.Release()
	require.Empty(t, got.NullBitmapBytes())
}

func TestDecodeNoRows(t *testing.T) {
	cases := decodeCases()
	reader := openFile(t, writeColumns(t, columnsOf(cases, required), false, nil, parquet.WithVersion(parquet.V2_LATEST)))
	for i, c := range cases {
		for _, dt := range append([]arrow.DataType{c.dt}, c.also...) {
			column := Column{Field: arrow.Field{Name: "price", Type: dt}, Leaf: reader.MetaData().Schema.Column(i)}
			got, err := decodePages(t, column, 0)
			require.NoError(t, err, dt)
			require.Zero(t, got.Len())
			require.True(t, arrow.TypeEqual(dt, got.DataType()))
			require.NoError(t, array.ValidateFull(got), dt)
			got.Release()
		}
	}
}

func TestDecodeMixedPages(t *testing.T) {
	pages := []file.Page{
		dictionaryPage(2, prefixed("ship", "rail")),
		pageV2(3, 2, rle, []byte{6, 1}, []byte{1, 3, 0b010}),
		pageV2(4, 2, plain, []byte{3, 0b1101}, prefixed("air", "rail", "air")),
	}
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.StringView,
		dictionaryOf(ints.Int8, arrow.BinaryTypes.LargeString)} {
		got, err := decodePages(t, textColumn(t, dt), 7, pages...)
		require.NoError(t, err)
		require.NoError(t, array.ValidateFull(got))
		text := ""
		for i := range got.Len() {
			text += got.ValueStr(i) + " "
		}
		require.Equal(t, "ship rail ship air (null) rail air ", text)
		if dictionary, ok := got.(*array.Dictionary); ok {
			require.Equal(t, `["ship" "rail" "air"]`, dictionary.Dictionary().String())
		}
		got.Release()
	}
}

func TestDecodeDecimalsOfAnyLength(t *testing.T) {
	node := schema.NewDecimalLogicalType(9, 0)
	values := []byte("\x01\x00\x00\x00\xff\x02\x00\x00\x00\x01\x00\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05")
	for _, dt := range []arrow.DataType{&arrow.Decimal32Type{Precision: 9}, &arrow.Decimal64Type{Precision: 9},
		&arrow.Decimal128Type{Precision: 9}, &arrow.Decimal256Type{Precision: 9}} {
		got, err := decodePages(t, testColumn(t, dt, false, parquet.Types.ByteArray, node, 0), 3, pageV1(3, plain, values))
		require.NoError(t, err)
		require.Equal(t, []string{"-1", "256", "5"}, []string{got.ValueStr(0), got.ValueStr(1), got.ValueStr(2)}, dt)
		got.Release()
	}
	r := rand.New(rand.NewPCG(10, 10))
	for from := 1; from <= 32; from++ {
		values := make([]byte, 50*from)
		want := make([]string, 50)
		for i := range want {
			value := values[i*from : (i+1)*from]
			for j := range value {
				value[j] = byte(r.Uint64())
				if keep := min(from, 15); j < from-keep {
					value[j] = byte(int8(i<<7) >> 7) // the sign of every second value
				} else if j == from-keep {
					value[j] = byte(i<<7) | value[j]&0x7f
				}
			}
			number := new(big.Int).SetBytes(value)
			if value[0] >= 0x80 {
				number.Sub(number, new(big.Int).Lsh(big.NewInt(1), uint(8*from)))
			}
			want[i] = number.String()
		}
		column := testColumn(t, &arrow.Decimal128Type{Precision: 38}, false, parquet.Types.FixedLenByteArray,
			schema.NewDecimalLogicalType(1, 0), from)
		got, err := decodePages(t, column, 50, pageV1(50, plain, values))
		require.NoError(t, err)
		for i := range want {
			require.Equal(t, want[i], got.(*array.Decimal128).Value(i).BigInt().String(), "%d bytes, value %d", from, i)
		}
		got.Release()
	}
	wide := testColumn(t, &arrow.Decimal128Type{Precision: 9}, false, parquet.Types.FixedLenByteArray, node, 40)
	long := make([]byte, 40)
	long[39] = 7
	got, err := decodePages(t, wide, 1, pageV1(1, plain, long))
	require.NoError(t, err)
	require.Equal(t, "7", got.ValueStr(0))
	got.Release()
	for _, i := range []int{0, 10, 23} {
		bad := append([]byte(nil), long...)
		bad[i] = 1
		_, err = decodePages(t, wide, 1, pageV1(1, plain, bad))
		require.ErrorContains(t, err, "more digits", "byte %d", i)
	}
}

func TestDecodeRefuses(t *testing.T) {
	required, optional := int32Column(t, false), int32Column(t, true)
	text := textColumn(t, arrow.BinaryTypes.String)
	view := textColumn(t, arrow.BinaryTypes.StringView)
	small := textColumn(t, dictionaryOf(ints.Int8, arrow.BinaryTypes.String))
	many := []string{}
	for i := range 129 {
		many = append(many, fmt.Sprint(i))
	}
	valid := []byte{6, 1}
	nonNull := optional
	nonNull.Field.Nullable = false
	wide := testColumn(t, &arrow.FixedSizeBinaryType{ByteWidth: 1 << 22}, false, parquet.Types.FixedLenByteArray,
		schema.NoLogicalType{}, 1<<22)
	seconds := testColumn(t, arrow.FixedWidthTypes.Time32s, false, parquet.Types.Int32,
		schema.NewTimeLogicalType(false, schema.TimeUnitMillis), 0)
	for _, c := range []struct {
		name   string
		column Column
		rows   int
		pages  []file.Page
		want   string
	}{
		{"too few rows", required, 3, []file.Page{pageV1(2, plain, numbers(1, 2))},
			"its pages have 2 rows, the row group has 3"},
		{"too many rows", required, 3, []file.Page{pageV1(4, plain, numbers(1, 2, 3, 4))},
			"a page has 4 values, the row group has 3 more"},
		{"short page", required, 3, []file.Page{pageV1(3, plain, numbers(1, 2))}, "ends before its values"},
		{"no dictionary", required, 1, []file.Page{pageV1(1, rle, []byte{1, 3, 1})}, "no dictionary page"},
		{"late dictionary", required, 2, []file.Page{pageV1(1, plain, numbers(1)), dictionaryPage(1, numbers(1))},
			"not the first page"},
		{"two dictionaries", required, 2, []file.Page{dictionaryPage(1, numbers(1)), dictionaryPage(1, numbers(1))},
			"not the first page"},
		{"short dictionary", required, 2, []file.Page{dictionaryPage(1<<30, numbers(1))}, "dictionary page: the page ends"},
		{"short dictionary of wide values", wide, 2, []file.Page{dictionaryPage(1<<20, make([]byte, 1<<20))},
			"dictionary page: the page ends"},
		{"index", required, 1, []file.Page{dictionaryPage(2, numbers(1, 2)), pageV1(1, rle, []byte{2, 2, 2})},
			"the index 2 into a dictionary of 2"},
		{"index of text", text, 1, []file.Page{dictionaryPage(1, prefixed("a")), pageV2(1, 2, rle, valid, []byte{2, 2, 1})},
			"the index 1 into a dictionary of 1"},
		{"index of view", view, 1, []file.Page{dictionaryPage(1, prefixed("a")), pageV2(1, 2, rle, valid, []byte{2, 2, 1})},
			"the index 1 into a dictionary of 1"},
		{"index kept", small, 1, []file.Page{dictionaryPage(1, prefixed("a")), pageV2(1, 2, rle, valid, []byte{2, 2, 1})},
			"the index 1 into a dictionary of 1"},
		{"index bits", required, 1, []file.Page{dictionaryPage(1, numbers(1)), pageV1(1, rle, []byte{33, 2, 0})},
			"indices of 33 bits"},
		{"run value", required, 1, []file.Page{dictionaryPage(1, numbers(1)), pageV1(1, rle, []byte{1, 2, 2})},
			"a run of the value 2 in 1 bits"},
		{"run length", required, 1, []file.Page{dictionaryPage(1, numbers(1)),
			pageV1(1, rle, []byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))}, "no valid length"},
		{"indices end", required, 9, []file.Page{dictionaryPage(1, numbers(1)), pageV1(9, rle, []byte{1, 3, 0})},
			"ends before its values"},
		{"no indices", required, 9, []file.Page{dictionaryPage(1, numbers(1)), pageV1(9, rle)}, "ends before its values"},
		{"level value", optional, 1, []file.Page{pageV2(1, 2, plain, []byte{2, 2}, numbers(1))},
			"definition levels: a run of the value 2"},
		{"levels end", optional, 3, []file.Page{pageV2(3, 2, plain, []byte{2, 1}, numbers(1))},
			"definition levels: the page ends"},
		{"levels beyond", optional, 3, []file.Page{pageV2(3, 20, plain, []byte{2, 1}, numbers(1))},
			"definition levels: the page ends"},
		{"levels of V1", optional, 3, []file.Page{pageV1(3, plain, numbers(-1))}, "definition levels: the page ends"},
		{"nulls", nonNull, 2, []file.Page{pageV2(2, 2, plain, []byte{3, 1}, numbers(1))},
			"1 nulls in a column that allows none"},
		{"rows of V2", required, 2, []file.Page{file.NewDataPageV2(memory.NewBufferBytes(numbers(1, 2)), 2, 0, 1, plain, 0,
			0, 8, false)}, "2 values claims 1 rows"},
		{"text length", text, 2, []file.Page{pageV2(2, 2, plain, []byte{4, 1},
			[]byte{8, 0, 0, 0, 'a', 'b', 'c', 'd', 0, 0, 0, 0})}, "ends before its values"},
		{"long text length", text, 1, []file.Page{pageV2(1, 2, plain, valid, []byte{255, 255, 255, 255, 'a'})},
			"ends before its values"},
		{"view length", view, 2, []file.Page{pageV2(2, 2, plain, []byte{4, 1},
			[]byte{8, 0, 0, 0, 'a', 'b', 'c', 'd', 0, 0, 0, 0})}, "ends before its values"},
		{"UTF-8", text, 1, []file.Page{pageV2(1, 2, plain, valid, prefixed("\xff"))}, "not valid UTF-8"},
		{"UTF-8 across values", text, 2, []file.Page{pageV2(2, 2, plain, []byte{4, 1}, prefixed("\xc3", "\xbc"))},
			"not valid UTF-8"},
		{"UTF-8 in a dictionary", text, 1, []file.Page{dictionaryPage(2, prefixed("\xc3", "\xbc"))}, "not valid UTF-8"},
		{"UTF-8 in a view", view, 2, []file.Page{pageV2(2, 2, plain, []byte{4, 1}, prefixed("\xc3", "\xbc"))},
			"not valid UTF-8"},
		{"UTF-8 in a dictionary that is kept", small, 1,
			[]file.Page{dictionaryPage(1, prefixed("\xff")), pageV2(1, 2, rle, valid, []byte{0})}, "not valid UTF-8"},
		{"too many distinct", small, 129, []file.Page{pageV2(129, 3, plain, []byte{0x82, 2, 1}, prefixed(many...))},
			"more than 128 distinct values"},
		{"index type", small, 1, []file.Page{dictionaryPage(129, prefixed(many...)),
			pageV2(1, 2, rle, valid, []byte{8, 2, 128})}, "more than 128 distinct values"},
		{"seconds", seconds, 1, []file.Page{pageV1(1, plain, numbers(1001))}, "1001 milliseconds in a column of seconds"},
		{"encoding", required, 1, []file.Page{pageV1(1, parquet.Encodings.DeltaByteArray, numbers(1))}, "not supported"},
		{"streams", required, 1, []file.Page{pageV1(1, parquet.Encodings.ByteStreamSplit, numbers(1, 2))},
			"8 bytes for 1 values of 4"},
		{"deltas", required, 2, []file.Page{pageV1(2, parquet.Encodings.DeltaBinaryPacked, []byte{128, 1, 4, 3, 0})},
			"3 differences for 2 values"},
		{"delta blocks", required, 2, []file.Page{pageV1(2, parquet.Encodings.DeltaBinaryPacked, []byte{128, 1, 0, 2, 0})},
			"blocks of 128 values in 0 parts"},
		{"delta bits", required, 2, []file.Page{pageV1(2, parquet.Encodings.DeltaBinaryPacked,
			[]byte{128, 1, 1, 2, 0, 0, 65})}, "differences of 65 bits"},
		{"prefix", text, 1, []file.Page{pageV2(1, 2, parquet.Encodings.DeltaByteArray, valid,
			[]byte{128, 1, 1, 1, 2, 128, 1, 1, 1, 0})}, "shares 1 bytes with one of 0"},
		{"negative length", text, 1, []file.Page{pageV2(1, 2, parquet.Encodings.DeltaLengthByteArray, valid,
			[]byte{128, 1, 1, 1, 1})}, "ends before its values"},
		{"type", testColumn(t, ints.Int64, false, parquet.Types.Int32, schema.NoLogicalType{}, 0), 1, nil,
			"INT32 cannot be read as int64"},
		{"rows", required, -1, nil, "-1 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decodePages(t, c.column, c.rows, c.pages...)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, `column "price"`)
		})
	}
}

func TestDecodeStopsAtLimits(t *testing.T) {
	long := make([]byte, 1000)
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
		arrow.BinaryTypes.StringView} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		d := Decoder{MaxBytes: 2500}
		_, err := decodeChunk(context.Background(), &d, textColumn(t, dt), 3, &pageList{pages: []file.Page{
			pageV2(1, 2, plain, []byte{2, 1}, prefixed(string(long))),
			pageV2(2, 2, plain, []byte{4, 1}, prefixed(string(long), string(long)))}}, mem)
		require.ErrorContains(t, err, "more than the 2500 bytes allowed", dt)
		mem.AssertSize(t, 0)
	}
}

// A few bytes stand for 4 GiB of values, which are read in slices of what memory allows.
func TestDecodeEndsSlicesByTheirBytes(t *testing.T) {
	const mostBytes, valueBytes = 4 << 20, 1 << 20
	var d Decoder
	for _, c := range []struct {
		mostBytes, want int64 // rows
	}{{mostBytes, 4}, {mostBytes + valueBytes - 1, 4}, {1, 1}, {0, 1 << 10}} {
		if c.mostBytes == 0 && testing.Short() {
			continue // takes 1 GiB
		}
		d.SliceBytes = c.mostBytes
		require.NoError(t, d.Open(textColumn(t, arrow.BinaryTypes.String), 4096, &pageList{pages: []file.Page{
			dictionaryPage(1, prefixed(string(make([]byte, valueBytes)))),
			pageV2(4096, 3, rle, []byte{0x80, 0x40, 1}, []byte{0})}}))
		slice, err := d.Next(t.Context(), 4096, memory.DefaultAllocator)
		require.NoError(t, err)
		require.EqualValues(t, c.want, slice.Len())
		require.Len(t, slice.(*array.String).ValueBytes(), int(c.want)*valueBytes)
		require.LessOrEqual(t, cap(slice.Data().Buffers()[2].Buf()), int(c.want)*valueBytes*5/4+4096)
		slice.Release()
		d.Close()
	}
}

func TestDecodeStopsBetweenPages(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	var d Decoder
	pages := &pageList{pages: []file.Page{pageV1(1, plain, numbers(1))}}
	_, err := decodeChunk(ctx, &d, int32Column(t, false), 1, pages, mem)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, pages.at)
	broken := errors.New("disk gone")
	_, err = decodeChunk(context.Background(), &d, int32Column(t, false), 1, &pageList{err: broken}, mem)
	require.ErrorIs(t, err, broken)
}

func TestHybridOfEveryWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for width := 1; width <= 32; width++ {
		var want []uint32
		var in []byte
		for range 20 {
			if r.IntN(2) == 0 {
				n, value := 1+r.IntN(30), uint32(r.Uint64()>>(64-width))
				in = binary.AppendUvarint(in, uint64(n)<<1)
				in = append(in, binary.LittleEndian.AppendUint32(nil, value)[:(width+7)/8]...)
				for range n {
					want = append(want, value)
				}
				continue
			}
			groups := 1 + r.IntN(9)
			in = binary.AppendUvarint(in, uint64(groups)<<1|1)
			packed := make([]byte, groups*width)
			for i := range 8 * groups {
				value := uint32(r.Uint64() >> (64 - width))
				want = append(want, value)
				for b := range width {
					packed[(i*width+b)/8] |= byte(value>>b&1) << ((i*width + b) % 8)
				}
			}
			in = append(in, packed...)
		}
		for _, batch := range []int{1, 7, 8, 64, len(want)} {
			h, err := newHybrid(in[:len(in):len(in)], width)
			require.NoError(t, err)
			got := make([]uint32, len(want))
			for at := 0; at < len(got); at += batch {
				require.NoError(t, h.read(got[at:min(at+batch, len(got))]))
			}
			require.Equal(t, want, got, "width %d, batches of %d", width, batch)
			require.Error(t, h.read(make([]uint32, 1)))
		}
	}
}
