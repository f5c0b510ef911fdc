package keys

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/relation"
)

// reader turns the values of one chunk of a key column into codes. Rows are relative to the chunk. The caller handles
// nulls.
type reader interface {
	// codes returns the codes of the rows [from, from+n), either in scratch, which holds at least n, or as a view of
	// the column's memory. Rows without a code, and null rows, get an arbitrary number.
	codes(scratch []uint64, from, n int) []uint64
	// filters reports whether some value of the chunk's type may have no code.
	filters() bool
	// admit clears bit at+i of mask if row from+i has no code, for each i below n. It returns how many of these rows
	// had their bit set and a value of more than 64 bits in the unit of the codes. scratch holds at least n. It is
	// called only if filters is true.
	admit(mask, scratch []uint64, at, from, n int) (beyond int)
}

// newReader returns the reader of a chunk whose type has codes and is not a dictionary.
func newReader(chunk arrow.Array, c coding) reader {
	data := chunk.Data()
	switch relation.TraitOf(chunk.DataType()).Layout {
	case relation.LayoutBits:
		return &bools{bits: relation.BufferBytes(data, 1), offset: data.Offset()}
	case relation.LayoutInt8:
		return newScaled(values[int8](data), c)
	case relation.LayoutInt16:
		return newScaled(values[int16](data), c)
	case relation.LayoutInt32:
		return newScaled(values[int32](data), c)
	case relation.LayoutInt64:
		return newScaled(values[int64](data), c)
	case relation.LayoutUint8:
		return newScaled(values[uint8](data), c)
	case relation.LayoutUint16:
		return newScaled(values[uint16](data), c)
	case relation.LayoutUint32:
		return newScaled(values[uint32](data), c)
	case relation.LayoutUint64:
		return newScaled(values[uint64](data), c)
	case relation.LayoutInt128:
		return &wideDecimals{words: values[uint64](data), width: 2, digits: c.digits}
	case relation.LayoutInt256:
		return &wideDecimals{words: values[uint64](data), width: 4, digits: c.digits}
	case relation.LayoutFloat16:
		return &floats{coding: c, half: values[uint16](data)}
	case relation.LayoutFloat32:
		return &floats{coding: c, single: values[uint32](data)}
	case relation.LayoutFloat64:
		return &floats{coding: c, double: values[uint64](data)}
	default: // coerce lets no other type through
		panic(fmt.Sprintf("keys: no reader for %s", chunk.DataType()))
	}
}

// values returns the rows of the chunk's value buffer as a slice of T.
func values[T any](data arrow.ArrayData) []T {
	rowBytes := data.DataType().(arrow.FixedWidthDataType).Bytes()
	return relation.View[T](relation.BufferBytes(data, 1)[data.Offset()*rowBytes:][:data.Len()*rowBytes])
}

// never is the reader of a chunk in which no row matches.
type never struct{}

func (never) codes(scratch []uint64, _, n int) []uint64 { return scratch[:n] }

func (never) filters() bool { return true }

func (never) admit(mask, _ []uint64, at, _, n int) int {
	for i := range n {
		clearBit(mask, at+i)
	}
	return 0
}

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// scaled reads integers, and types that are stored as integers.
type scaled[T integer] struct {
	values []T
	factor uint64
	lo, hi T    // range of the values that have a code
	all    bool // every value has a code
}

