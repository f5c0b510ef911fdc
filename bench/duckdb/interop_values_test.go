package main

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/duckdb/duckdb-go/v2"
)

// Values of both sides are compared as texts that say all of them: of a float the shortest digits that read back, of a
// decimal its digits and scale, of bytes hexadecimal digits.
const (
	null            = "\x00null"
	timeLayout      = "15:04:05.999999999"
	timestampLayout = time.DateOnly + " " + timeLayout
)

func decimalText(digits *big.Int, scale int32) string { return fmt.Sprintf("%de-%d", digits, scale) }

// arrowTexts gives the text of each value of an array that is not null.
func arrowTexts(column arrow.Array) func(row int) string {
	switch a := column.(type) {
	case *array.Boolean:
		return func(i int) string { return strconv.FormatBool(a.Value(i)) }
	case *array.Int8:
		return signedTexts(a.Int8Values())
	case *array.Int16:
		return signedTexts(a.Int16Values())
	case *array.Int32:
		return signedTexts(a.Int32Values())
	case *array.Int64:
		return signedTexts(a.Int64Values())
	case *array.Uint8:
		return unsignedTexts(a.Uint8Values())
	case *array.Uint16:
		return unsignedTexts(a.Uint16Values())
	case *array.Uint32:
		return unsignedTexts(a.Uint32Values())
	case *array.Uint64:
		return unsignedTexts(a.Uint64Values())
	case *array.Float16:
		return func(i int) string { return floatText(float64(a.Value(i).Float32()), 32) }
	case *array.Float32:
		return func(i int) string { return floatText(float64(a.Value(i)), 32) }
	case *array.Float64:
		return func(i int) string { return floatText(a.Value(i), 64) }
	case *array.Decimal32:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(i int) string { return decimalText(big.NewInt(int64(a.Value(i))), scale) }
	case *array.Decimal64:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(i int) string { return decimalText(big.NewInt(int64(a.Value(i))), scale) }
	case *array.Decimal128:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(i int) string { return decimalText(a.Value(i).BigInt(), scale) }
	case *array.Decimal256:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(i int) string { return decimalText(a.Value(i).BigInt(), scale) }
	case *array.Date32:
		return func(i int) string { return a.Value(i).ToTime().Format(time.DateOnly) }
	case *array.Date64:
		return func(i int) string { return a.Value(i).ToTime().Format(time.DateOnly) }
	case *array.Time32:
		unit := a.DataType().(*arrow.Time32Type).Unit
		return func(i int) string { return a.Value(i).ToTime(unit).Format(timeLayout) }
	case *array.Time64:
		unit := a.DataType().(*arrow.Time64Type).Unit
		return func(i int) string { return a.Value(i).ToTime(unit).Format(timeLayout) }
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return func(i int) string { return a.Value(i).ToTime(unit).UTC().Format(timestampLayout) }
	case array.ExtensionArray:
		return arrowTexts(a.Storage())
	case array.StringLike:
		return a.Value
	case interface{ Value(int) []byte }:
		return func(i int) string { return hex.EncodeToString(a.Value(i)) }
	case *array.Dictionary:
		texts := arrowTexts(a.Dictionary())
		return func(i int) string { return texts(a.GetValueIndex(i)) }
	case *array.Null:
		return func(int) string { return null }
	}
	return func(int) string { return fmt.Sprintf("no text of %T", column) }
}

func signedTexts[T int8 | int16 | int32 | int64](values []T) func(int) string {
	return func(i int) string { return strconv.FormatInt(int64(values[i]), 10) }
}

func unsignedTexts[T uint8 | uint16 | uint32 | uint64](values []T) func(int) string {
	return func(i int) string { return strconv.FormatUint(uint64(values[i]), 10) }
}

func floatText(v float64, bits int) string { return strconv.FormatFloat(v, 'g', -1, bits) }

// columnTexts are the texts of a column of several chunks.
func columnTexts(column *arrow.Column) []string {
	texts := make([]string, 0, column.Len())
	for _, chunk := range column.Data().Chunks() {
		text := arrowTexts(chunk)
		for i := range chunk.Len() {
			if chunk.IsNull(i) {
				texts = append(texts, null)
			} else {
				texts = append(texts, text(i))
			}
		}
	}
	return texts
}

// exactly is the expression that gives a value of a type of DuckDB unchanged: those that the driver does not know,
// or of which it knows less, as text.
func exactly(c columnType) string {
	switch name := quoteName(c.name); c.typ {
	case "TIME", "TIME_NS", "JSON", "BIT":
		return name + "::VARCHAR"
	case "UUID":
		return "replace(" + name + "::VARCHAR, '-', '')"
	default:
		return name
	}
}

// duckText is the text of a value that the driver gave for a column.
func duckText(v any, typ string) string {
	switch v := v.(type) {
	case nil:
		return null
	case string:
		if typ == "TIME" || typ == "TIME_NS" {
			if moment, err := time.Parse(timeLayout, v); err == nil {
				return moment.Format(timeLayout)
			}
		}
		return v
	case float32:
		return floatText(float64(v), 32)
	case float64:
		return floatText(v, 64)
	case []byte:
		return hex.EncodeToString(v)
	case duckdb.Decimal:
		return decimalText(v.Value, int32(v.Scale))
	case time.Time:
		if typ == "DATE" {
			return v.UTC().Format(time.DateOnly)
		}
		return v.UTC().Format(timestampLayout)
	}
	return fmt.Sprint(v)
}
