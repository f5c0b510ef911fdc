package dataset

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/take"
	"github.com/spirjoin/spirjoin/tableio/core"
)

// cast converts a column to a type that holds its values (see holds). arrow-go's kernels (18.8) are no help: they run
// in goroutines of their own, where the panic of an allocator that reached its limit ends the process.
//
// Errors: a timestamp that is out of the range of a finer unit; as for [take.Nullable].
func cast(ctx context.Context, column arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	if arrow.TypeEqual(column.DataType(), to) {
		column.Retain()
		return column, nil
	}
	if column.DataType().ID() == arrow.NULL {
		return relation.Nulls(to, column.Len(), mem)
	}
	if dictionary, ok := column.(*array.Dictionary); ok {
		values, err := entriesOf(ctx, dictionary, mem)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		return cast(ctx, values, to, mem)
	}
	if plain := core.PlainColumn(column); plain != column { // views and short decimals
		defer plain.Release()
		return cast(ctx, plain, to, mem)
	}
	defer column.Release() // of PlainColumn
	switch to := to.(type) {
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return largeTexts(column, to, mem), nil
	case arrow.DecimalType:
		return rescaled(column, to, mem), nil
	case *arrow.Date64Type:
		return scaled(column, to, 86_400_000, mem) // days in milliseconds
	case arrow.TemporalWithUnit:
		from := column.DataType().(arrow.TemporalWithUnit).TimeUnit()
		return scaled(column, to, int64(from.Multiplier()/to.TimeUnit().Multiplier()), mem)
	case *arrow.Int16Type:
		return numbers[int16](column, to, mem), nil
	case *arrow.Int32Type:
		return numbers[int32](column, to, mem), nil
	case *arrow.Int64Type:
		return numbers[int64](column, to, mem), nil
	case *arrow.Uint16Type:
		return numbers[uint16](column, to, mem), nil
	case *arrow.Uint32Type:
		return numbers[uint32](column, to, mem), nil
	case *arrow.Uint64Type:
		return numbers[uint64](column, to, mem), nil
	case *arrow.Float32Type:
		return numbers[float32](column, to, mem), nil
	case *arrow.Float64Type:
		return numbers[float64](column, to, mem), nil
	}
	return nil, fmt.Errorf("%s is not converted to %s", column.DataType(), to)
}

// entriesOf returns the values of a dictionary array.
func entriesOf(ctx context.Context, column *array.Dictionary, mem memory.Allocator) (arrow.Array, error) {
	ids := make([]uint32, column.Len())
	for row := range ids {
		if ids[row] = take.NoRow; column.IsValid(row) {
			ids[row] = uint32(column.GetValueIndex(row))
		}
	}
	entries := arrow.NewChunked(column.Dictionary().DataType(), []arrow.Array{column.Dictionary()})
	defer entries.Release()
	return take.Nullable(ctx, entries, ids, mem)
}

// number is a value of a column of fixed width.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// made returns an array with the NULLs of a column, and a buffer that fill fills, with a value for each row.
func made[T any](column arrow.Array, to arrow.DataType, mem memory.Allocator, fill func(out []T)) arrow.Array {
	data := column.Data()
	before := data.Offset() % 8 // so that bitmaps begin at a byte
	values := memory.NewResizableBuffer(mem)
	defer values.Release()
	values.Resize((before + data.Len()) * int(unsafe.Sizeof(*new(T))))
	if data.Len() > 0 {
		out := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(values.Bytes()))), before+data.Len())
		clear(out[:before])
		fill(out[before:])
	}
	validity := validityOf(data)
	if validity != nil {
		defer validity.Release()
	}
	out := array.NewData(to, data.Len(), []*memory.Buffer{validity, values}, nil, data.NullN(), before)
	defer out.Release()
	return array.MakeFromData(out)
}

// validityOf returns the bitmap from the byte in which that of the first row lies; nil if there is none.
func validityOf(data arrow.ArrayData) *memory.Buffer {
	validity, first := data.Buffers()[0], data.Offset()/8
	if validity == nil || validity.Len() == 0 {
		return nil
	}
	return memory.SliceBuffer(validity, first, validity.Len()-first)
}