func newScaled[T integer](values []T, c coding) reader {
	switch {
	case c.domain == domainUnsigned:
		return &scaled[T]{values: values, factor: 1, all: true} // T is unsigned, see coerce
	case c.method == methodWhole:
		return newWhole(values, c.factor)
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

// reach is the range of the numbers that still fit 64 bits when multiplied by factor; 0 stands for a factor above 63
// bits.
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

// wholeReader is a reader of integers that may be codes as they are, so that no 64-bit codes of them have to be made.
type wholeReader interface {
	// whole reports whether integers are their codes.
	whole() bool
	// extent is the range of the codes of the rows [from, from+n), all of which have one.
	extent(from, n int) extent
	// pack writes the differences of the codes of rows from row from on to the least one, in the low bits of out, and
	// shifts those that are there by bits. With bits=0 there are none.
	pack(out []uint32, from int, least uint32, bits int)
	// scale writes the products of the differences and a factor. The result has the bits of all differences.
	scale(out []uint32, from int, least uint64, factor uint32) (all uint64)
}

func (r *scaled[T]) whole() bool { return r.factor == 1 }

func (r *scaled[T]) extent(from, n int) extent {
	lo, hi := extremes(near(r.values[from:][:n]))
	return extent{min: uint64(lo), max: uint64(hi), some: true}
}

func (r *scaled[T]) pack(out []uint32, from int, least uint32, bits int) {
	values := near(r.values[from:][:len(out)])
	if bits == 0 {
		for i, v := range values {
			out[i] = uint32(v) - least
		}
		return
	}
	for i, v := range values {
		out[i] = out[i]<<(bits&31) | (uint32(v) - least)
	}
}

func (r *scaled[T]) scale(out []uint32, from int, least uint64, factor uint32) (all uint64) {
	for i, v := range r.values[from:][:len(out)] {
		code := uint64(v) - least
		out[i], all = uint32(code)*factor, all|code
	}
	return all
}

func (r *scaled[T]) filters() bool { return !r.all }

func (r *scaled[T]) admit(mask, _ []uint64, at, from, n int) (beyond int) {
	for i, v := range near(r.values[from:][:n]) {
		if (v < r.lo || v > r.hi) && hasBit(mask, at+i) {
			clearBit(mask, at+i)
			beyond++
		}
	}
	return beyond
}

// whole reads integers as quotients by a divisor, if they are whole. Let divisor = odd * 2^shift and inverse * odd = 1
// modulo 2^64. Then a multiple of the divisor times inverse is its quotient * 2^shift, so that one multiplication
// divides (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994, section 9). For any
// other integer the result is wrong, which shows when it is multiplied by the divisor: the product differs or exceeds
// 64 bits.
type whole[T integer] struct {
	values           []T
	divisor, inverse uint64 // 0 if the divisor exceeds 63 bits: 0 is its only multiple
	shift            int
	lo, span         uint64 // the least quotient of a 64-bit integer, and the difference to the greatest
	signed           bool
}

func newWhole[T integer](values []T, divisor uint64) *whole[T] {
	var zero T
	r := &whole[T]{values: values, divisor: divisor, signed: ^zero < 0 || unsafe.Sizeof(zero) < 8}
	if divisor == 0 {
		return r
	}
	r.shift = bits.TrailingZeros64(divisor)
	odd := divisor >> r.shift
	r.inverse = odd // correct in 3 bits; each step of Newton's method doubles that
	for range 5 {
		r.inverse *= 2 - odd*r.inverse
	}
	r.span = math.MaxUint64 / divisor
	if r.signed {
		lo, hi := reach(divisor)
		r.lo, r.span = uint64(lo), uint64(hi-lo)
	}
	return r
}

func (r *whole[T]) quotient(v T) uint64 {
	if !r.signed {
		return uint64(v) * r.inverse >> r.shift
	}
	return uint64(int64(uint64(v)*r.inverse) >> r.shift)
}

func (r *whole[T]) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	for i, v := range near(r.values[from:][:n]) {
		scratch[i] = r.quotient(v)
	}
	return scratch
}

func (r *whole[T]) filters() bool { return true }

func (r *whole[T]) admit(mask, _ []uint64, at, from, n int) int {
	for i, v := range near(r.values[from:][:n]) {
		if q := r.quotient(v); q*r.divisor != uint64(v) || q-r.lo > r.span {
			clearBit(mask, at+i)
		}
	}
	return 0
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

func (r *bools) filters() bool                        { return false }
func (r *bools) admit(_, _ []uint64, _, _, _ int) int { return 0 }

// wideDecimals reads unscaled integers of two or four words, the lowest first, as quotients by 10^digits.
type wideDecimals struct {
	words  []uint64
	width  int
	digits int
}

func (r *wideDecimals) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	words := near(r.words[from*r.width:][:n*r.width])
	for i := range scratch {
		scratch[i] = words[i*r.width]
		if r.digits > 0 {
			scratch[i], _, _ = divideExactly(words[i*r.width:][:r.width], r.digits)
		}
	}
	return scratch
}

func (r *wideDecimals) filters() bool { return true }

func (r *wideDecimals) admit(mask, _ []uint64, at, from, n int) (beyond int) {
	words := near(r.words[from*r.width:][:n*r.width])
	for i := range n {
		number := words[i*r.width:][:r.width]
		if r.digits == 0 && isOneWord(number) {
			continue
		}
		_, exact, fits := divideExactly(number, r.digits)
		if exact && fits || !hasBit(mask, at+i) {
			continue
		}
		clearBit(mask, at+i)
		if exact {
			beyond++
		}
	}
	return beyond
}

// isOneWord reports whether a number of two or four words, in two's complement, fits 64 bits.
func isOneWord(number []uint64) bool {
	sign := uint64(int64(number[0]) >> 63)
	rest := number[1] ^ sign
	if len(number) == 4 {
		rest |= number[2] ^ sign | number[3] ^ sign
	}
	return rest == 0
}

// divideExactly divides a number of at most four words, in two's complement, by 10^digits. exact reports whether there
// is no remainder, fits whether the quotient fits 64 bits.
func divideExactly(number []uint64, digits int) (quotient uint64, exact, fits bool) {
	var words [4]uint64 // the magnitude, then the quotient
	n := len(number)
	sign := uint64(int64(number[n-1]) >> 63)
	carry := sign & 1
	for w := range number {
		words[w], carry = bits.Add64(number[w]^sign, 0, carry)
	}
	for ; digits > 0; digits -= 19 {
		divisor, rest := uint64(math.Pow10(min(digits, 19))), uint64(0)
		for w := n - 1; w >= 0; w-- {
			words[w], rest = bits.Div64(rest, words[w], divisor)
		}
		if rest != 0 {
			return 0, false, false
		}
		if words == ([4]uint64{}) {
			break
		}
	}
	quotient = (words[0] ^ sign) - sign
	fits = words[1]|words[2]|words[3] == 0 && words[0] <= math.MaxInt64+sign&1
	return quotient, true, fits
}
