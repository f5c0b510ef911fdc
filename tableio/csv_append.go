package tableio

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// appendFunc parses a value that is not null into the builder of its column;
// false means that the text is not a value of the type.
type appendFunc func(builder array.Builder, value []byte) bool

// csvAppender returns the parser of a type, or an error where CSV cannot hold it.
func csvAppender(dt arrow.DataType) (appendFunc, error) {
	switch dt := dt.(type) {
	case *arrow.BooleanType:
		return appender((*array.BooleanBuilder).Append, parseBool), nil
	case *arrow.Int8Type:
		return appender((*array.Int8Builder).Append, parseSigned[int8]), nil
	case *arrow.Int16Type:
		return appender((*array.Int16Builder).Append, parseSigned[int16]), nil
	case *arrow.Int32Type:
		return appender((*array.Int32Builder).Append, parseSigned[int32]), nil
	case *arrow.Int64Type:
		return appender((*array.Int64Builder).Append, parseSigned[int64]), nil
	case *arrow.Uint8Type:
		return appender((*array.Uint8Builder).Append, parseUnsigned[uint8]), nil
	case *arrow.Uint16Type:
		return appender((*array.Uint16Builder).Append, parseUnsigned[uint16]), nil
	case *arrow.Uint32Type:
		return appender((*array.Uint32Builder).Append, parseUnsigned[uint32]), nil
	case *arrow.Uint64Type:
		return appender((*array.Uint64Builder).Append, parseUnsigned[uint64]), nil
	case *arrow.Float32Type:
		return appender((*array.Float32Builder).Append, func(b []byte) (float32, bool) {
			v, err := strconv.ParseFloat(string(b), 32)
			return float32(v), err == nil
		}), nil
	case *arrow.Float64Type:
		return appender((*array.Float64Builder).Append, func(b []byte) (float64, bool) {
			v, err := strconv.ParseFloat(string(b), 64)
			return v, err == nil
		}), nil
	case *arrow.Decimal128Type:
		if dt.Scale < 0 {
			break
		}
		return appender((*array.Decimal128Builder).Append, func(b []byte) (decimal128.Num, bool) {
			v, ok := parseDecimal(b, dt.Scale)
			return v, ok && v.FitsInPrecision(dt.Precision)
		}), nil
	case *arrow.Date32Type:
		return appender((*array.Date32Builder).Append, func(b []byte) (arrow.Date32, bool) {
			days, ok := parseDate(b)
			return arrow.Date32(days), ok
		}), nil
	case *arrow.Date64Type:
		return appender((*array.Date64Builder).Append, func(b []byte) (arrow.Date64, bool) {
			days, ok := parseDate(b)
			return arrow.Date64(days * 86_400_000), ok
		}), nil
	case *arrow.Time32Type:
		return appender((*array.Time32Builder).Append, func(b []byte) (arrow.Time32, bool) {
			v, ok := parseTimeOfDay(b, dt.Unit)
			return arrow.Time32(v), ok
		}), nil
	case *arrow.Time64Type:
		return appender((*array.Time64Builder).Append, func(b []byte) (arrow.Time64, bool) {
			v, ok := parseTimeOfDay(b, dt.Unit)
			return arrow.Time64(v), ok
		}), nil
	case *arrow.TimestampType:
		zoned := dt.TimeZone != ""
		return appender((*array.TimestampBuilder).Append, func(b []byte) (arrow.Timestamp, bool) {
			t, ok := parseTimestamp(b)
			v, fits := t.units(unitsPerSecond(dt.Unit))
			return arrow.Timestamp(v), ok && fits && t.zoned == zoned
		}), nil
	case *arrow.StringType:
		return appender((*array.StringBuilder).Append, parseString), nil
	case *arrow.LargeStringType:
		return appender((*array.LargeStringBuilder).Append, parseString), nil
	case *arrow.BinaryType:
		return appender((*array.BinaryBuilder).Append, parseHex), nil
	case *arrow.LargeBinaryType:
		return appender(func(b *array.BinaryBuilder, v []byte) { b.Append(v) }, parseHex), nil
	}
	return nil, fmt.Errorf("type %s cannot be read from CSV", dt)
}

// appender joins the method that appends to a builder and the parser of its values.
func appender[B array.Builder, T any](appendTo func(B, T), parse func([]byte) (T, bool)) appendFunc {
	return func(builder array.Builder, text []byte) bool {
		v, ok := parse(text)
		if ok {
			appendTo(builder.(B), v)
		}
		return ok
	}
}

func parseSigned[T int8 | int16 | int32 | int64](b []byte) (T, bool) {
	v, err := strconv.ParseInt(string(b), 10, 64)
	return T(v), err == nil && int64(T(v)) == v
}

func parseUnsigned[T uint8 | uint16 | uint32 | uint64](b []byte) (T, bool) {
	v, err := strconv.ParseUint(string(b), 10, 64)
	return T(v), err == nil && uint64(T(v)) == v
}

func parseString(b []byte) (string, bool) { return string(b), utf8.Valid(b) }

func parseHex(b []byte) ([]byte, bool) {
	v, err := hex.DecodeString(string(b))
	return v, err == nil
}

func parseTimeOfDay(b []byte, unit arrow.TimeUnit) (int64, bool) {
	seconds, nanoseconds, _, ok := parseTime(b)
	v, fits := countUnits(seconds, nanoseconds, unitsPerSecond(unit))
	return v, ok && fits
}

func unitsPerSecond(unit arrow.TimeUnit) int64 {
	return map[arrow.TimeUnit]int64{arrow.Second: 1, arrow.Millisecond: 1_000, arrow.Microsecond: 1_000_000, arrow.Nanosecond: 1_000_000_000}[unit]
}
