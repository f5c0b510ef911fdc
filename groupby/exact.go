package groupby

import (
	"context"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
)

// exactSum is a sum of integers in 64-bit words, the lowest first, in two's complement. Sums of squares of 512 bits have
// the most words.
type exactSum [9]uint64

// exact is the sum of group i in states: one of 128 bits or, for wide values, one of 128 bits for each of their words,
// each of which is worth 2^64 of the one below.
func (f *finishing) exact(states []int, i int) (sum exactSum) {
	for part, state := range states {
		addTo(sum[part:], []uint64{f.words(state, 0)[f.from+i], f.words(state, 1)[f.from+i]}, ^uint64(0))
	}
	return sum
}

// size returns the absolute value.
func (s *exactSum) size() (size exactSum, negative bool) {
	if int64(s[len(s)-1]) >= 0 {
		return *s, false
	}
	borrow := uint64(0)
	for i, word := range s {
		size[i], borrow = bits.Sub64(0, word, borrow)
	}
	return size, true
}

// isShort tells whether the sum fits in this number of words.
func (s *exactSum) isShort(words int) bool {
	for _, word := range s[words:] {
		if word != 0 {
			return false
		}
	}
	return true
}

// put writes the sum as a value of a type of sums. It is false if the type does not hold the sum.
func (s *exactSum) put(out []byte, t arrow.DataType) bool {
	size, negative := s.size()
	holds := false
	switch t := t.(type) {
	case arrow.DecimalType:
		digits := int(t.GetPrecision())
		holds = size.isShort(digits/20) || // 20 digits hold a word
			size.isShort(4) && int64(size[3]) >= 0 && decimal256.New(size[3], size[2], size[1], size[0]).
				Less(decimal256.GetScaleMultiplier(digits))
	case *arrow.Uint64Type:
		holds = size.isShort(1) && !negative
	default:
		holds = size.isShort(1) && (int64(size[0]) >= 0 || negative && size[0] == 1<<63)
	}
	copy(out, backend.AsBytes(s[:]))
	return holds
}

// into sets z to the sum, and returns it.
func (s *exactSum) into(z *big.Int) *big.Int {
	size, negative := s.size()
	var bytes [8 * len(size)]byte
	for i, word := range size {
		binary.BigEndian.PutUint64(bytes[8*(len(size)-1-i):], word)
	}
	if z.SetBytes(bytes[:]); negative {
		z.Neg(z)
	}
	return z
}

// fractions makes means, variances and deviations of integers and decimals. These are correctly rounded: each is a
// fraction of integers, or its root, and the one rounding is that to float64. With n values, whose sum is S and whose
// squares have the sum Q:
//
//	avg = S / n      var = (n·Q - S²) / (n·(n-1))      stddev = √var
//
// The denominators have a factor of 10^scale for avg, and of its square for the others. Most fractions have a numerator
// of 128 bits and a denominator of 64, and take one division of machine words.
type fractions struct {
	root        bool
	unit, over  big.Int // factors of denominators and of numerators
	short       uint64  // unit; 0 if it has more than 64 bits, or numerators have a factor
	top, bottom big.Int
	a, rest     big.Int // scratch
}

// mostDigits is beyond all float64 and their squares.
const mostDigits = 1500

// newFractions returns those whose denominators have a factor of 10^(power·scale) of a type.
func newFractions(t arrow.DataType, power int64, root bool) *fractions {
	f, digits := &fractions{root: root}, max(-mostDigits, min(power*int64(scaleOf(t)), mostDigits))
	f.unit.Exp(big.NewInt(10), big.NewInt(max(digits, 0)), nil)
	f.over.Exp(big.NewInt(10), big.NewInt(max(-digits, 0)), nil)
	if digits >= 0 && f.unit.IsUint64() {
		f.short = f.unit.Uint64()
	}
	return f
}

const fractionsAtOnce = 1 << 12 // of a core

