package tableio

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// commonTypes are the types that every format keeps.
var commonTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	&arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 10},
	arrow.FixedWidthTypes.Date32,
	&arrow.Time32Type{Unit: arrow.Millisecond}, &arrow.Time64Type{Unit: arrow.Microsecond}, &arrow.Time64Type{Unit: arrow.Nanosecond},
	&arrow.TimestampType{Unit: arrow.Millisecond}, &arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Nanosecond},
	&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary,
}

var formats = []Format{Parquet, CSV, ArrowFile, ArrowStream}

func extension(f Format) string {
	return map[Format]string{Parquet: ".parquet", CSV: ".csv", ArrowFile: ".arrow", ArrowStream: ".arrows"}[f]
}

// drawValue appends one random value, edge values often.
func drawValue(t *rapid.T, b array.Builder) {
	wide := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64})).Draw(t, "v")
	seconds := wide % 250_000_000_000 // years -5953 to 9892 from 1970
	if seconds < minTextSeconds {
		seconds = -seconds
	}
	text := func() string {
		return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a,b", "\"", "x\r\ny", " ", "NULL", "\ufeffbom", "1", "2020-02-30", "\r", "a\"b\"\""})).Draw(t, "s")
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(wide&1 == 0)
	case *array.Int8Builder:
		b.Append(int8(wide))
	case *array.Int16Builder:
		b.Append(int16(wide))
	case *array.Int32Builder:
		b.Append(int32(wide))
	case *array.Int64Builder:
		b.Append(wide)
	case *array.Uint8Builder:
		b.Append(uint8(wide))
	case *array.Uint16Builder:
		b.Append(uint16(wide))
	case *array.Uint32Builder:
		b.Append(uint32(wide))
	case *array.Uint64Builder:
		b.Append(uint64(wide))
	case *array.Float32Builder:
		b.Append(rapid.OneOf(rapid.Float32(), rapid.SampledFrom([]float32{float32(math.Inf(-1)), 1e-45, 3})).Draw(t, "f"))
	case *array.Float64Builder:
		b.Append(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.Inf(1), math.NaN(), math.Copysign(0, -1), 5e-324, 1e15, 0.1})).Draw(t, "f"))
	case *array.Decimal128Builder:
		digits := b.Type().(*arrow.Decimal128Type).Precision
		v := decimal128.FromI64(wide % 1_000_000_000_000_000)
		if digits > 30 {
			v = v.Mul(decimal128.FromI64(wide % 1_000_000_000_000_000))
		}
		b.Append(v)
	case *array.Date32Builder:
		b.Append(arrow.Date32(seconds / 86_400))
	case *array.Time32Builder:
		b.Append(arrow.Time32(uint64(wide) % 86_400_000))
	case *array.Time64Builder:
		b.Append(arrow.Time64(uint64(wide) % 86_400_000_000))
	case *array.TimestampBuilder:
		if b.Type().(*arrow.TimestampType).Unit == arrow.Nanosecond {
			b.Append(arrow.Timestamp(wide))
		} else {
			b.Append(arrow.Timestamp(seconds*unitsPerSecond(b.Type().(*arrow.TimestampType).Unit) + wide&511))
		}
	case *array.StringBuilder:
		b.Append(text())
	case *array.LargeStringBuilder:
		b.Append(text())
	case *array.BinaryBuilder:
		b.Append([]byte(text() + "\xff\x00"))
	default:
		t.Fatalf("no values for %T", b)
	}
}

