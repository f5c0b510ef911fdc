package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio"
)

// arrowType is a flat type that tableio writes and what DuckDB makes of it in a Parquet file.
type arrowType struct {
	arrow arrow.DataType
	duck  string
}

var arrowTypes = map[string]arrowType{
	"bool": {arrow.FixedWidthTypes.Boolean, "BOOLEAN"},
	"int8": {arrow.PrimitiveTypes.Int8, "TINYINT"}, "int16": {arrow.PrimitiveTypes.Int16, "SMALLINT"},
	"int32": {arrow.PrimitiveTypes.Int32, "INTEGER"}, "int64": {arrow.PrimitiveTypes.Int64, "BIGINT"},
	"uint8": {arrow.PrimitiveTypes.Uint8, "UTINYINT"}, "uint16": {arrow.PrimitiveTypes.Uint16, "USMALLINT"},
	"uint32": {arrow.PrimitiveTypes.Uint32, "UINTEGER"}, "uint64": {arrow.PrimitiveTypes.Uint64, "UBIGINT"},
	"float16": {arrow.FixedWidthTypes.Float16, "FLOAT"},
	"float32": {arrow.PrimitiveTypes.Float32, "FLOAT"}, "float64": {arrow.PrimitiveTypes.Float64, "DOUBLE"},
	"decimal32":      {&arrow.Decimal32Type{Precision: 8, Scale: 3}, "DECIMAL(8,3)"},
	"decimal64":      {&arrow.Decimal64Type{Precision: 17, Scale: 17}, "DECIMAL(17,17)"},
	"decimal4":       {&arrow.Decimal128Type{Precision: 4, Scale: 1}, "DECIMAL(4,1)"},
	"decimal9":       {&arrow.Decimal128Type{Precision: 9, Scale: 0}, "DECIMAL(9,0)"},
	"decimal18":      {&arrow.Decimal128Type{Precision: 18, Scale: 3}, "DECIMAL(18,3)"},
	"decimal19":      {&arrow.Decimal128Type{Precision: 19, Scale: 2}, "DECIMAL(19,2)"},
	"decimal38":      {&arrow.Decimal128Type{Precision: 38, Scale: 10}, "DECIMAL(38,10)"},
	"decimal256":     {&arrow.Decimal256Type{Precision: 30, Scale: 5}, "DECIMAL(30,5)"},
	"date32":         {arrow.FixedWidthTypes.Date32, "DATE"},
	"date64":         {arrow.FixedWidthTypes.Date64, "DATE"},
	"time32s":        {arrow.FixedWidthTypes.Time32s, "TIME"},
	"time32ms":       {arrow.FixedWidthTypes.Time32ms, "TIME"},
	"time64us":       {arrow.FixedWidthTypes.Time64us, "TIME"},
	"time64ns":       {arrow.FixedWidthTypes.Time64ns, "TIME"}, // whole microseconds: DuckDB drops the rest
	"timestamp_s":    {&arrow.TimestampType{Unit: arrow.Second}, "TIMESTAMP"},
	"timestamp_ms":   {&arrow.TimestampType{Unit: arrow.Millisecond}, "TIMESTAMP"},
	"timestamp_us":   {&arrow.TimestampType{Unit: arrow.Microsecond}, "TIMESTAMP"},
	"timestamp_ns":   {&arrow.TimestampType{Unit: arrow.Nanosecond}, "TIMESTAMP_NS"},
	"timestamp_utc":  {&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, "TIMESTAMP WITH TIME ZONE"},
	"timestamp_zone": {&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Asia/Tokyo"}, "TIMESTAMP WITH TIME ZONE"},
	"string":         {arrow.BinaryTypes.String, "VARCHAR"},
	"large_string":   {arrow.BinaryTypes.LargeString, "VARCHAR"},
	"string_view":    {arrow.BinaryTypes.StringView, "VARCHAR"},
	"binary":         {arrow.BinaryTypes.Binary, "BLOB"},
	"large_binary":   {arrow.BinaryTypes.LargeBinary, "BLOB"},
	"binary_view":    {arrow.BinaryTypes.BinaryView, "BLOB"},
	"fixed":          {&arrow.FixedSizeBinaryType{ByteWidth: 5}, "BLOB"},
	"dictionary": {&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
		"VARCHAR"},
	"int_dictionary": {&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32,
		ValueType: arrow.PrimitiveTypes.Int64}, "BIGINT"},
}

