package columnchunk

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	nullsNone      = "none"
	nullsSome      = "some"
	nullsAll       = "all"
	nullsAlternate = "alternate"
	nullsRuns      = "runs"
)

var nullPatterns = []string{nullsNone, nullsSome, nullsAll, nullsAlternate, nullsRuns}

func isNullAt(pattern string, row int, random *rand.Rand) bool {
	switch pattern {
	case nullsSome:
		return row == 0 || random.IntN(5) == 0
	case nullsAll:
		return true
	case nullsAlternate:
		return row%2 == 1
	case nullsRuns:
		return row/300%2 == 1
	}
	return false
}

func flatTypes() []arrow.DataType {
	json, err := extensions.NewJSONType(arrow.BinaryTypes.StringView)
	if err != nil {
		panic(err)
	}
	values := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean,
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow.Decimal32Type{Precision: 3},
		&arrow.Decimal64Type{Precision: 18, Scale: 4}, &arrow.Decimal64Type{Precision: 9, Scale: 4},
		&arrow.Decimal128Type{Precision: 9}, &arrow.Decimal128Type{Precision: 18}, &arrow.Decimal128Type{Precision: 19},
		&arrow.Decimal128Type{Precision: 38, Scale: 10}, &arrow.Decimal256Type{Precision: 76, Scale: 10},
		&arrow.Decimal256Type{Precision: 40}, &arrow.Decimal256Type{Precision: 18}, &arrow.Decimal256Type{Precision: 7},
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms,
		arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
		arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_ms, arrow.FixedWidthTypes.Timestamp_ns,
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Paris"},
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
		arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView,
		&arrow.FixedSizeBinaryType{ByteWidth: 5},
		arrow.Null, extensions.NewUUIDType(), json,
	}
	types := values
	for i, dt := range values {
		if dt.ID() != arrow.NULL {
			index := []arrow.DataType{
				arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32,
				arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
			}[i%6]
			types = append(types, &arrow.DictionaryType{IndexType: index, ValueType: dt})
		}
	}
	return append(types, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.PrimitiveTypes.Int64})
}

// generateArray makes rows of up to a number of distinct values.
func generateArray(dt arrow.DataType, rows int, nulls string, distinct uint64, random *rand.Rand) arrow.Array {
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		return makeDictionary(dictionary, rows, nulls, distinct, random)
	}
	if extension, ok := dt.(arrow.ExtensionType); ok {
		values := generateArray(extension.StorageType(), rows, nulls, distinct, random)
		return array.NewExtensionArrayWithStorage(extension, values)
	}
	builder := array.NewBuilder(memory.NewGoAllocator(), dt)
	for row := range rows {
		if isNullAt(nulls, row, random) {
			builder.AppendNull()
		} else {
			generateValue(builder, random.Uint64N(distinct)*0x9E37_79B9_7F4A_7C15)
		}
	}
	return builder.NewArray()
}

// makeDictionary has unused, repeated and null entries.
func makeDictionary(dt *arrow.DictionaryType, rows int, nulls string, distinct uint64, random *rand.Rand) arrow.Array {
	entries := int(min(distinct, uint64(rows))) + 3
	if bits := dt.IndexType.(arrow.FixedWidthDataType).BitWidth(); bits < 32 {
		entries = min(entries, 1<<(bits-1))
	}
	some := nullsNone
	if nulls != nullsNone {
		some = nullsSome
	}
	values := generateArray(dt.ValueType, entries, some, distinct, random)
	builder := array.NewBuilder(memory.NewGoAllocator(), dt.IndexType)
	for row := range rows {
		if isNullAt(nulls, row, random) {
			builder.AppendNull()
		} else {
			appendIndex(builder, random.IntN(entries))
		}
	}
	return array.NewDictionaryArray(dt, builder.NewArray(), values)
}

func appendIndex(builder array.Builder, v int) {
	switch b := builder.(type) {
	case *array.Int8Builder:
		b.Append(int8(v))
	case *array.Uint8Builder:
		b.Append(uint8(v))
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Uint16Builder:
		b.Append(uint16(v))
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Uint32Builder:
		b.Append(uint32(v))
	case *array.Int64Builder:
		b.Append(int64(v))
	case *array.Uint64Builder:
		b.Append(uint64(v))
	}
}

