package columnchunk

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// decodeCase is a column that pqarrow can write, and the other types that it can be read as.
type decodeCase struct {
	dt    arrow.DataType
	value func(r *rand.Rand) any // as append takes it
	also  []arrow.DataType
}

var vocabulary = []string{"", "a", "ship", "deliver in person", "grün", "日本語", "€",
	"none of this fits in a view of twelve bytes",
	"and this one is longer than what is copied at once, 32 bytes", "\x00"}

func randomText(r *rand.Rand) any {
	if r.IntN(4) > 0 {
		return vocabulary[r.IntN(len(vocabulary))]
	}
	return vocabulary[r.IntN(len(vocabulary))] + fmt.Sprint(r.IntN(1000)) + vocabulary[r.IntN(len(vocabulary))]
}

func dictionaryOf(index, value arrow.DataType) arrow.DataType {
	return &arrow.DictionaryType{IndexType: index, ValueType: value}
}

var (
	ints     = arrow.PrimitiveTypes
	fixed    = arrow.FixedWidthTypes
	jsonType = func() arrow.DataType { dt, _ := extensions.NewJSONType(arrow.BinaryTypes.String); return dt }()
)

func decodeCases() []decodeCase {
	integer := func(limit int64) func(*rand.Rand) any {
		return func(r *rand.Rand) any {
			if r.IntN(3) == 0 {
				return r.Int64N(20) * limit / 20
			}
			return r.Int64N(limit)
		}
	}
	long := func(r *rand.Rand) any { return int64(r.Uint64()) >> r.IntN(64) }
	text := randomText
	days := func(r *rand.Rand) any { return int64(r.IntN(40000) - 20000) }
	bytesOf := func(n int) func(*rand.Rand) any {
		return func(r *rand.Rand) any {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.IntN(3))
			}
			return string(b)
		}
	}
	decimals := func(most int) func(*rand.Rand) any {
		return func(r *rand.Rand) any {
			digits := "1"
			for range r.IntN(most) {
				digits += fmt.Sprint(r.IntN(10))
			}
			if r.IntN(2) == 0 {
				return "-" + digits
			}
			return digits
		}
	}
	stamps := []decodeCase{}
	for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		for _, zone := range []string{"", "UTC", "Europe/Berlin"} {
			stamps = append(stamps, decodeCase{&arrow.TimestampType{Unit: unit, TimeZone: zone}, integer(1 << 40), nil})
		}
	}
	return append(stamps, []decodeCase{
		{fixed.Boolean, integer(2), []arrow.DataType{dictionaryOf(ints.Int8, fixed.Boolean)}},
		{ints.Int8, integer(100), []arrow.DataType{dictionaryOf(ints.Uint8, ints.Int8)}},
		{ints.Uint8, integer(250), nil},
		{ints.Int16, integer(30000), nil},
		{ints.Uint16, integer(60000), nil},
		{ints.Int32, integer(1 << 31), []arrow.DataType{dictionaryOf(ints.Int64, ints.Int32)}},
		{ints.Uint32, integer(1 << 32), nil},
		{ints.Int64, long, []arrow.DataType{dictionaryOf(ints.Int16, ints.Int64), dictionaryOf(ints.Uint32, ints.Int64)}},
		{ints.Uint64, long, nil},
		{fixed.Float16, long, []arrow.DataType{dictionaryOf(ints.Int32, fixed.Float16)}},
		{ints.Float32, long, nil},
		{ints.Float64, long, []arrow.DataType{dictionaryOf(ints.Uint16, ints.Float64)}},
		{fixed.Date32, days, []arrow.DataType{fixed.Date64}},
		{fixed.Date64, days, []arrow.DataType{fixed.Date32}},
		{fixed.Time32s, integer(86400), nil},
		{fixed.Time32ms, integer(86400000), nil},
		{fixed.Time64us, integer(86400000000), nil},
		{fixed.Time64ns, integer(86400000000000), nil},
		{arrow.BinaryTypes.String, text, []arrow.DataType{arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
			dictionaryOf(ints.Int16, arrow.BinaryTypes.String), dictionaryOf(ints.Uint64, arrow.BinaryTypes.StringView),
			jsonType}},
		{arrow.BinaryTypes.LargeString, text, nil},
		{arrow.BinaryTypes.Binary, text, []arrow.DataType{arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView,
			dictionaryOf(ints.Int32, arrow.BinaryTypes.LargeBinary)}},
		{arrow.BinaryTypes.LargeBinary, text, nil},
		{&arrow.FixedSizeBinaryType{ByteWidth: 1}, bytesOf(1), nil},
		{&arrow.FixedSizeBinaryType{ByteWidth: 5}, bytesOf(5), []arrow.DataType{
			dictionaryOf(ints.Int16, &arrow.FixedSizeBinaryType{ByteWidth: 5})}},
		{&arrow.FixedSizeBinaryType{ByteWidth: 16}, bytesOf(16), nil},
		{&arrow.Decimal128Type{Precision: 5, Scale: 2}, decimals(5),
			[]arrow.DataType{&arrow.Decimal32Type{Precision: 5, Scale: 2},
				&arrow.Decimal64Type{Precision: 5, Scale: 2}, &arrow.Decimal256Type{Precision: 5, Scale: 2}}},
		{&arrow.Decimal128Type{Precision: 15, Scale: 2}, decimals(15),
			[]arrow.DataType{&arrow.Decimal64Type{Precision: 15, Scale: 2},
				&arrow.Decimal256Type{Precision: 15, Scale: 2},
				dictionaryOf(ints.Int16, &arrow.Decimal128Type{Precision: 15, Scale: 2})}},
		{&arrow.Decimal128Type{Precision: 38, Scale: 3}, decimals(38),
			[]arrow.DataType{&arrow.Decimal256Type{Precision: 38, Scale: 3}}},
		{&arrow.Decimal256Type{Precision: 76, Scale: 5}, decimals(76), nil},
		{extensions.NewUUIDType(), bytesOf(16), []arrow.DataType{&arrow.FixedSizeBinaryType{ByteWidth: 16}}},
	}...)
}

