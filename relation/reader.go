package relation

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// reader turns the values of one chunk of a key column into codes. Rows count from the chunk's first; nulls are the
// caller's business.
type reader interface {
	// codes returns the codes of rows [from, from+n): in scratch, which holds at least n, or as a view of the column's own
	// memory. Rows without a code, and null rows, get any number.
	codes(scratch []uint64, from, n int) []uint64
	// filters tells whether some value of the chunk's type has no code.
	filters() bool
	// admit clears bit at+i of mask where row from+i has no code, for every i below n. Scratch holds at least n. It is
	// called only where filters is true.
	admit(mask, scratch []uint64, at, from, n int)
}

// newReader chooses the reader of a chunk whose type has codes and is no dictionary.
func newReader(chunk arrow.Array, c coding) reader {
	data := chunk.Data()
	switch dt := chunk.DataType(); dt.ID() {
	case arrow.BOOL:
		return &bools{bits: bufferBytes(data, 1), offset: data.Offset()}
	case arrow.INT8:
		return newScaled(values[int8](data), c)
	case arrow.INT16:
		return newScaled(values[int16](data), c)
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32, arrow.INTERVAL_MONTHS:
		return newScaled(values[int32](data), c)
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL64, arrow.INTERVAL_DAY_TIME:
		return newScaled(values[int64](data), c)
	case arrow.UINT8:
		return newScaled(values[uint8](data), c)
	case arrow.UINT16:
		return newScaled(values[uint16](data), c)
	case arrow.UINT32:
		return newScaled(values[uint32](data), c)
	case arrow.UINT64:
		return newScaled(values[uint64](data), c)
	case arrow.DECIMAL128:
		return &wideDecimals{words: values[uint64](data), width: 2, factor: c.factor}
	case arrow.DECIMAL256:
		return &wideDecimals{words: values[uint64](data), width: 4, factor: c.factor}
	case arrow.FLOAT16:
		return &floats{coding: c, half: values[uint16](data)}
	case arrow.FLOAT32:
		return &floats{coding: c, single: values[uint32](data)}
	case arrow.FLOAT64:
		return &floats{coding: c, double: values[uint64](data)}
	default:
		panic(fmt.Sprintf("relation: no reader for %s", dt)) // traitOf lets no other type through
	}
}

func bufferBytes(data arrow.ArrayData, i int) []byte {
	if data.Buffers()[i] == nil {
		return nil
	}
	return data.Buffers()[i].Bytes()
}

// values is the part of the chunk's value buffer that holds its rows, as a slice of T.
func values[T any](data arrow.ArrayData) []T {
	rowBytes := data.DataType().(arrow.FixedWidthDataType).Bytes()
	return view[T](bufferBytes(data, 1)[data.Offset()*rowBytes:][:data.Len()*rowBytes])
}

// never is a chunk of which no row matches.
type never struct{}

func (never) codes(scratch []uint64, _, n int) []uint64 { return scratch[:n] }

func (never) filters() bool { return true }

func (never) admit(mask, _ []uint64, at, _, n int) {
	for i := range n {
		clearBit(mask, at+i)
	}
}

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// scaled reads integers and what is stored as integers.
type scaled[T integer] struct {
	values []T
	factor uint64
	lo, hi T // the values that have a code
	all    bool
}

func newScaled[T integer](values []T, c coding) reader {
	if c.domain == domainUnsigned {
		return &scaled[T]{values: values, factor: 1, all: true} // T is unsigned, see coerce
	}
	var zero T
	top := uint64(math.MaxUint64) >> (64 - 8*unsafe.Sizeof(zero)) // the largest T
	lo, hi := reach(c.factor)
	r := &scaled[T]{values: values, factor: c.factor}
	if ^zero < 0 {
		top >>= 1
		lowest := -int64(top) - 1
		r.lo, r.all = T(max(lowest, lo)), lowest >= lo
	} else {
		r.all = true
	}
	r.hi, r.all = T(min(top, uint64(hi))), r.all && top <= uint64(hi)
	return r
}

// reach is the range of the numbers that stay within 64 bits when they are multiplied with factor; 0 stands for a factor
// above 63 bits.
func reach(factor uint64) (lo, hi int64) {
	if factor == 0 {
		return 0, 0
	}
	return math.MinInt64 / int64(factor), math.MaxInt64 / int64(factor)
}

func (r *scaled[T]) codes(scratch []uint64, from, n int) []uint64 {
	values := near(r.values[from:][:n])
	if unsafe.Sizeof(T(0)) == 8 && r.factor == 1 {
		return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(values))), n)
	}
	scratch = scratch[:n]
	if r.factor == 1 {
		for i, v := range values {
			scratch[i] = uint64(v)
		}
		return scratch
	}
	for i, v := range values {
		scratch[i] = uint64(v) * r.factor
	}
	return scratch
}

func (r *scaled[T]) filters() bool { return !r.all }

func (r *scaled[T]) admit(mask, _ []uint64, at, from, n int) {
	for i, v := range near(r.values[from:][:n]) {
		if v < r.lo || v > r.hi {
			clearBit(mask, at+i)
		}
	}
}

// bools reads false as 0 and true as 1.
type bools struct {
	bits   []byte
	offset int
}

func (r *bools) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	for i := range scratch {
		at := r.offset + from + i
		scratch[i] = uint64(r.bits[at>>3] >> (at & 7) & 1)
	}
	return scratch
}

func (r *bools) filters() bool                    { return false }
func (r *bools) admit(_, _ []uint64, _, _, _ int) {}

// wideDecimals reads unscaled integers of two or four words, the lowest first.
type wideDecimals struct {
	words  []uint64
	width  int
	factor uint64
}

func (r *wideDecimals) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	words := near(r.words[from*r.width:][:n*r.width])
	for i := range scratch {
		scratch[i] = words[i*r.width] * r.factor
	}
	return scratch
}

func (r *wideDecimals) filters() bool { return true }

func (r *wideDecimals) admit(mask, _ []uint64, at, from, n int) {
	lo, hi := reach(r.factor)
	words := near(r.words[from*r.width:][:n*r.width])
	for i := range n {
		number := words[i*r.width:][:r.width]
		v := int64(number[0])
		sign := uint64(v >> 63)
		rest := number[1] ^ sign
		if len(number) == 4 {
			rest |= number[2] ^ sign | number[3] ^ sign
		}
		if rest != 0 || v < lo || v > hi {
			clearBit(mask, at+i)
		}
	}
}