func generateValue(builder array.Builder, v uint64) {
	text := fmt.Appendf(nil, "%.*s %d", v%20, "twenty letters and more", v)
	text = text[:min(v%23, uint64(len(text)))]
	switch b := builder.(type) {
	case *array.BooleanBuilder:
		b.Append(v>>8&1 == 1)
	case *array.Int8Builder, *array.Uint8Builder, *array.Int16Builder, *array.Uint16Builder,
		*array.Int32Builder, *array.Uint32Builder, *array.Int64Builder, *array.Uint64Builder:
		appendIndex(b, int(v))
	case *array.Float16Builder:
		b.Append(float16.New(float32(int8(v)) / 4))
	case *array.Float32Builder:
		b.Append(math.Float32frombits(uint32(v >> 7)))
	case *array.Float64Builder:
		b.Append(math.Float64frombits(v))
	case *array.Decimal32Builder:
		b.Append(decimal.Decimal32(int64(v) % 1000))
	case *array.Decimal64Builder:
		b.Append(decimal.Decimal64(int64(v) % 1_000_000_000))
	case *array.Decimal128Builder:
		b.Append(decimal128.FromBigInt(manyDigits(v, b.Type().(arrow.DecimalType))))
	case *array.Decimal256Builder:
		b.Append(decimal256.FromBigInt(manyDigits(v, b.Type().(arrow.DecimalType))))
	case *array.Date32Builder:
		b.Append(arrow.Date32(int32(v)))
	case *array.Date64Builder:
		b.Append(arrow.Date64(int64(int16(v)) * millisecondsPerDay))
	case *array.Time32Builder:
		b.Append(arrow.Time32(v % 86_400))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v % 86_400_000_000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(int64(v) >> 32))
	case *array.StringBuilder:
		b.Append(string(text))
	case *array.LargeStringBuilder:
		b.Append(string(text))
	case *array.StringViewBuilder:
		b.Append(string(text))
	case *array.BinaryBuilder:
		b.Append(text)
	case *array.BinaryViewBuilder:
		b.Append(text)
	case *array.FixedSizeBinaryBuilder:
		width := b.Type().(*arrow.FixedSizeBinaryType).ByteWidth
		b.Append(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, v), v)[:width])
	case *array.NullBuilder:
		b.AppendNull()
	default:
		panic(fmt.Sprintf("%T", builder))
	}
}

// manyDigits fills the digits of a decimal type.
func manyDigits(v uint64, dt arrow.DecimalType) *big.Int {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(dt.GetPrecision())), nil)
	n := new(big.Int).Exp(new(big.Int).SetUint64(v), big.NewInt(5), nil)
	n.Mod(n, limit)
	if v>>9&1 == 1 {
		n.Neg(n)
	}
	return n
}

// canonical is the value of a row as text that does not depend on how it is stored. Times are in nanoseconds.
func canonical(a arrow.Array, row int) string {
	if a.IsNull(row) || a.DataType().ID() == arrow.NULL {
		return "null"
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return canonical(a.Dictionary(), a.GetValueIndex(row))
	case array.ExtensionArray:
		return canonical(a.Storage(), row)
	case *array.Float16:
		return fmt.Sprintf("%x", a.Value(row).Uint16())
	case *array.Float32:
		return fmt.Sprintf("%x", math.Float32bits(a.Value(row)))
	case *array.Float64:
		return fmt.Sprintf("%x", math.Float64bits(a.Value(row)))
	case *array.Decimal32:
		return fmt.Sprint(int32(a.Value(row)))
	case *array.Decimal64:
		return fmt.Sprint(int64(a.Value(row)))
	case *array.Decimal128:
		return a.Value(row).BigInt().String()
	case *array.Decimal256:
		return a.Value(row).BigInt().String()
	case *array.Date32:
		return fmt.Sprint(int32(a.Value(row)))
	case *array.Date64:
		return fmt.Sprint(int64(a.Value(row)) / millisecondsPerDay)
	case *array.Time32:
		return inNanoseconds(int64(a.Value(row)), a.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		return inNanoseconds(int64(a.Value(row)), a.DataType().(*arrow.Time64Type).Unit)
	case *array.Timestamp:
		return inNanoseconds(int64(a.Value(row)), a.DataType().(*arrow.TimestampType).Unit)
	case interface{ Value(int) string }:
		return a.Value(row)
	case interface{ Value(int) []byte }:
		return string(a.Value(row))
	}
	return a.ValueStr(row)
}

func inNanoseconds(v int64, unit arrow.TimeUnit) string {
	return new(big.Int).Mul(big.NewInt(v), big.NewInt(int64(unit.Multiplier()))).String()
}