// numbers converts a column of numbers.
func numbers[T number](column arrow.Array, to arrow.DataType, mem memory.Allocator) arrow.Array {
	return made(column, to, mem, func(out []T) {
		switch c := column.(type) {
		case *array.Int8:
			convertNumbers(out, c.Int8Values())
		case *array.Int16:
			convertNumbers(out, c.Int16Values())
		case *array.Int32:
			convertNumbers(out, c.Int32Values())
		case *array.Uint8:
			convertNumbers(out, c.Uint8Values())
		case *array.Uint16:
			convertNumbers(out, c.Uint16Values())
		case *array.Uint32:
			convertNumbers(out, c.Uint32Values())
		case *array.Float32:
			convertNumbers(out, c.Float32Values())
		default:
			panic(fmt.Sprintf("no number of type %s is converted", column.DataType()))
		}
	})
}

func convertNumbers[T, F number](out []T, in []F) {
	for i, value := range in {
		out[i] = T(value)
	}
}

// scaled multiplies times.
func scaled(column arrow.Array, to arrow.DataType, factor int64, mem memory.Allocator) (arrow.Array, error) {
	switch c := column.(type) {
	case *array.Timestamp:
		return multiplied[int64](c, to, factor, mem)
	case *array.Date32:
		return multiplied[int64](c, to, factor, mem)
	case *array.Time64:
		return multiplied[int64](c, to, factor, mem)
	case *array.Time32:
		if to.ID() == arrow.TIME32 {
			return multiplied[int32](c, to, factor, mem)
		}
		return multiplied[int64](c, to, factor, mem)
	}
	return nil, fmt.Errorf("%s is not converted to %s", column.DataType(), to)
}

// multiplied multiplies values that are not NULL.
func multiplied[T int32 | int64, F ~int32 | ~int64](column interface {
	arrow.Array
	Value(row int) F
}, to arrow.DataType, factor int64, mem memory.Allocator) (arrow.Array, error) {
	beyond := -1
	out := made(column, to, mem, func(out []T) {
		for row := range out {
			value := int64(column.Value(row))
			switch {
			case column.IsNull(row):
				out[row] = 0
			case value > math.MaxInt64/factor || value < math.MinInt64/factor:
				beyond = row
			default:
				out[row] = T(value * factor)
			}
		}
	})
	if beyond >= 0 {
		out.Release()
		return nil, fmt.Errorf("%s is out of the range of %s", column.ValueStr(beyond), to)
	}
	return out, nil
}

// rescaled converts decimals to more digits.
func rescaled(column arrow.Array, to arrow.DecimalType, mem memory.Allocator) arrow.Array {
	more := to.GetScale() - column.DataType().(arrow.DecimalType).GetScale()
	if to.ID() == arrow.DECIMAL128 {
		c := column.(*array.Decimal128)
		return made(column, to, mem, func(out []decimal128.Num) {
			for row := range out {
				if out[row] = (decimal128.Num{}); c.IsValid(row) {
					out[row] = c.Value(row).IncreaseScaleBy(more)
				}
			}
		})
	}
	return made(column, to, mem, func(out []decimal256.Num) {
		for row := range out {
			if out[row] = (decimal256.Num{}); column.IsNull(row) {
				continue
			}
			switch c := column.(type) {
			case *array.Decimal128:
				out[row] = decimal256.FromDecimal128(c.Value(row)).IncreaseScaleBy(more)
			case *array.Decimal256:
				out[row] = c.Value(row).IncreaseScaleBy(more)
			}
		}
	})
}

// largeTexts gives texts offsets of 64 bits.
func largeTexts(column arrow.Array, to arrow.DataType, mem memory.Allocator) arrow.Array {
	var short []int32
	switch c := column.(type) {
	case *array.String:
		short = c.ValueOffsets()
	case *array.Binary:
		short = c.ValueOffsets()
	}
	data := column.Data()
	before := data.Offset() % 8
	offsets := memory.NewResizableBuffer(mem)
	defer offsets.Release()
	offsets.Resize((before + data.Len() + 1) * arrow.Int64SizeBytes)
	out := arrow.Int64Traits.CastFromBytes(offsets.Bytes())
	clear(out)
	for i, offset := range short[:min(len(short), data.Len()+1)] {
		out[before+i] = int64(offset)
	}
	for i := range before {
		out[i] = out[before]
	}
	validity := validityOf(data)
	if validity != nil {
		defer validity.Release()
	}
	buffers := []*memory.Buffer{validity, offsets, data.Buffers()[2]}
	large := array.NewData(to, data.Len(), buffers, nil, data.NullN(), before)
	defer large.Release()
	return array.MakeFromData(large)
}
