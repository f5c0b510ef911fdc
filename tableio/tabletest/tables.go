// Package tabletest makes tables for tests of formats and compares them.
package tabletest

import (
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// CommonTypes are the types that every format keeps.
var CommonTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	&arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 10},
	arrow.FixedWidthTypes.Date32,
	&arrow.Time32Type{Unit: arrow.Millisecond}, &arrow.Time64Type{Unit: arrow.Microsecond},
	&arrow.Time64Type{Unit: arrow.Nanosecond},
	&arrow.TimestampType{Unit: arrow.Millisecond}, &arrow.TimestampType{Unit: arrow.Microsecond},
	&arrow.TimestampType{Unit: arrow.Nanosecond},
	&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary,
}

// drawValue appends one random value, edge values often.
func drawValue(t *rapid.T, b array.Builder) {
	wide := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64})).Draw(t, "v")
	seconds := wide % 250_000_000_000 // years -5953 to 9892 from 1970
	if seconds < -62_167_219_200 {    // the year 0
		seconds = -seconds
	}
	text := func() string {
		special := []string{"", "a,b", "\"", "x\r\ny", " ", "NULL", "\ufeffbom", "1", "2020-02-30", "\r", "a\"b\"\""}
		return rapid.OneOf(rapid.String(), rapid.SampledFrom(special)).Draw(t, "s")
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
		special := []float32{float32(math.Inf(-1)), 1e-45, 3}
		b.Append(rapid.OneOf(rapid.Float32(), rapid.SampledFrom(special)).Draw(t, "f"))
	case *array.Float64Builder:
		special := []float64{math.Inf(1), math.NaN(), math.Copysign(0, -1), 5e-324, 1e15, 0.1}
		b.Append(rapid.OneOf(rapid.Float64(), rapid.SampledFrom(special)).Draw(t, "f"))
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
		if unit := b.Type().(*arrow.TimestampType).Unit; unit == arrow.Nanosecond {
			b.Append(arrow.Timestamp(wide))
		} else {
			b.Append(arrow.Timestamp(seconds*int64(time.Second/unit.Multiplier()) + wide&511))
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

// DrawBatches makes a few batches with random columns of the types.
func DrawBatches(t *rapid.T, types []arrow.DataType) (*arrow.Schema, []arrow.RecordBatch) {
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

// T is what comparisons need of a test, also of a property.
type T interface {
	require.TestingT
	Helper()
}

// RequireSameTable compares schema, row order and values; NaN equals NaN.
func RequireSameTable(t T, want, got arrow.Table) {
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
		require.True(t, SameColumn(want.Column(i), got.Column(i)), "column %q:\nwant %v\ngot  %v", w.Name,
			want.Column(i).Data().Chunks(), got.Column(i).Data().Chunks())
	}
}

// SameColumn tells whether all values are equal; NaN equals NaN.
func SameColumn(a, b *arrow.Column) bool {
	return array.ChunkedApproxEqual(a.Data(), b.Data(), array.WithNaNsEqual(true), array.WithAbsTolerance(0))
}

// ExampleBatch has four columns of one value a row, some of them NULL.
func ExampleBatch(rows int) arrow.RecordBatch {
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
