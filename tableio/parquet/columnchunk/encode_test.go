package columnchunk

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"
)

var writtenCodecs = []compress.Compression{
	compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Lz4Raw, compress.Codecs.Uncompressed,
}

// encodeFile writes one row group, whose columns are in parts.
func encodeFile(
	t testing.TB, e *Encoder, chunk *Chunk, schema *arrow.Schema, codec compress.Compression, columns [][]arrow.Array,
) []byte {
	t.Helper()
	out, err := encodeFileError(e, chunk, schema, codec, columns)
	require.NoError(t, err)
	return out
}

func encodeFileError(
	e *Encoder, chunk *Chunk, schema *arrow.Schema, codec compress.Compression, columns [][]arrow.Array,
) ([]byte, error) {
	root, leaves, pairs, err := WriteSchema(schema)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBufferString("PAR1")
	builder := metadata.NewFileMetadataBuilder(root, WriterProperties(codec), pairs)
	group := builder.AppendRowGroup()
	rows := 0
	for i, parts := range columns {
		if err := e.Encode(context.Background(), leaves[i], codec, parts, chunk); err != nil {
			return nil, err
		}
		if err := chunk.Describe(group.NextColumnChunk(), int64(out.Len())); err != nil {
			return nil, err
		}
		out.Write(chunk.Bytes())
		rows = 0
		for _, part := range parts {
			rows += part.Len()
		}
	}
	group.SetNumRows(rows)
	if err := group.Finish(0, 0); err != nil {
		return nil, err
	}
	footer, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	length, err := footer.WriteTo(out, nil)
	if err != nil {
		return nil, err
	}
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(length)))
	out.WriteString("PAR1")
	return out.Bytes(), nil
}

func openEncoded(t testing.TB, content []byte) *file.Reader {
	t.Helper()
	reader, err := file.NewParquetReader(bytes.NewReader(content))
	require.NoError(t, err)
	return reader
}

// readFile reads all columns by pqarrow.
func readFile(t testing.TB, content []byte) arrow.Table {
	t.Helper()
	reader, err := pqarrow.NewFileReader(openEncoded(t, content), pqarrow.ArrowReadProperties{}, memory.NewGoAllocator())
	require.NoError(t, err)
	table, err := reader.ReadTable(context.Background())
	require.NoError(t, err)
	return table
}

// difference tells where arrays have different values, types aside.
func difference(want, got []arrow.Array) string {
	var texts [2][]string
	for i, arrays := range [][]arrow.Array{want, got} {
		for _, a := range arrays {
			for row := range a.Len() {
				texts[i] = append(texts[i], canonical(a, row))
			}
		}
	}
	if len(texts[0]) != len(texts[1]) {
		return fmt.Sprintf("%d rows instead of %d", len(texts[1]), len(texts[0]))
	}
	for row, text := range texts[0] {
		if text != texts[1][row] {
			return fmt.Sprintf("row %d: %q instead of %q", row, texts[1][row], text)
		}
	}
	return ""
}

// firstColumn is the first column that pqarrow reads.
func firstColumn(t testing.TB, content []byte) []arrow.Array {
	return readFile(t, content).Column(0).Data().Chunks()
}

// plainLeaves reads the first column by the column reader, without Arrow: definition levels and values in text.
func plainLeaves(t testing.TB, content []byte) (levels []int16, values []string) {
	t.Helper()
	reader := openEncoded(t, content)
	column, err := reader.RowGroup(0).Column(0)
	require.NoError(t, err)
	switch column := column.(type) {
	case *file.Int64ColumnChunkReader:
		return readLeaves(t, column.ReadBatch, column.HasNext, func(v int64) string { return fmt.Sprint(v) })
	case *file.Int32ColumnChunkReader:
		return readLeaves(t, column.ReadBatch, column.HasNext, func(v int32) string { return fmt.Sprint(v) })
	case *file.BooleanColumnChunkReader:
		return readLeaves(t, column.ReadBatch, column.HasNext, func(v bool) string { return fmt.Sprint(v) })
	case *file.ByteArrayColumnChunkReader:
		return readLeaves(t, column.ReadBatch, column.HasNext, func(v parquet.ByteArray) string { return string(v) })
	}
	require.Failf(t, "no reader", "%T", column)
	return nil, nil
}