// appendValue appends an integer, or text for types that are not numbers.
func appendValue(b array.Builder, value any) {
	n, _ := value.(int64)
	s, _ := value.(string)
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(n&1 == 1)
	case *array.Int8Builder:
		b.Append(int8(n))
	case *array.Uint8Builder:
		b.Append(uint8(n))
	case *array.Int16Builder:
		b.Append(int16(n))
	case *array.Uint16Builder:
		b.Append(uint16(n))
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Uint32Builder:
		b.Append(uint32(n))
	case *array.Int64Builder:
		b.Append(n)
	case *array.Uint64Builder:
		b.Append(uint64(n))
	case *array.Float16Builder:
		b.Append(float16.New(float32(n % 1000)))
	case *array.Float32Builder:
		b.Append(float32(n))
	case *array.Float64Builder:
		b.Append(float64(n))
	case *array.Date32Builder:
		b.Append(arrow.Date32(n))
	case *array.Date64Builder:
		b.Append(arrow.Date64(n * 86400000))
	case *array.Time32Builder:
		b.Append(arrow.Time32(n))
	case *array.Time64Builder:
		b.Append(arrow.Time64(n))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(n))
	case *array.StringBuilder:
		b.Append(s)
	case *array.LargeStringBuilder:
		b.Append(s)
	case *array.BinaryBuilder:
		b.AppendString(s)
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte(s))
	case *array.Decimal128Builder:
		v, err := decimal.Decimal128FromString(s, 38, 0)
		if err != nil {
			panic(err)
		}
		b.Append(v)
	case *array.Decimal256Builder:
		v, err := decimal256.FromString(s, 76, 0)
		if err != nil {
			panic(err)
		}
		b.Append(v)
	case *extensions.UUIDBuilder:
		b.AppendBytes([16]byte([]byte(s)))
	default:
		panic(fmt.Sprintf("%T", b))
	}
}

// nullness says which rows are null.
type nullness string

const (
	required  nullness = "required" // the column allows none
	noNulls   nullness = "none"
	someNulls nullness = "some"
	runNulls  nullness = "runs"
	allNulls  nullness = "all"
)

func (n nullness) at(i int, r *rand.Rand) bool {
	switch n {
	case someNulls:
		return r.IntN(3) == 0
	case runNulls:
		return i/100%3 == 1
	case allNulls:
		return true
	}
	return false
}

