package keys

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/take"
)

// Convert converts a column to a type that holds all its values, for which [relation.CommonType] of the column's type
// and to is to. The caller releases the result. If the column already has the type, the result is the column itself;
// otherwise it is in memory of the allocator. Nulls stay null. Convert runs on all cores.
//
// The cast of Arrow's compute package would not do: it knows neither decimals of 32 and 64 bits nor float16.
//
// Errors wrap backend.ErrUnsupported (another type, or a *BeyondError for a time that does not fit 64 bits in the finer
// unit), backend.ErrInvalidInput (corrupt buffers), backend.ErrCancelled or backend.ErrTimedOut.
func Convert(
	ctx context.Context, column arrow.Array, to arrow.DataType, allocator memory.Allocator,
) (arrow.Array, error) {
	converted, err := convert(ctx, column, to, allocator)
	if err != nil {
		return nil, fmt.Errorf("convert %s to %s: %w", column.DataType(), to, err)
	}
	return converted, nil
}

func convert(
	ctx context.Context, column arrow.Array, to arrow.DataType, allocator memory.Allocator,
) (arrow.Array, error) {
	from := column.DataType()
	if arrow.TypeEqual(from, to) {
		column.Retain()
		return column, nil
	}
	if common, ok := relation.CommonType(from, to); !ok || !arrow.TypeEqual(common, to) {
		return nil, fmt.Errorf("%w: it does not hold every value", backend.ErrUnsupported)
	}
	switch column := column.(type) {
	case *array.Null:
		return relation.Nulls(to, column.Len(), allocator)
	case *array.Dictionary:
		entries, err := takeEntries(ctx, column, allocator)
		if err != nil {
			return nil, err
		}
		defer entries.Release()
		return convert(ctx, entries, to, allocator)
	}
	data, rows := column.Data(), column.Len()
	if id := to.ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
		return convertTexts(ctx, column, to, allocator)
	}
	if err := relation.CheckBuffers(data, bitWidth(column)); err != nil {
		return nil, fmt.Errorf("%w: %w", backend.ErrInvalidInput, err)
	}
	values := memory.NewResizableBuffer(allocator)
	defer values.Release()
	values.Resize(rows * to.(arrow.FixedWidthDataType).Bytes())
	validity := copyValidity(data, allocator)
	if validity != nil {
		defer validity.Release()
	}
	if err := convertValues(ctx, column, to, values.Bytes()); err != nil {
		return nil, err
	}
	converted := array.NewData(to, rows, []*memory.Buffer{validity, values}, nil, column.NullN(), 0)
	defer converted.Release()
	return array.MakeFromData(converted), nil
}

// copyValidity copies the validity bitmap of the rows; nil if no row is null.
func copyValidity(data arrow.ArrayData, allocator memory.Allocator) *memory.Buffer {
	if !relation.MayHaveNulls(data) {
		return nil
	}
	validity := memory.NewResizableBuffer(allocator)
	validity.Resize((data.Len() + 7) / 8)
	bitutil.CopyBitmap(relation.BufferBytes(data, 0), data.Offset(), data.Len(), validity.Bytes(), 0)
	return validity
}

