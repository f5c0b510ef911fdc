package columnchunk

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// decodeHybrid is the simplest decoder of the hybrid of runs and bit-packed groups. It fails if bytes are left.
func decodeHybrid(in []byte, n, width int) (out []uint16, err error) {
	for len(in) > 0 {
		header, length := binary.Uvarint(in)
		in = in[length:]
		count := int(header >> 1)
		if header&1 == 0 {
			value := uint16(0)
			for i := range (width + 7) / 8 {
				value |= uint16(in[i]) << (8 * i)
			}
			in = in[(width+7)/8:]
			for range count {
				out = append(out, value)
			}
			continue
		}
		for i := range count * 8 {
			value := uint16(0)
			for bit := range width {
				at := i*width + bit
				value |= uint16(in[at/8]>>(at%8)&1) << bit
			}
			out = append(out, value)
		}
		in = in[count*width:]
	}
	if len(out) < n || len(out) >= n+8 {
		return nil, fmt.Errorf("%d values instead of %d", len(out), n)
	}
	return out[:n], nil
}

func drawIndices(t *rapid.T, width int) (indices []uint16) {
	for range rapid.IntRange(0, 8).Draw(t, "pieces") {
		first := rapid.Uint16().Draw(t, "first")
		step := rapid.SampledFrom([]uint16{0, 0, 1, 77}).Draw(t, "step")
		for i := range rapid.IntRange(0, 70).Draw(t, "length") {
			indices = append(indices, (first+uint16(i)*step)&uint16(1<<width-1))
		}
	}
	return indices
}

func TestHybrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 16).Draw(t, "width")
		indices := drawIndices(t, width)
		before := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "before")
		out := appendHybrid(before[:len(before):len(before)], indices, width)
		require.Equal(t, before, out[:len(before)])
		got, err := decodeHybrid(out[len(before):], len(indices), width)
		require.NoError(t, err)
		require.Equal(t, indices, got[:len(indices):len(indices)])
		require.LessOrEqual(t, len(out)-len(before), (len(indices)+7)/8*width+4+len(indices)/8)
	})
}

func TestHybridOfRunsIsShort(t *testing.T) {
	require.Len(t, appendHybrid(nil, make([]uint16, 100_000), 9), 5)
	require.Len(t, appendLevels(nil, &source{rows: 100_000}, 0, 100_000), 8)
}

func TestLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := drawIndices(t, 1)
		rows := source{rows: len(bits), valid: make([]uint64, len(bits)/64+2)}
		for i, bit := range bits {
			orBits(rows.valid, i, uint64(bit))
			rows.nulls += 1 - int(bit)
		}
		begin := rapid.IntRange(0, len(bits)).Draw(t, "begin")
		end := rapid.IntRange(begin, len(bits)).Draw(t, "end")
		out := appendLevels(nil, &rows, begin, end)
		require.Len(t, out, 4+int(binary.LittleEndian.Uint32(out)))
		got, err := decodeHybrid(out[4:], end-begin, 1)
		require.NoError(t, err)
		require.Equal(t, append([]uint16{}, bits[begin:end]...), append([]uint16{}, got...))

		values := 0
		for _, bit := range bits[begin:] {
			values += int(bit)
		}
		limit := rapid.IntRange(1, 200).Draw(t, "limit")
		for at, left := begin, values; at < len(bits); {
			next, n := rows.advance(at, 150, limit)
			require.Greater(t, next, at)
			require.LessOrEqual(t, next, at+150)
			require.LessOrEqual(t, n, limit)
			count := 0
			for _, bit := range bits[at:next] {
				count += int(bit)
			}
			require.Equal(t, count, n)
			at, left = next, left-n
			require.True(t, at < len(bits) || left == 0)
		}
	})
}

func TestCompactAndCopyBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := drawIndices(t, 1)
		var bitmap []byte
		for i, bit := range bits {
			if i%8 == 0 {
				bitmap = append(bitmap, 0)
			}
			bitmap[i/8] |= byte(bit) << (i % 8)
		}
		begin := rapid.IntRange(0, len(bits)).Draw(t, "begin")
		at := rapid.IntRange(0, 130).Draw(t, "at")
		words := make([]uint64, (at+len(bits))/64+2)
		copyBits(words, at, bitmap, begin, len(bits)-begin)
		values, want := []int{}, []int{}
		for i, bit := range bits[begin:] {
			require.Equal(t, uint64(bit), words[(at+i)/64]>>((at+i)%64)&1)
			values = append(values, i)
			if bit == 1 {
				want = append(want, i)
			}
		}
		to := make([]int, len(values))
		require.Equal(t, want, to[:compact(to, values, words, at)])
		require.Equal(t, want, values[:compact(values, values, words, at)])
	})
}

// TestDictionaryLimits has just as many distinct values as a width of indices can tell apart, and one more.
func TestDictionaryLimits(t *testing.T) {
	var e Encoder
	var chunk Chunk
	for width := range 17 {
		for more := range 2 {
			distinct := 1<<width + more
			rows := 3 * distinct
			indexed := distinct <= maxEntries
			for _, scale := range []int64{1, 1_000_003} { // of a small and of a large range
				builder := array.NewInt64Builder(memory.NewGoAllocator())
				for i := range rows {
					builder.Append(int64(i/3%distinct) * scale)
				}
				checkDictionary(t, &e, &chunk, builder.NewArray(), indexed, distinct)
			}
			builder := array.NewStringBuilder(memory.NewGoAllocator())
			for i := range rows {
				builder.Append(fmt.Sprintf("%09d", i/3%distinct))
			}
			indexed = indexed && distinct*13 <= maxDictionaryBytes
			checkDictionary(t, &e, &chunk, builder.NewArray(), indexed, distinct)
		}
	}
}

func checkDictionary(t *testing.T, e *Encoder, chunk *Chunk, a arrow.Array, indexed bool, distinct int) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: a.DataType()}}, nil)
	content := encodeFile(t, e, chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{a}})
	group := openEncoded(t, content).MetaData().RowGroup(0)
	meta, err := group.ColumnChunk(0)
	require.NoError(t, err)
	want := []parquet.Encoding{parquet.Encodings.Plain, parquet.Encodings.RLE}
	if indexed {
		want = []parquet.Encoding{parquet.Encodings.RLEDict, parquet.Encodings.Plain, parquet.Encodings.RLE}
	}
	require.Equal(t, want, meta.Encodings(), "%s, %d distinct of %d", a.DataType(), distinct, a.Len())
	require.Equal(t, indexed, meta.HasDictionaryPage())
	got := firstColumn(t, content)
	require.Len(t, got, 1)
	require.True(t, array.Equal(a, got[0]), "%s, %d distinct", a.DataType(), distinct)
}

// TestDictionariesOfParts has parts with dictionaries of their own, of overlapping values.
func TestDictionariesOfParts(t *testing.T) {
	var e Encoder
	var chunk Chunk
	random := rand.New(rand.NewPCG(1, 9))
	for _, value := range []arrow.DataType{arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.StringView, arrow.FixedWidthTypes.Boolean} {
		dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: value}
		var parts []arrow.Array
		for i := range 5 {
			parts = append(parts, split(generateArray(dt, 100+i, nullPatterns[i], 30, random), 2)...)
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt, Nullable: true}}, nil)
		content := encodeFile(t, &e, &chunk, schema, compress.Codecs.Lz4Raw, [][]arrow.Array{parts})
		require.Empty(t, difference(parts, readFile(t, content).Column(0).Data().Chunks()))
	}
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	a := generateArray(dt, 100, nullsNone, 30, random)
	a.(*array.Dictionary).Indices().Data().Buffers()[1].Bytes()[50] = 255
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt, Nullable: true}}, nil)
	_, err := encodeFileError(&e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{a}})
	require.ErrorContains(t, err, "index -1 of a dictionary of")
}