// arrowMatrix makes the table of all types. Columns without nulls are required ones, but for those with few values.
func arrowMatrix(t *testing.T) (*arrow.Schema, arrow.RecordBatch) {
	t.Helper()
	var fields []arrow.Field
	columns := matrixColumns(slices.Sorted(maps.Keys(arrowTypes)))
	for _, c := range columns {
		required := c.nulls == "none" && c.values != "few"
		fields = append(fields, arrow.Field{Name: c.name(), Type: arrowTypes[c.typ].arrow, Nullable: !required})
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, c := range columns {
		for row := range matrixRows {
			if nulls[c.nulls].is(row) {
				b.Field(i).AppendNull()
			} else {
				require.NoError(t, appendValue(b.Field(i), values[c.values].of(row)), c.name())
			}
		}
	}
	return schema, b.NewRecordBatch()
}

// mix is a number that has nothing to do with its neighbours'; the first are the edges of integers.
func mix(n int) uint64 {
	edges := []uint64{0, math.MaxUint64, 1, math.MaxInt64, 1 << 63}
	if n < len(edges) {
		return edges[n]
	}
	v := uint64(n) * 0x9e3779b97f4a7c15
	v = (v ^ v>>31) * 0xbf58476d1ce4e5b9
	return v ^ v>>29
}

// within brings a number between two others, both included.
func within(v uint64, least, most int64) int64 { return least + int64(v%uint64(most-least+1)) }

// digits is a number of at most precision decimal digits.
func digits(v uint64, precision int32) *big.Int {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	number := new(big.Int).Mul(new(big.Int).SetUint64(v), new(big.Int).SetUint64(mix(int(v>>40)+7)))
	number.Mul(number, big.NewInt(0x7fffffff))
	if v&1 == 1 {
		number.Neg(number)
	}
	return number.Rem(number, limit)
}

func textOfNumber(v uint64) string {
	text := fmt.Sprintf("%x Ü\x00🙂", v)
	return strings.Repeat(text, int(v%3))
}

// float is any number, or one of those that are none.
func float(v uint64) float64 {
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.SmallestNonzeroFloat32}
	if v%13 < uint64(len(special)) {
		return special[v%13]
	}
	return float64(int64(v)) / 7
}

const (
	firstDay, lastDay = -719_162, 2_932_896 // of the years 1 to 9999
	daySeconds        = 24 * 60 * 60
)