// convertTexts writes texts one after the other, with 64-bit offsets.
func convertTexts(
	ctx context.Context, column arrow.Array, to arrow.DataType, allocator memory.Allocator,
) (arrow.Array, error) {
	source, err := newTexts(column, coding{method: methodText})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backend.ErrInvalidInput, err)
	}
	rows := column.Len()
	offsets, values := memory.NewResizableBuffer(allocator), memory.NewResizableBuffer(allocator)
	defer offsets.Release()
	defer values.Release()
	offsets.Resize((rows + 1) * 8)
	ends := relation.View[int64](offsets.Bytes())
	ends[0] = 0
	for i := range rows {
		ends[i+1] = ends[i]
		if column.IsValid(i) {
			ends[i+1] += int64(len(source.text(i)))
		}
	}
	values.Resize(int(ends[rows]))
	out := values.Bytes()
	if err := relation.ForBlocks(ctx, rows, func(from, to int) error {
		for i := from; i < to; i++ {
			if ends[i] < ends[i+1] {
				copy(out[ends[i]:ends[i+1]], source.text(i))
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	validity := copyValidity(column.Data(), allocator)
	if validity != nil {
		defer validity.Release()
	}
	converted := array.NewData(to, rows, []*memory.Buffer{validity, offsets, values}, nil, column.NullN(), 0)
	defer converted.Release()
	return array.MakeFromData(converted), nil
}

// takeEntries decodes a dictionary column.
func takeEntries(ctx context.Context, column *array.Dictionary, allocator memory.Allocator) (arrow.Array, error) {
	ids := make([]uint32, column.Len())
	for i := range ids {
		ids[i] = take.NoRow
		if column.IsValid(i) {
			ids[i] = uint32(min(uint64(column.GetValueIndex(i)), take.NoRow-1))
		}
	}
	entries := arrow.NewChunked(column.Dictionary().DataType(), []arrow.Array{column.Dictionary()})
	defer entries.Release()
	return take.Nullable(ctx, entries, ids, allocator)
}

func convertValues(ctx context.Context, column arrow.Array, to arrow.DataType, out []byte) error {
	switch into := to.(type) {
	case *arrow.Float16Type:
		values := relation.View[uint16](out)
		return convertFloats(ctx, column, func(i int, v float64) { values[i] = float16.New(float32(v)).Uint16() })
	case *arrow.Float32Type:
		values := relation.View[float32](out)
		return convertFloats(ctx, column, func(i int, v float64) { values[i] = float32(v) })
	case *arrow.Float64Type:
		values := relation.View[float64](out)
		return convertFloats(ctx, column, func(i int, v float64) { values[i] = v })
	case *arrow.Decimal128Type, *arrow.Decimal256Type:
		return convertDecimals(ctx, column, into.(arrow.DecimalType), out)
	}
	from, fine := relation.TraitOf(column.DataType()), relation.TraitOf(to)
	c := coding{factor: ratio(from, fine)} // the codes are the stored numbers of the target type
	if from.Unsigned && fine.Unsigned {
		c.domain = domainUnsigned
	}
	switch to.(arrow.FixedWidthDataType).Bytes() {
	case 2:
		return convertCodes(ctx, column, c, relation.View[uint16](out))
	case 4:
		return convertCodes(ctx, column, c, relation.View[uint32](out))
	default:
		return convertCodes(ctx, column, c, relation.View[uint64](out))
	}
}

// convertCodes writes the code of every row. It returns an error for a value that does not fit.
func convertCodes[T uint16 | uint32 | uint64](ctx context.Context, column arrow.Array, c coding, out []T) error {
	r := newReader(column, c)
	return forBlocks(ctx, len(out), func(s *scratch, from, to int) error {
		for strip := from; strip < to; strip += StripRows {
			n := min(StripRows, to-strip)
			if r.filters() {
				words := s.words[:(n+63)/64]
				fill(words, n)
				r.admit(words, s.packed[:], 0, strip, n)
				for i := range n {
					if !hasBit(words, i) && column.IsValid(strip+i) {
						return errBeyond(column, strip+i)
					}
				}
			}
			for i, code := range r.codes(s.codes[:], strip, n) {
				out[strip+i] = T(code)
				if widen(out[strip+i], c.domain) != code && column.IsValid(strip+i) {
					return errBeyond(column, strip+i)
				}
			}
		}
		return nil
	})
}

// widen extends a stored number to 64 bits, with its sign unless the domain is unsigned.
func widen[T uint16 | uint32 | uint64](v T, d domain) uint64 {
	unused := 64 - 8*unsafe.Sizeof(v)
	if d == domainUnsigned {
		return uint64(v)
	}
	return uint64(int64(uint64(v)<<unused) >> unused)
}

// BeyondError reports a value that the type given to [Convert] does not hold. It wraps backend.ErrUnsupported.
type BeyondError struct {
	Row   int // of the column
	Value string
}

func (e *BeyondError) Error() string {
	return fmt.Sprintf("%v: row %d has the value %s, which does not fit", backend.ErrUnsupported, e.Row, e.Value)
}

// Unwrap returns the sentinel.
func (e *BeyondError) Unwrap() error { return backend.ErrUnsupported }

func errBeyond(column arrow.Array, row int) error {
	return &BeyondError{row, relation.ValueText(column, row)}
}

// convertFloats calls set with the value of every row of a float or integer column that a float64 holds exactly.
func convertFloats(ctx context.Context, column arrow.Array, set func(i int, v float64)) error {
	r := newReader(column, coding{factor: 1})
	return forBlocks(ctx, column.Len(), func(s *scratch, from, to int) error {
		if source, ok := r.(*floats); ok {
			for i := from; i < to; i++ {
				set(i, source.value(i))
			}
			return nil
		}
		for strip := from; strip < to; strip += StripRows {
			for i, code := range r.codes(s.codes[:], strip, min(StripRows, to-strip)) {
				set(strip+i, float64(int64(code)))
			}
		}
		return nil
	})
}

// convertDecimals scales unscaled integers up to the scale of a decimal type of 128 or 256 bits.
func convertDecimals(ctx context.Context, column arrow.Array, into arrow.DecimalType, out []byte) error {
	source, width := relation.TraitOf(column.DataType()), into.BitWidth()/64
	increase := into.GetScale() - int32(source.Scale)
	number := numbers(column, source)
	words := relation.View[uint64](out)
	return relation.ForBlocks(ctx, column.Len(), func(from, to int) error {
		for i := from; i < to; i++ {
			var n decimal256.Num
			if column.IsValid(i) {
				if n = number(i); !n.FitsInPrecision(into.GetPrecision() - increase) {
					return errBeyond(column, i)
				}
				n = n.Mul(decimal256.GetScaleMultiplier(int(increase)))
			}
			all := n.Array()
			copy(words[i*width:][:width], all[:])
		}
		return nil
	})
}

// numbers returns a function that reads the unscaled integers of integer and decimal columns.
func numbers(column arrow.Array, t relation.Trait) func(i int) decimal256.Num {
	switch column := column.(type) {
	case *array.Decimal128:
		return func(i int) decimal256.Num { return decimal256.FromDecimal128(column.Value(i)) }
	case *array.Decimal256:
		return column.Value
	}
	c := coding{factor: 1}
	if t.Unsigned {
		c.domain = domainUnsigned
	}
	r := newReader(column, c)
	return func(i int) decimal256.Num {
		var one [1]uint64
		code := r.codes(one[:], i, 1)[0]
		if code > math.MaxInt64 && t.Unsigned {
			return decimal256.FromU64(code)
		}
		return decimal256.FromI64(int64(code))
	}
}
