package tableio

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/tableio/csv"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// defaultGroupRows is what WriteOptions.RowGroupRows means by 0.
const defaultGroupRows = 1 << 17

var formats = []Format{Parquet, CSV, ArrowFile, ArrowStream}

func extension(f Format) string {
	return map[Format]string{Parquet: ".parquet", CSV: ".csv", ArrowFile: ".arrow", ArrowStream: ".arrows"}[f]
}

// writeFile writes the batches and returns the path.
func writeFile(t tabletest.T, path string, schema *arrow.Schema, batches []arrow.RecordBatch, opts WriteOptions) {
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
func readFile(t tabletest.T, path string, columns []string, opts ReadOptions, use func(arrow.Table)) {
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
					schema, batches := tabletest.DrawBatches(rt, tabletest.CommonTypes)
					want := array.NewTableFromRecords(schema, batches)
					writeFile(rt, path, schema, batches, WriteOptions{Compression: compression})
					readFile(rt, path, nil, ReadOptions{CSV: csv.Options{Schema: schema}}, func(got arrow.Table) { tabletest.RequireSameTable(rt, want, got) })

					// a random choice of columns, in any order
					indices := rapid.SliceOfDistinct(rapid.IntRange(0, schema.NumFields()-1), rapid.ID).Draw(rt, "projection")
					names := make([]string, len(indices))
					for i, index := range indices {
						names[i] = schema.Field(index).Name
					}
					readFile(rt, path, names, ReadOptions{CSV: csv.Options{Schema: schema}}, func(got arrow.Table) {
						require.Equal(rt, want.NumRows(), got.NumRows())
						require.Equal(rt, len(names), int(got.NumCols()))
						for i, index := range indices {
							require.Equal(rt, names[i], got.Schema().Field(i).Name)
							require.True(rt, tabletest.SameColumn(want.Column(index), got.Column(i)))
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
		require.False(t, tabletest.SameColumn(want.Column(0), got.Column(0)), name)
	}
	lost := table(func(b *array.RecordBuilder) { ints(b).AppendValues([]int64{1, 2, 3}, nil) })
	require.False(t, tabletest.SameColumn(want.Column(0), lost.Column(0)))
}

func TestEmptyTables(t *testing.T) {
	fields := make([]arrow.Field, len(tabletest.CommonTypes))
	for i, dt := range tabletest.CommonTypes {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: dt, Nullable: i%2 == 0}
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	want := array.NewTableFromRecords(schema, nil)
	for _, format := range formats {
		for batches := range 2 { // none, and one without rows
			path := tempPath(t, format)
			writeFile(t, path, schema, []arrow.RecordBatch{builder.NewRecordBatch()}[:batches], WriteOptions{})
			readFile(t, path, nil, ReadOptions{CSV: csv.Options{Schema: schema}}, func(got arrow.Table) { tabletest.RequireSameTable(t, want, got) })
			readFile(t, path, []string{"c3"}, ReadOptions{CSV: csv.Options{Schema: schema}}, func(got arrow.Table) {
				require.Zero(t, got.NumRows())
				require.True(t, arrow.TypeEqual(tabletest.CommonTypes[3], got.Schema().Field(0).Type))
			})
		}
	}
}

func TestSeveralRowGroupsInParallel(t *testing.T) {
	rows := defaultGroupRows + 1000
	batch := tabletest.ExampleBatch(rows)
	want := array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch, batch})
	path := tempPath(t, Parquet)
	writeFile(t, path, batch.Schema(), []arrow.RecordBatch{batch, batch}, WriteOptions{})
	readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
		require.Len(t, got.Column(0).Data().Chunks(), 3)
		tabletest.RequireSameTable(t, want, got)
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
			tabletest.RequireSameTable(t, want, got)
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
			tabletest.RequireSameTable(t, want, got)
		})
	}
}

func TestNoColumnsAskedFor(t *testing.T) {
	for _, format := range formats {
		path := tempPath(t, format)
		writeFile(t, path, tabletest.ExampleBatch(0).Schema(), []arrow.RecordBatch{tabletest.ExampleBatch(5), tabletest.ExampleBatch(6)}, WriteOptions{})
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
		readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) { tabletest.RequireSameTable(t, want, got) })
		readFile(t, path, []string{"dict", "list"}, ReadOptions{}, func(got arrow.Table) {
			require.True(t, tabletest.SameColumn(want.Column(1), got.Column(0)))
			require.True(t, tabletest.SameColumn(want.Column(0), got.Column(1)))
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