// testArray has values of a case, 300 distinct ones at most in the first half so that a dictionary pays there.
func testArray(c decodeCase, rows int, nulls nullness, r *rand.Rand) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, c.dt)
	defer b.Release()
	distinct := make([]any, 100)
	for i := range distinct {
		distinct[i] = c.value(r)
	}
	for i := range rows {
		switch {
		case nulls.at(i, r):
			b.AppendNull()
		case i < rows/2:
			appendValue(b, distinct[r.IntN(len(distinct))])
		default:
			appendValue(b, c.value(r))
		}
	}
	return b.NewArray()
}

func columnName(i int, dt arrow.DataType) string { return fmt.Sprint(i, " ", dt.Name()) }

// writeColumns writes one column of each case, named after its type.
func writeColumns(t testing.TB, columns []arrow.Array, nullable bool, arrowProperties []pqarrow.WriterOption,
	properties ...parquet.WriterProperty) []byte {
	fields := make([]arrow.Field, len(columns))
	for i, column := range columns {
		fields[i] = arrow.Field{Name: columnName(i, column.DataType()), Type: column.DataType(), Nullable: nullable}
	}
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
	defer batch.Release()
	var out bytes.Buffer
	writer, err := pqarrow.NewFileWriter(batch.Schema(), &out, parquet.NewWriterProperties(properties...),
		pqarrow.NewArrowWriterProperties(append(arrowProperties, pqarrow.WithStoreSchema())...))
	require.NoError(t, err)
	require.NoError(t, writer.Write(batch))
	require.NoError(t, writer.Close())
	return out.Bytes()
}

func openFile(t testing.TB, content []byte) *file.Reader {
	properties := parquet.NewReaderProperties(memory.NewGoAllocator())
	properties.BufferedStreamEnabled = true
	reader, err := file.NewParquetReader(bytes.NewReader(content), file.WithReadProps(properties))
	require.NoError(t, err)
	return reader
}

func decodeColumn(t testing.TB, d *Decoder, reader *file.Reader, group, i int, dt arrow.DataType,
	mem memory.Allocator) (arrow.Array, error) {
	leaf := reader.MetaData().Schema.Column(i)
	field := arrow.Field{Name: leaf.Name(), Type: dt, Nullable: leaf.MaxDefinitionLevel() > 0}
	pages, err := reader.RowGroup(group).GetColumnPageReader(i)
	require.NoError(t, err)
	defer pages.Close()
	return decodeChunk(context.Background(), d, Column{Field: field, Leaf: leaf}, reader.RowGroup(group).NumRows(), pages, mem)
}

// decodeChunk decodes a whole chunk as one slice.
func decodeChunk(ctx context.Context, d *Decoder, column Column, rows int64, pages file.PageReader,
	mem memory.Allocator) (arrow.Array, error) {
	if err := d.Open(column, rows, pages); err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Next(ctx, rows, mem)
}

// requireSlices decodes a chunk in slices of random numbers of rows, up to as many as given, and of bytes if
// d.SliceBytes is set, and compares them with what was written.
func requireSlices(t *testing.T, want arrow.Array, d *Decoder, reader *file.Reader, group, i int, dt arrow.DataType,
	most int64, mem memory.Allocator) {
	leaf := reader.MetaData().Schema.Column(i)
	field := arrow.Field{Name: leaf.Name(), Type: dt, Nullable: leaf.MaxDefinitionLevel() > 0}
	pages, err := reader.RowGroup(group).GetColumnPageReader(i)
	require.NoError(t, err)
	defer pages.Close()
	require.NoError(t, d.Open(Column{Field: field, Leaf: leaf}, int64(want.Len()), pages))
	defer d.Close()
	r := rand.New(rand.NewPCG(uint64(most), uint64(i)))
	for at := int64(0); at < int64(want.Len()); {
		n := min(int64(want.Len())-at, r.Int64N(most+1))
		got, err := d.Next(context.Background(), n, mem)
		require.NoError(t, err, "%s as %s", field.Name, dt)
		if d.SliceBytes > 0 && got.Len() < int(n) {
			require.Positive(t, got.Len())
			n = int64(got.Len())
		}
		if texts, ok := got.(array.BinaryLike); ok && n-int64(got.NullN()) > 1 && d.SliceBytes > 0 {
			require.LessOrEqual(t, int64(texts.ValueLen(0)), d.SliceBytes)
			require.LessOrEqual(t, int64(len(texts.ValueBytes())), d.SliceBytes)
		}
		written := array.NewSlice(want, at, at+n)
		requireSame(t, written, got, field.Name)
		written.Release()
		got.Release()
		at += n
	}
	_, err = d.Next(context.Background(), 1, mem)
	require.ErrorContains(t, err, "not as many")
}