func readLeaves[T any](
	t testing.TB, read func(int64, []T, []int16, []int16) (int64, int, error), more func() bool, text func(T) string,
) (levels []int16, values []string) {
	definition, batch := make([]int16, 4096), make([]T, 4096)
	for more() {
		rows, n, err := read(4096, batch, definition, nil)
		require.NoError(t, err)
		levels = append(levels, definition[:rows]...)
		for _, v := range batch[:n] {
			values = append(values, text(v))
		}
	}
	return levels, values
}

// split cuts an array into parts that begin at odd offsets, an empty one among them.
func split(a arrow.Array, parts int) []arrow.Array {
	var out []arrow.Array
	begin := 0
	for i := range parts {
		end := min(a.Len(), begin+a.Len()/parts+i%3)
		if i == parts-1 {
			end = a.Len()
		}
		out = append(out, array.NewSlice(a, int64(begin), int64(end)))
		begin = end
	}
	return append(out, array.NewSlice(a, int64(begin), int64(begin)))
}

// TestEncodeRoundTrip reads the matrix of types, nulls, cardinality, sizes and codecs back by pqarrow.
func TestEncodeRoundTrip(t *testing.T) {
	var e Encoder
	var chunk Chunk
	for _, dt := range flatTypes() {
		t.Run(dt.String(), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			run := 0
			for _, rows := range []int{0, 1, 7, 8, 9, 1000} {
				for _, nulls := range nullPatterns {
					for _, distinct := range []uint64{1, 5, 1 << 40} {
						a := generateArray(dt, rows, nulls, distinct, random)
						parts := split(a, 1+run%4)
						schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt, Nullable: true}}, nil)
						codec := writtenCodecs[run%len(writtenCodecs)]
						content := encodeFile(t, &e, &chunk, schema, codec, [][]arrow.Array{parts})
						require.Empty(t, difference(parts, firstColumn(t, content)),
							"%d rows, nulls %s, %d distinct", rows, nulls, distinct)
						run++
					}
				}
			}
		})
	}
}

func TestEncodeNotNullable(t *testing.T) {
	var e Encoder
	var chunk Chunk
	random := rand.New(rand.NewPCG(1, 2))
	for _, dt := range flatTypes() {
		if dt.ID() == arrow.NULL {
			continue
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt}}, nil)
		for _, distinct := range []uint64{3, 1 << 40} {
			parts := split(generateArray(dt, 777, nullsNone, distinct, random), 3)
			content := encodeFile(t, &e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{parts})
			require.Empty(t, difference(parts, firstColumn(t, content)), dt.String())
		}
		nulls := generateArray(dt, 9, nullsSome, 3, random)
		_, err := encodeFileError(&e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{nulls}})
		require.ErrorContains(t, err, `column "a": a null`, dt.String())
	}
}

// TestEncodeLarge has several pages a chunk.
func TestEncodeLarge(t *testing.T) {
	const rows = 200_003
	var e Encoder
	var chunk Chunk
	random := rand.New(rand.NewPCG(3, 4))
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int16,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
	}
	for run, dt := range types {
		for i, nulls := range []string{nullsNone, nullsSome, nullsRuns} {
			distinct := []uint64{100, 1 << 40}[(run+i)%2]
			a := generateArray(dt, rows, nulls, distinct, random)
			parts := split(a, 5)
			schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt, Nullable: true}}, nil)
			content := encodeFile(t, &e, &chunk, schema, writtenCodecs[(run+i)%3], [][]arrow.Array{parts})
			require.Empty(t, difference(parts, firstColumn(t, content)), "%s, nulls %s", dt, nulls)

			levels, values := plainLeaves(t, content)
			require.Len(t, levels, rows)
			for row, level := range levels {
				got := "null"
				if level == 1 {
					got, values = values[0], values[1:]
				}
				if want := canonical(a, row); got != want {
					require.Equal(t, want, got, "row %d", row)
				}
			}
			require.Empty(t, values)
		}
	}
}

