package tableio

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/csv"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// Types that CSV does not have are written as their plain equals; the other formats give them back.
func TestPlainTypes(t *testing.T) {
	types := []arrow.DataType{arrow.BinaryTypes.StringView, arrow.BinaryTypes.BinaryView, &arrow.Decimal32Type{Precision: 7, Scale: 2}, &arrow.Decimal64Type{Precision: 15, Scale: 0}}
	fields := make([]arrow.Field, len(types))
	for i, dt := range types {
		fields[i] = arrow.Field{Name: dt.Name(), Type: dt, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i, text := range []string{"short", "a text that is longer than a view holds inline", ""} {
		b.Field(0).(*array.StringViewBuilder).Append(text)
		b.Field(1).(*array.BinaryViewBuilder).Append([]byte(text))
		b.Field(2).(*array.Decimal32Builder).Append(decimal.Decimal32(-150 + i))
		b.Field(3).(*array.Decimal64Builder).Append(decimal.Decimal64(1 << 40 * i))
	}
	for i := range types {
		b.Field(i).AppendNull()
	}
	batch := b.NewRecordBatch()
	want := []string{
		"string_view large_utf8: short|a text that is longer than a view holds inline||(null)",
		"binary_view large_binary: c2hvcnQ=|YSB0ZXh0IHRoYXQgaXMgbG9uZ2VyIHRoYW4gYSB2aWV3IGhvbGRzIGlubGluZQ==||(null)",
		"decimal32 decimal(7, 2): -1.5|-1.49|-1.48|(null)",
		"decimal64 decimal(15, 0): 0|1099511627776|2199023255552|(null)",
	}
	path := tempPath(t, CSV)
	writeFile(t, path, schema, []arrow.RecordBatch{batch, batch.NewSlice(1, 1)}, WriteOptions{})
	readFile(t, path, nil, ReadOptions{CSV: csv.Options{Schema: core.PlainSchema(schema)}}, func(got arrow.Table) {
		require.Equal(t, want, render(got))
	})
	for _, format := range []Format{Parquet, ArrowFile, ArrowStream} {
		path := tempPath(t, format)
		writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{})
		readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
			tabletest.RequireSameTable(t, array.NewTableFromRecords(schema, []arrow.RecordBatch{batch}), got)
		})
		readFile(t, path, []string{"string_view"}, ReadOptions{}, func(got arrow.Table) {
			require.Equal(t, []string{"string_view string_view: short|a text that is longer than a view holds inline||(null)"}, render(got))
		})
	}
}

func TestNullColumns(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.Null, Nullable: true}, {Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i := range 5 {
		b.Field(0).AppendNull()
		b.Field(1).(*array.Int64Builder).Append(int64(i))
	}
	batch := b.NewRecordBatch()
	for _, format := range formats {
		path := tempPath(t, format)
		writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{})
		for _, columns := range [][]string{nil, {"n"}, {"k"}} {
			readFile(t, path, columns, ReadOptions{}, func(got arrow.Table) {
				require.Equal(t, int64(5), got.NumRows(), "%v", format)
				require.Contains(t, []int{0, 5}, got.Column(0).NullN())
			})
		}
	}
}

func TestUnsupportedTypesNameTheColumn(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "wait", Type: arrow.FixedWidthTypes.Duration_s}}, nil)
	for _, format := range []Format{Parquet, CSV} {
		_, err := Create(tempPath(t, format), schema, WriteOptions{})
		require.ErrorIs(t, err, ErrOutput)
		require.ErrorContains(t, err, `column "wait": type duration[s] cannot be written to `)
	}
}
