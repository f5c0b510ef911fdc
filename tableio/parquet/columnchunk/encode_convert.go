package columnchunk

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

const millisecondsPerDay = 24 * 60 * 60 * 1000

var (
	errPrecision = errors.New("a decimal with more digits than its type has")
	errSeconds   = errors.New("a time in seconds that is too large for milliseconds")
	errDay       = errors.New("a date that is not a whole day")
)

type anyInteger interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// fixedValues lays the values that are not null side by side.
func fixedValues[T integer](e *Encoder, dt arrow.DataType, from *source) ([]T, error) {
	switch dt := dt.(type) {
	case *arrow.NullType:
		return nil, nil
	case *arrow.Int8Type:
		return convert(e, from, widen[int8, T])
	case *arrow.Int16Type:
		return convert(e, from, widen[int16, T])
	case *arrow.Uint8Type:
		return convert(e, from, widen[uint8, T])
	case *arrow.Uint16Type:
		return convert(e, from, widen[uint16, T])
	case *arrow.Date64Type:
		return convert(e, from, days[T])
	case *arrow.Time32Type:
		if dt.Unit == arrow.Second {
			return convert(e, from, milliseconds[int32, T])
		}
	case *arrow.TimestampType:
		if dt.Unit == arrow.Second {
			return convert(e, from, milliseconds[int64, T])
		}
	case *arrow.Decimal32Type:
		return convert(e, from, narrow[int32, T])
	case *arrow.Decimal64Type:
		return convert(e, from, narrow[int64, T])
	case *arrow.Decimal128Type:
		return convert(e, from, narrowDecimal128[T])
	case *arrow.Decimal256Type:
		return convert(e, from, narrowDecimal256[T])
	}
	var v T
	if fixed, ok := dt.(arrow.FixedWidthDataType); !ok || fixed.Bytes() != int(unsafe.Sizeof(v)) {
		return nil, fmt.Errorf("type %s as %s of Parquet", dt, e.column.Leaf.PhysicalType())
	}
	if from.nulls == 0 && len(from.parts) == 1 {
		return slots[T](from.parts[0]), nil
	}
	return convert[T, T](e, from, nil)
}

// convert lays the values that are not null side by side, each converted. Without a conversion they are copied.
func convert[S, T any](e *Encoder, from *source, conversion func(to []T, from []S) error) ([]T, error) {
	all := cast[T](grow(&e.words, words[T](from.rows)))
	row, n := 0, 0
	for _, part := range from.parts {
		values := slots[S](part)
		begin := row
		row += len(values)
		if conversion == nil {
			n += compact(all[n:], cast[T](values), from.valid, begin)
			continue
		}
		if from.nulls > 0 {
			valid := cast[S](grow(&e.raw, words[S](len(values))))
			values = valid[:compact(valid, values, from.valid, begin)]
		}
		if err := conversion(all[n:n+len(values)], values); err != nil {
			return nil, err
		}
		n += len(values)
	}
	return all[:n], nil
}

// words is the number of words of 64 bits that hold n values.
func words[T any](n int) int {
	var v T
	return (n*int(unsafe.Sizeof(v)) + 7) / 8
}

// slots are the values of an array of fixed width, values of null rows included.
func slots[T any](part arrow.ArrayData) []T {
	if part.Len() == 0 {
		return nil
	}
	return cast[T](part.Buffers()[1].Bytes())[part.Offset():][:part.Len()]
}

func widen[S anyInteger, T integer](to []T, from []S) error {
	to = to[:len(from)]
	for i, v := range from {
		to[i] = T(v)
	}
	return nil
}

func days[T integer](to []T, from []int64) error {
	for i, v := range from {
		if v%millisecondsPerDay != 0 || v/millisecondsPerDay != int64(int32(v/millisecondsPerDay)) {
			return errDay
		}
		to[i] = T(v / millisecondsPerDay)
	}
	return nil
}

func milliseconds[S int32 | int64, T integer](to []T, from []S) error {
	for i, v := range from {
		if v*1000/1000 != v {
			return errSeconds
		}
		to[i] = T(v * 1000)
	}
	return nil
}

func narrow[S int32 | int64, T integer](to []T, from []S) error {
	for i, v := range from {
		to[i] = T(v)
		if int64(to[i]) != int64(v) {
			return errPrecision
		}
	}
	return nil
}

func narrowDecimal128[T integer](to []T, from []decimal128.Num) error {
	to = to[:len(from)]
	lost := int64(0)
	for i, v := range from {
		low := int64(v.LowBits())
		to[i] = T(low)
		lost |= v.HighBits() ^ low>>63 | int64(to[i]) ^ low
	}
	if lost != 0 {
		return errPrecision
	}
	return nil
}

func narrowDecimal256[T integer](to []T, from []decimal256.Num) error {
	for i, v := range from {
		words := v.Array()
		low := int64(words[0])
		to[i] = T(low)
		sign := uint64(low >> 63)
		if int64(to[i]) != low || words[1] != sign || words[2] != sign || words[3] != sign {
			return errPrecision
		}
	}
	return nil
}