// TestOracleSeesFault plants one wrong value and one wrong null.
func TestOracleSeesFault(t *testing.T) {
	var e Encoder
	var chunk Chunk
	random := rand.New(rand.NewPCG(5, 6))
	a := generateArray(arrow.PrimitiveTypes.Int64, 1000, nullsSome, 1<<40, random)
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: a.DataType(), Nullable: true}}, nil)
	for _, buffer := range []int{0, 1} {
		content := encodeFile(t, &e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{a}})
		a.Data().Buffers()[buffer].Bytes()[100] ^= 255
		require.NotEmpty(t, difference([]arrow.Array{a}, firstColumn(t, content)))
		a.Data().Buffers()[buffer].Bytes()[100] ^= 255
		require.Empty(t, difference([]arrow.Array{a}, firstColumn(t, content)))
	}
}

func TestEncodeManyColumns(t *testing.T) {
	var e Encoder
	var chunk Chunk
	random := rand.New(rand.NewPCG(7, 8))
	var fields []arrow.Field
	var columns [][]arrow.Array
	for i, dt := range flatTypes() {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: dt, Nullable: true})
		columns = append(columns, split(generateArray(dt, 300, nullPatterns[i%len(nullPatterns)], 40, random), 2))
	}
	table := readFile(t, encodeFile(t, &e, &chunk, arrow.NewSchema(fields, nil), compress.Codecs.Zstd, columns))
	for i := range columns {
		require.Equal(t, fields[i].Name, table.Column(i).Name())
		require.Empty(t, difference(columns[i], table.Column(i).Data().Chunks()), fields[i].Type.String())
	}
}

func TestEncodeRefusesValues(t *testing.T) {
	allocator := memory.NewGoAllocator()
	var e Encoder
	var chunk Chunk
	cases := []struct {
		dt    arrow.DataType
		value int64
		text  string
	}{
		{arrow.FixedWidthTypes.Date64, 1, "not a whole day"},
		{arrow.FixedWidthTypes.Time32s, 1 << 30, "too large for milliseconds"},
		{arrow.FixedWidthTypes.Timestamp_s, 1 << 60, "too large for milliseconds"},
	}
	for _, c := range cases {
		builder := array.NewBuilder(allocator, c.dt)
		switch b := builder.(type) {
		case *array.Date64Builder:
			b.Append(arrow.Date64(c.value))
		case *array.Time32Builder:
			b.Append(arrow.Time32(c.value))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(c.value))
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "when", Type: c.dt, Nullable: true}}, nil)
		_, err := encodeFileError(&e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{builder.NewArray()}})
		require.ErrorContains(t, err, c.text)
		require.ErrorContains(t, err, `column "when"`)
	}
	for _, precision := range []int32{5, 15, 30} {
		wide := generateArray(&arrow.Decimal128Type{Precision: 38}, 10, nullsNone, 1<<40, rand.New(rand.NewPCG(1, 1)))
		data := wide.Data().(*array.Data)
		dt := &arrow.Decimal128Type{Precision: precision}
		relabelled := array.MakeFromData(array.NewData(dt, 10, data.Buffers(), nil, 0, 0))
		schema := arrow.NewSchema([]arrow.Field{{Name: "price", Type: dt, Nullable: true}}, nil)
		_, err := encodeFileError(&e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{relabelled}})
		require.ErrorContains(t, err, `column "price": a decimal with more digits`)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	field := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}
	_, columns, _, err := WriteSchema(arrow.NewSchema([]arrow.Field{field}, nil))
	require.NoError(t, err)
	require.ErrorIs(t, e.Encode(ctx, columns[0], compress.Codecs.Snappy, nil, &chunk), context.Canceled)
	other := generateArray(arrow.PrimitiveTypes.Int64, 10, nullsNone, 10, rand.New(rand.NewPCG(1, 1)))
	err = e.Encode(context.Background(), columns[0], compress.Codecs.Snappy, []arrow.Array{other}, &chunk)
	require.ErrorContains(t, err, "int64 instead of int8")
	require.ErrorContains(t, e.Encode(context.Background(), columns[0], compress.Codecs.Brotli, nil, &chunk), "BROTLI")
}