// drawBatches makes a few batches with random columns of the types.
func drawBatches(t *rapid.T, types []arrow.DataType) (*arrow.Schema, []arrow.RecordBatch) {
	columns := rapid.IntRange(1, 6).Draw(t, "columns")
	fields := make([]arrow.Field, columns)
	for i := range fields {
		fields[i] = arrow.Field{
			Name:     fmt.Sprintf("%s_%d", rapid.SampledFrom([]string{"a", "key, \"x\"", "ü", ""}).Draw(t, "name"), i),
			Type:     rapid.SampledFrom(types).Draw(t, "type"),
			Nullable: rapid.Bool().Draw(t, "nullable"),
		}
	}
	schema := arrow.NewSchema(fields, nil)
	batches := make([]arrow.RecordBatch, rapid.IntRange(0, 3).Draw(t, "batches"))
	for i := range batches {
		builder := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		for range rapid.IntRange(0, 20).Draw(t, "rows") {
			for c, field := range fields {
				if field.Nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
					builder.Field(c).AppendNull()
				} else {
					drawValue(t, builder.Field(c))
				}
			}
		}
		batches[i] = builder.NewRecordBatch()
	}
	return schema, batches
}

type testingT interface {
	require.TestingT
	Helper()
}

// requireSameTable compares schema, row order and values; NaN equals NaN.
func requireSameTable(t testingT, want, got arrow.Table) {
	t.Helper()
	require.Equal(t, want.NumRows(), got.NumRows())
	require.Equal(t, want.NumCols(), got.NumCols())
	require.True(t, want.Schema().Metadata().Equal(got.Schema().Metadata()), "%v", got.Schema().Metadata())
	for i := range int(want.NumCols()) {
		w, g := want.Schema().Field(i), got.Schema().Field(i)
		require.Equal(t, w.Name, g.Name)
		require.True(t, arrow.TypeEqual(w.Type, g.Type), "column %q: type %s, want %s", w.Name, g.Type, w.Type)
		require.Equal(t, w.Nullable, g.Nullable, "column %q", w.Name)
		require.True(t, w.Metadata.Equal(g.Metadata), "column %q: %v", w.Name, g.Metadata)
		require.True(t, sameColumn(want.Column(i), got.Column(i)), "column %q:\nwant %v\ngot  %v", w.Name, want.Column(i).Data().Chunks(), got.Column(i).Data().Chunks())
	}
}

func sameColumn(a, b *arrow.Column) bool {
	return array.ChunkedApproxEqual(a.Data(), b.Data(), array.WithNaNsEqual(true), array.WithAbsTolerance(0))
}

// writeFile writes the batches and returns the path.
func writeFile(t testingT, path string, schema *arrow.Schema, batches []arrow.RecordBatch, opts WriteOptions) {
	t.Helper()
	w, err := Create(path, schema, opts)
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Abort()) }()
	rows := int64(0)
	for _, batch := range batches {
		require.NoError(t, w.Write(context.Background(), batch))
		rows += batch.NumRows()
	}
	require.NoError(t, w.Commit(context.Background()))
	require.Equal(t, rows, w.Rows())
}

// readFile reads columns of a file with an allocator whose memory is not zero, and which must be empty afterwards.
func readFile(t testingT, path string, columns []string, opts ReadOptions, use func(arrow.Table)) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	opts.Allocator = dirty{mem}
	r, err := Open(context.Background(), path, opts)
	require.NoError(t, err)
	table, err := r.Read(context.Background(), columns)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	use(table)
	table.Release()
	require.Zero(t, mem.CurrentAlloc(), "bytes leaked")
}

// exampleBatch is a small table with a null.
func exampleBatch(rows int) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.PrimitiveTypes.Int64},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 15, Scale: 2}, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
	}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i) * 101))
		if i%7 == 3 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("name %d", i))
		}
		b.Field(3).(*array.Date32Builder).Append(arrow.Date32(i))
	}
	return b.NewRecordBatch()
}

func tempPath(t *testing.T, f Format) string {
	return filepath.Join(t.TempDir(), "table"+extension(f))
}

func requireOnlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	found := []string{}
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	require.ElementsMatch(t, names, found)
}