func requireSame(t *testing.T, want, got arrow.Array, name string) {
	t.Helper()
	require.Equal(t, want.Len(), got.Len(), name)
	require.Equal(t, want.NullN(), got.NullN(), name)
	require.NoError(t, array.ValidateFull(got), name)
	_, dictionary := want.(*array.Dictionary) // other dictionaries may mean the same
	if arrow.TypeEqual(want.DataType(), got.DataType()) && !dictionary {
		if !array.Equal(want, got) {
			for i := range want.Len() {
				require.Equal(t, want.ValueStr(i), got.ValueStr(i), "%s row %d", name, i)
			}
			t.Fatalf("%s differs", name)
		}
		return
	}
	text := func(a arrow.Array, i int) string {
		if extension, ok := a.(array.ExtensionArray); ok {
			a = extension.Storage()
		}
		return a.ValueStr(i)
	}
	for i := range want.Len() {
		require.Equal(t, want.IsNull(i), got.IsNull(i), "%s row %d", name, i)
		require.Equal(t, text(want, i), text(got, i), "%s as %s row %d", name, got.DataType(), i)
	}
}

// requireDecodes decodes all columns as their own type and others, and compares them with what was written.
func requireDecodes(t *testing.T, cases []decodeCase, columns []arrow.Array, content []byte) {
	reader := openFile(t, content)
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	var d Decoder
	at := int64(0)
	for group := range reader.NumRowGroups() {
		rows := reader.RowGroup(group).NumRows()
		for i, column := range columns {
			want := array.NewSlice(column, at, at+rows)
			for _, dt := range append([]arrow.DataType{column.DataType()}, cases[i].also...) {
				got, err := decodeColumn(t, &d, reader, group, i, dt, mem)
				require.NoError(t, err, "%s as %s", column.DataType(), dt)
				requireSame(t, want, got, reader.MetaData().Schema.Column(i).Name())
				got.Release()
				for _, c := range []struct{ rows, bytes int64 }{{50, 0}, {rows, 0}, {rows, 100}} {
					d.SliceBytes = c.bytes
					requireSlices(t, want, &d, reader, group, i, dt, c.rows, mem)
				}
				d.SliceBytes = 0
			}
			want.Release()
		}
		at += rows
	}
	require.Equal(t, int64(columns[0].Len()), at)
}

func TestDecodeEveryType(t *testing.T) {
	const rows = 1000
	cases := decodeCases()
	for _, at := range devicetest.Product(t, 5, 2, 2, 2) {
		nulls, dictionary := []nullness{required, noNulls, someNulls, runNulls, allNulls}[at[0]], at[1] == 0
		version := []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[at[2]]
		pageBytes := []int64{100, 1 << 20}[at[3]]
		t.Run(fmt.Sprintf("nulls=%s/dictionary=%t/version=%d/page=%d", nulls, dictionary, version+1, pageBytes),
			func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, uint64(pageBytes)))
				columns := make([]arrow.Array, len(cases))
				for i, c := range cases {
					columns[i] = testArray(c, rows, nulls, r)
					defer columns[i].Release()
				}
				content := writeColumns(t, columns, nulls != required, nil, parquet.WithDictionaryDefault(dictionary),
					parquet.WithDataPageVersion(version), parquet.WithDataPageSize(pageBytes), parquet.WithBatchSize(64),
					parquet.WithMaxRowGroupLength(rows*2/3), parquet.WithDictionaryPageSizeLimit(2000),
					parquet.WithStoreDecimalAsInteger(version == parquet.DataPageV2), parquet.WithVersion(parquet.V2_LATEST))
				requireDecodes(t, cases, columns, content)
			})
	}
}

func TestDecodeEveryCompression(t *testing.T) {
	cases := decodeCases()
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy,
		compress.Codecs.Gzip,
		compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4Raw} {
		t.Run(codec.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(2, 2))
			columns := make([]arrow.Array, len(cases))
			for i, c := range cases {
				columns[i] = testArray(c, 500, someNulls, r)
				defer columns[i].Release()
			}
			content := writeColumns(t, columns, true, nil, parquet.WithCompression(codec),
				parquet.WithVersion(parquet.V2_LATEST))
			requireDecodes(t, cases, columns, content)
		})
	}
}