// appendValue appends the value that a number stands for.
func appendValue(builder array.Builder, n int) error {
	v := mix(n)
	precision := func() int32 { return builder.Type().(arrow.DecimalType).GetPrecision() }
	switch b := builder.(type) {
	case *array.BooleanBuilder:
		b.Append(v&1 == 0)
	case *array.Int8Builder:
		b.Append(int8(v))
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Int64Builder:
		b.Append(int64(v))
	case *array.Uint8Builder:
		b.Append(uint8(v))
	case *array.Uint16Builder:
		b.Append(uint16(v))
	case *array.Uint32Builder:
		b.Append(uint32(v))
	case *array.Uint64Builder:
		b.Append(v)
	case *array.Float16Builder:
		b.Append(float16.New(float32(float(v % 40_000))))
	case *array.Float32Builder:
		b.Append(float32(float(v)))
	case *array.Float64Builder:
		b.Append(float(v))
	case *array.Decimal32Builder:
		b.Append(decimal.Decimal32(digits(v, precision()).Int64()))
	case *array.Decimal64Builder:
		b.Append(decimal.Decimal64(digits(v, precision()).Int64()))
	case *array.Decimal128Builder:
		b.Append(decimal128.FromBigInt(digits(v, precision())))
	case *array.Decimal256Builder:
		b.Append(decimal256.FromBigInt(digits(v, precision())))
	case *array.Date32Builder:
		b.Append(arrow.Date32(within(v, firstDay, lastDay)))
	case *array.Date64Builder:
		b.Append(arrow.Date64(within(v, firstDay, lastDay) * daySeconds * 1000))
	case *array.Time32Builder:
		perSecond := 1e9 / int64(b.Type().(*arrow.Time32Type).Unit.Multiplier())
		b.Append(arrow.Time32(within(v, 0, daySeconds*perSecond-1)))
	case *array.Time64Builder:
		perMicrosecond := 1000 / int64(b.Type().(*arrow.Time64Type).Unit.Multiplier())
		b.Append(arrow.Time64(within(v, 0, daySeconds*1e6-1) * perMicrosecond))
	case *array.TimestampBuilder:
		unit := b.Type().(*arrow.TimestampType).Unit
		if unit == arrow.Nanosecond {
			b.Append(arrow.Timestamp(within(v, -1<<62, 1<<62)))
		} else {
			perSecond := int64(1e9) / int64(unit.Multiplier())
			b.Append(arrow.Timestamp(within(v, firstDay*daySeconds*perSecond, lastDay*daySeconds*perSecond)))
		}
	case *array.StringBuilder:
		b.Append(textOfNumber(v))
	case *array.LargeStringBuilder:
		b.Append(textOfNumber(v))
	case *array.StringViewBuilder:
		b.Append(textOfNumber(v))
	case *array.BinaryViewBuilder:
		b.Append([]byte(textOfNumber(v) + "\xff"))
	case *array.BinaryBuilder:
		b.Append([]byte(textOfNumber(v) + "\xff"))
	case *array.FixedSizeBinaryBuilder:
		b.Append(fmt.Appendf(nil, "%05x", v%0x100000))
	case *array.BinaryDictionaryBuilder:
		return b.AppendString(textOfNumber(v))
	case *array.Int64DictionaryBuilder:
		return b.Append(int64(v))
	default:
		return fmt.Errorf("no values for %T", builder)
	}
	return nil
}

// writeTable writes a table to a Parquet file.
func writeTable(path string, table arrow.Table) error {
	w, err := tableio.Create(path, table.Schema(), tableio.WriteOptions{})
	if err != nil {
		return err
	}
	defer w.Abort()
	batches := array.NewTableReader(table, 0)
	defer batches.Release()
	for batches.Next() {
		if err := w.Write(context.Background(), batches.RecordBatch()); err != nil {
			return err
		}
	}
	return w.Commit(context.Background())
}

// duckType is a type of DuckDB: a value of it in SQL, $ being a number of 64 bits, the type that Parquet keeps of it
// where that is another, the type of a file that we write again of what we read, where that is another, and whether there
// is no Arrow type that carries it.
type duckType struct {
	value, stored, again string
	refused              bool
}

const timestampOf = "make_timestamp(($ % 8000000000000000)::BIGINT - 4000000000000000)"

// decimalOf is a value of a decimal type with a point before the last digits.
func decimalOf(precision, scale int) string {
	number := "lpad(($::HUGEINT * 9223372036854775783 % 100000000000000000000000000000000000000)::VARCHAR, 38, '7')"
	whole := fmt.Sprintf("'0' || left(%s, %d)", number, precision-scale)
	return fmt.Sprintf("(if($ %% 2 = 0, '-', '') || %s || '.' || right(%s, %d))::DECIMAL(%d, %d)",
		whole, number, scale, precision, scale)
}