func TestRoundTripProperty(t *testing.T) {
	for _, format := range formats {
		for _, compression := range map[Format][]string{Parquet: {"", "zstd", "none"}, CSV: {""}, ArrowFile: {"", "zstd", "lz4"}, ArrowStream: {"", "zstd", "lz4"}}[format] {
			t.Run(fmt.Sprintf("format=%v/compression=%s", format, compression), func(t *testing.T) {
				path := tempPath(t, format)
				rapid.Check(t, func(rt *rapid.T) {
					schema, batches := drawBatches(rt, commonTypes)
					want := array.NewTableFromRecords(schema, batches)
					writeFile(rt, path, schema, batches, WriteOptions{Compression: compression})
					readFile(rt, path, nil, ReadOptions{CSV: CSVOptions{Schema: schema}}, func(got arrow.Table) { requireSameTable(rt, want, got) })

					// a random choice of columns, in any order
					indices := rapid.SliceOfDistinct(rapid.IntRange(0, schema.NumFields()-1), rapid.ID).Draw(rt, "projection")
					names := make([]string, len(indices))
					for i, index := range indices {
						names[i] = schema.Field(index).Name
					}
					readFile(rt, path, names, ReadOptions{CSV: CSVOptions{Schema: schema}}, func(got arrow.Table) {
						require.Equal(rt, want.NumRows(), got.NumRows())
						require.Equal(rt, len(names), int(got.NumCols()))
						for i, index := range indices {
							require.Equal(rt, names[i], got.Schema().Field(i).Name)
							require.True(rt, sameColumn(want.Column(index), got.Column(i)))
						}
					})
				})
			})
		}
	}
}

// The comparison must see a single changed value, a lost null and swapped rows.
func TestRequireSameTableSeesFaults(t *testing.T) {
	table := func(change func(*array.RecordBuilder)) arrow.Table {
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		change(b)
		return array.NewTableFromRecords(schema, []arrow.RecordBatch{b.NewRecordBatch()})
	}
	ints := func(b *array.RecordBuilder) *array.Int64Builder { return b.Field(0).(*array.Int64Builder) }
	want := table(func(b *array.RecordBuilder) { ints(b).AppendValues([]int64{1, 2, 3}, []bool{true, true, false}) })
	for name, fault := range map[string][]int64{"value": {1, 5, 0}, "order": {2, 1, 0}} {
		got := table(func(b *array.RecordBuilder) { ints(b).AppendValues(fault, []bool{true, true, false}) })
		require.False(t, sameColumn(want.Column(0), got.Column(0)), name)
	}
	lost := table(func(b *array.RecordBuilder) { ints(b).AppendValues([]int64{1, 2, 3}, nil) })
	require.False(t, sameColumn(want.Column(0), lost.Column(0)))
}

func TestEmptyTables(t *testing.T) {
	fields := make([]arrow.Field, len(commonTypes))
	for i, dt := range commonTypes {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: dt, Nullable: i%2 == 0}
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	want := array.NewTableFromRecords(schema, nil)
	for _, format := range formats {
		for batches := range 2 { // none, and one without rows
			path := tempPath(t, format)
			writeFile(t, path, schema, []arrow.RecordBatch{builder.NewRecordBatch()}[:batches], WriteOptions{})
			readFile(t, path, nil, ReadOptions{CSV: CSVOptions{Schema: schema}}, func(got arrow.Table) { requireSameTable(t, want, got) })
			readFile(t, path, []string{"c3"}, ReadOptions{CSV: CSVOptions{Schema: schema}}, func(got arrow.Table) {
				require.Zero(t, got.NumRows())
				require.True(t, arrow.TypeEqual(commonTypes[3], got.Schema().Field(0).Type))
			})
		}
	}
}

func TestSeveralRowGroupsInParallel(t *testing.T) {
	rows := rowGroupRows + 1000
	batch := exampleBatch(rows)
	want := array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch, batch})
	path := tempPath(t, Parquet)
	writeFile(t, path, batch.Schema(), []arrow.RecordBatch{batch, batch}, WriteOptions{})
	readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
		require.Len(t, got.Column(0).Data().Chunks(), 3)
		requireSameTable(t, want, got)
	})
}