// TestEncodeLargeValues has values larger than a page should be, and than it can be.
func TestEncodeLargeValues(t *testing.T) {
	defer func(bytes int) { maxPageBytes = bytes }(maxPageBytes)
	maxPageBytes = 5 << 20
	var e Encoder
	var chunk Chunk
	types := []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView}
	for _, dt := range types {
		schema := arrow.NewSchema([]arrow.Field{{Name: "essay", Type: dt, Nullable: true}}, nil)
		builder := array.NewBuilder(memory.NewGoAllocator(), dt).(interface {
			array.Builder
			Append(string)
		})
		for i := range 5 {
			builder.Append(strings.Repeat("x", i<<20))
			builder.AppendNull()
		}
		a := builder.NewArray()
		content := encodeFile(t, &e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{a}})
		require.Empty(t, difference([]arrow.Array{a}, firstColumn(t, content)))
		require.EqualValues(t, 5, chunk.dataPages)
		builder.Append(strings.Repeat("x", 5<<20))
		_, err := encodeFileError(&e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{builder.NewArray()}})
		require.ErrorContains(t, err, `column "essay": a value too large for a page`)
	}
}

// TestEncodeForgets finds no reference to the memory of others after a chunk.
func TestEncodeForgets(t *testing.T) {
	var e Encoder
	var chunk Chunk
	random := rand.New(rand.NewPCG(9, 9))
	for _, dt := range flatTypes() {
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt, Nullable: true}}, nil)
		for _, distinct := range []uint64{5, 1 << 40} {
			a := generateArray(dt, 5000, nullsSome, distinct, random)
			encodeFile(t, &e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{split(a, 3)})
			for _, texts := range [][]string{e.texts, e.textDictionary} {
				for _, text := range texts[:cap(texts)] {
					require.Empty(t, text)
				}
			}
			for _, parts := range [][]arrow.ArrayData{e.rows.parts, e.entries.parts} {
				for _, part := range parts[:cap(parts)] {
					require.Nil(t, part)
				}
			}
		}
	}
}

// TestUncompressedSize: the metadata counts all pages before compression, the dictionary among them.
func TestUncompressedSize(t *testing.T) {
	var e Encoder
	var chunk Chunk
	random := rand.New(rand.NewPCG(2, 2))
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	for _, distinct := range []uint64{300, 1 << 40} {
		a := generateArray(arrow.BinaryTypes.String, 20_000, nullsSome, distinct, random)
		sizes := map[compress.Compression]int64{}
		for _, codec := range writtenCodecs {
			content := encodeFile(t, &e, &chunk, schema, codec, [][]arrow.Array{{a}})
			meta, err := openEncoded(t, content).MetaData().RowGroup(0).ColumnChunk(0)
			require.NoError(t, err)
			require.EqualValues(t, len(chunk.Bytes()), meta.TotalCompressedSize())
			sizes[codec] = meta.TotalUncompressedSize()
		}
		require.EqualValues(t, len(chunk.Bytes()), sizes[compress.Codecs.Uncompressed])
		for _, size := range sizes { // headers differ by the length of a number
			require.InDelta(t, sizes[compress.Codecs.Uncompressed], size, 8)
		}
	}
}