var duckTypes = map[string]duckType{
	"BOOLEAN":   {value: "($ % 2 = 0)"},
	"TINYINT":   {value: "(($ % 256)::SMALLINT - 128)::TINYINT"},
	"SMALLINT":  {value: "(($ % 65536)::INTEGER - 32768)::SMALLINT"},
	"INTEGER":   {value: "(($ % 4294967296)::BIGINT - 2147483648)::INTEGER"},
	"BIGINT":    {value: "($::HUGEINT - 9223372036854775808)::BIGINT"},
	"UTINYINT":  {value: "($ % 256)::UTINYINT"},
	"USMALLINT": {value: "($ % 65536)::USMALLINT"},
	"UINTEGER":  {value: "($ % 4294967296)::UINTEGER"},
	"UBIGINT":   {value: "$::UBIGINT"},
	"HUGEINT":   {value: "($::HUGEINT * -1000003)", stored: "DOUBLE"},
	"UHUGEINT":  {value: "($::UHUGEINT * 1000003)", stored: "DOUBLE"},
	"FLOAT": {value: "CASE $ % 13 WHEN 0 THEN 'nan'::FLOAT WHEN 1 THEN '-inf'::FLOAT WHEN 2 THEN '-0.0'::FLOAT " +
		"ELSE (($ % 100000007)::FLOAT - 5e7) / 7 END"},
	"DOUBLE": {value: "CASE $ % 13 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE WHEN 2 THEN '-0.0'::DOUBLE " +
		"ELSE $::DOUBLE / 7 - 1e18 END"},
	"DECIMAL4":     {value: decimalOf(4, 1)},
	"DECIMAL9":     {value: decimalOf(9, 4)},
	"DECIMAL18":    {value: decimalOf(18, 18)},
	"DECIMAL38":    {value: decimalOf(38, 10)},
	"DATE":         {value: "(DATE '1970-01-01' + (($ % 2000000)::INTEGER - 700000))"},
	"TIME":         {value: "(TIME '00:00:00' + to_microseconds(($ % 86400000000)::BIGINT))"},
	"TIMESTAMP_S":  {value: timestampOf + "::TIMESTAMP_S"},
	"TIMESTAMP_MS": {value: timestampOf + "::TIMESTAMP_MS"},
	"TIMESTAMP":    {value: timestampOf},
	"TIMESTAMP_NS": {value: "make_timestamp_ns(($ >> 2)::BIGINT - 2305843009213693952)"},
	"TIMESTAMPTZ":  {value: timestampOf + "::TIMESTAMPTZ"},
	"VARCHAR":      {value: "if($ % 5 = 0, 'Ü🙂', left(md5($::VARCHAR), ($ % 33)::INTEGER))"},
	"BLOB":         {value: "unhex(left(md5($::VARCHAR), 2 * ($ % 17)::INTEGER))"},
	"UUID":         {value: "md5($::VARCHAR)::UUID"},
	"JSON":         {value: "('{\"a\": ' || $ || '}')::JSON"},
	"ENUM": {value: "(['red', 'green', 'blue', 'Ü', ''])[1 + ($ % 5)::INTEGER]" +
		"::ENUM ('', 'red', 'green', 'blue', 'Ü')"},
	"BIT":      {value: "($ >> 1)::BIGINT::BIT"},
	"INTERVAL": {value: "(to_days(($ % 100)::INTEGER) + to_seconds(($ % 1000)::BIGINT))", refused: true},
	"TIMETZ": {value: "(TIME '00:00:00' + to_microseconds(($ % 86400000000)::BIGINT))::TIMETZ", stored: "TIME",
		again: "TIME"},
}

// duckMatrix is the list of columns of a SELECT that makes the matrix from the row number i.
func duckMatrix(columns []matrixColumn) string {
	var expressions []string
	for _, c := range columns {
		value := strings.ReplaceAll(duckTypes[c.typ].value, "$", "hash("+values[c.values].sql+")")
		expressions = append(expressions,
			fmt.Sprintf("CASE WHEN %s THEN NULL ELSE %s END AS %s", nulls[c.nulls].sql, value, quoteName(c.name())))
	}
	return strings.Join(expressions, ", ")
}

// readBack is the list of columns of a SELECT that gives them as Parquet keeps them.
func readBack(columns []matrixColumn) string {
	var expressions []string
	for _, c := range columns {
		name := quoteName(c.name())
		switch stored := duckTypes[c.typ].stored; {
		case duckTypes[c.typ].refused:
		case stored != "":
			expressions = append(expressions, name+"::"+stored+" AS "+name)
		default:
			expressions = append(expressions, name)
		}
	}
	return strings.Join(expressions, ", ")
}