func TestRowGroupBytes(t *testing.T) {
	const rows, rowBytes = 1000, 16
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for c := range schema.NumFields() {
		b.Field(c).(*array.Int64Builder).AppendValues(make([]int64, rows), nil)
	}
	batch := b.NewRecordBatch()
	want := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch, batch})
	for limitBytes, groups := range map[int64]int{0: 1, 2 * rows * rowBytes: 1, 1500 * rowBytes: 2, 700 * rowBytes: 3, 100 * rowBytes: 20, 1: 2 * rows} {
		path := tempPath(t, Parquet)
		writeFile(t, path, schema, []arrow.RecordBatch{batch, batch}, WriteOptions{RowGroupBytes: limitBytes})
		readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
			require.Len(t, got.Column(0).Data().Chunks(), groups, "limit %d", limitBytes)
			requireSameTable(t, want, got)
		})
	}
}

func TestRowGroupBytesWithNestedColumns(t *testing.T) {
	const rows = 1000
	list := arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{{Name: "list", Type: list, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for range rows {
		b.Field(0).(*array.ListBuilder).Append(true)
		b.Field(0).(*array.ListBuilder).ValueBuilder().(*array.Int64Builder).AppendValues([]int64{1, 2}, nil)
	}
	batch := b.NewRecordBatch()
	batches := []arrow.RecordBatch{batch, batch, batch}
	want := array.NewTableFromRecords(schema, batches)
	for limitBytes, groups := range map[int64]int{0: 1, 1 << 20: 1, 12_000: 5, 20 * 25: 120} {
		path := tempPath(t, Parquet)
		writeFile(t, path, schema, batches, WriteOptions{RowGroupBytes: limitBytes})
		readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
			require.Len(t, got.Column(0).Data().Chunks(), groups, "limit %d", limitBytes)
			requireSameTable(t, want, got)
		})
	}
}

func TestNoColumnsAskedFor(t *testing.T) {
	for _, format := range formats {
		path := tempPath(t, format)
		writeFile(t, path, exampleBatch(0).Schema(), []arrow.RecordBatch{exampleBatch(5), exampleBatch(6)}, WriteOptions{})
		readFile(t, path, []string{}, ReadOptions{}, func(got arrow.Table) {
			require.Equal(t, int64(11), got.NumRows())
			require.Zero(t, got.NumCols())
		})
	}
}

func TestNestedAndDictionaryColumns(t *testing.T) {
	mem := memory.NewGoAllocator()
	list := arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Int32, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "list", Type: list, Nullable: true},
		{Name: "dict", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "key", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	for i := range 100 {
		lists := b.Field(0).(*array.ListBuilder)
		lists.Append(i%5 != 0)
		if i%5 != 0 {
			lists.ValueBuilder().(*array.Int32Builder).AppendValues([]int32{int32(i), 2}, nil)
		}
		require.NoError(t, b.Field(1).(*array.BinaryDictionaryBuilder).AppendString([]string{"x", "yy", "zzz"}[i%3]))
		b.Field(2).(*array.Int64Builder).Append(int64(i))
	}
	batch := b.NewRecordBatch()
	want := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	for _, format := range []Format{Parquet, ArrowFile, ArrowStream} {
		path := tempPath(t, format)
		writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{})
		readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) { requireSameTable(t, want, got) })
		readFile(t, path, []string{"dict", "list"}, ReadOptions{}, func(got arrow.Table) {
			require.True(t, sameColumn(want.Column(1), got.Column(0)))
			require.True(t, sameColumn(want.Column(0), got.Column(1)))
		})
	}

	_, err := Create(tempPath(t, CSV), schema, WriteOptions{})
	require.ErrorIs(t, err, ErrOutput)
	require.ErrorContains(t, err, `column "list"`)

	flat := arrow.NewSchema(schema.Fields()[1:], nil) // a dictionary is written as its values
	path := tempPath(t, CSV)
	writeFile(t, path, flat, []arrow.RecordBatch{array.NewRecordBatch(flat, batch.Columns()[1:], 100)}, WriteOptions{})
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(content, []byte("dict,key\nx,0\nyy,1\nzzz,2\n")))
}
