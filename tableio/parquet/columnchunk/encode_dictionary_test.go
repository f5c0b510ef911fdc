package columnchunk

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"
)

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
	values := []arrow.DataType{
		arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.StringView, arrow.FixedWidthTypes.Boolean,
	}
	for _, value := range values {
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