// fractions makes a column of fractions, or of their roots, on all cores. Their denominators have a factor of
// 10^(power·scale).
func (f *finishing) fractions(ctx context.Context, power int64, root bool,
	value func(of *fractions, i int) float64) (arrow.Array, error) {
	out, next := make([]float64, f.to-f.from), atomic.Int64{}
	all, allCtx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), len(out)/fractionsAtOnce+1) {
		all.Go(func() error {
			return exec.Protect("divide sums", func() error {
				of := newFractions(f.input.Type, power, root)
				for from := 0; allCtx.Err() == nil; {
					if from = int(next.Add(fractionsAtOnce)) - fractionsAtOnce; from >= len(out) {
						return nil
					}
					for i := from; i < min(from+fractionsAtOnce, len(out)); i++ {
						if !f.isNull(i) {
							out[i] = value(of, i)
						}
					}
				}
				return backend.ContextError(ctx)
			})
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return f.make(backend.AsBytes(out)), nil
}

// mean is S / n.
func (f *fractions) mean(n uint64, sum *exactSum) float64 {
	size, negative := sum.size()
	v, ok := 0.0, false
	if size.isShort(2) {
		v, ok = f.quotient(size[1], size[0], n, 1)
	}
	if !ok {
		size.into(&f.top)
		f.bottom.SetUint64(n)
		v = f.value()
	}
	if negative {
		return -v
	}
	return v
}

// variance is (n·Q - S²) / (n·(n-1)), or its root. n is at least 2.
func (f *fractions) variance(n uint64, sum, squares *exactSum) float64 {
	size, _ := sum.size()
	if size.isShort(1) && squares.isShort(2) {
		carry, low := bits.Mul64(n, squares[0])
		over, high := bits.Mul64(n, squares[1])
		high, c := bits.Add64(high, carry, 0)
		squareHigh, squareLow := bits.Mul64(size[0], size[0])
		low, borrow := bits.Sub64(low, squareLow, 0)
		high, _ = bits.Sub64(high, squareHigh, borrow)
		if v, ok := f.quotient(high, low, n, n-1); ok && over == 0 && c == 0 {
			return v
		}
	}
	squares.into(&f.top)
	f.top.Mul(&f.top, f.a.SetUint64(n))
	f.a.Mul(sum.into(&f.a), &f.a)
	f.top.Sub(&f.top, &f.a)
	f.bottom.SetUint64(n)
	f.bottom.Mul(&f.bottom, f.a.SetUint64(n-1))
	return f.value()
}

// quotient is a number of 128 bits divided by n, m and the unit, or the root of that. It is false if the product has
// more than 64 bits, or more of the quotient than that is needed to round the root.
func (f *fractions) quotient(high, low, n, m uint64) (v float64, ok bool) {
	over, bottom := bits.Mul64(n, m)
	above, bottom := bits.Mul64(bottom, f.short)
	if over != 0 || above != 0 || bottom == 0 {
		return 0, false
	}
	// The divisor gets its highest bit, the number that below, so that the quotient has at least 63.
	exponent := 0
	if high == 0 {
		high, low, exponent = low, 0, -64
	}
	if high == 0 {
		return 0, true
	}
	shift := bits.LeadingZeros64(high)
	high, low = high<<shift|low>>(64-shift), low<<shift
	lost := low & 1
	high, low = high>>1, high<<63|low>>1
	by := bits.LeadingZeros64(bottom)
	exponent += 1 - shift + by
	q, rest := bits.Div64(high, low, bottom<<by)
	if f.root {
		if v, ok = nearestRoot(q >> (exponent & 1)); ok {
			v = math.Ldexp(v, (exponent+exponent&1)/2)
		}
		return v, ok
	}
	if rest|lost != 0 {
		q |= 1 // below half of what is rounded away
	}
	return math.Ldexp(float64(q), exponent), true
}

// nearestRoot is the float64 nearest to the roots of all numbers in [q, q+1), false if these have several. q has at
// least 62 bits.
func nearestRoot(q uint64) (root float64, ok bool) {
	root = math.Sqrt(float64(q))
	fraction, exponent := math.Frexp(root)
	unit := exponent - 53 // of the last bit
	twice, shift := uint64(math.Ldexp(fraction, 54)), uint(2-2*unit)
	// at compares the numbers with the square of a number in halves of that unit, which is odd: it equals none of them.
	at := func(half uint64) (below, above bool) {
		high, low := bits.Mul64(half, half)
		least := [2]uint64{q >> (64 - shift), q << shift}
		most := [2]uint64{(q + 1) >> (64 - shift), (q + 1) << shift}
		less := func(a, b [2]uint64) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }
		square := [2]uint64{high, low}
		return !less(square, most), !less(least, square)
	}
	if below, _ := at(twice - 1); below {
		twice -= 2
	} else if _, above := at(twice + 1); above {
		twice += 2
	}
	_, above := at(twice - 1)
	below, _ := at(twice + 1)
	// The float64 below a power of two is nearer, and q+1 may be 2^64.
	return math.Ldexp(float64(twice), unit-1), above && below && twice > 1<<53 && twice < 1<<54
}

// value is top / bottom with the factors, or its root. top is not negative.
func (f *fractions) value() float64 {
	if f.top.Sign() == 0 {
		return 0
	}
	const precise = 66 // bits, of which float64 has 53
	f.top.Mul(&f.top, &f.over)
	f.bottom.Mul(&f.bottom, &f.unit)
	shift := precise + f.bottom.BitLen() - f.top.BitLen()
	if f.root {
		shift = (shift + precise) &^ 1
	}
	f.top.Lsh(&f.top, uint(max(shift, 0)))
	f.bottom.Lsh(&f.bottom, uint(max(-shift, 0)))
	f.a.QuoRem(&f.top, &f.bottom, &f.rest)
	if f.root {
		f.top.Sqrt(&f.a)
		f.rest.Or(&f.rest, f.a.Sub(&f.a, f.bottom.Mul(&f.top, &f.top)))
		f.a.Set(&f.top)
		shift /= 2
	}
	if f.rest.Sign() != 0 {
		f.a.SetBit(&f.a, 0, 1) // below half of what is rounded away
	}
	exact := new(big.Float).SetInt(&f.a)
	v, _ := exact.SetMantExp(exact, -shift).Float64()
	return v
}
