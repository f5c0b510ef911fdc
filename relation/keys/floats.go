package keys

import (
	"math"

	"github.com/spirjoin/spirjoin/kernel"
)

// The code of a float is its rank, see [kernel.Rank64].

// floatOf32 returns the float32 with a rank.
func floatOf32(rank int64) float32 {
	if rank < 0 {
		return -math.Float32frombits(uint32(-rank))
	}
	return math.Float32frombits(uint32(rank))
}

// floatOf64 returns the float64 with a rank.
func floatOf64(rank int64) float64 {
	if rank < 0 {
		return -math.Float64frombits(uint64(-rank))
	}
	return math.Float64frombits(uint64(rank))
}

// integral returns the code of f if f is an integer of the domain.
func integral(f float64, d domain) (code uint64, ok bool) {
	if d == domainUnsigned {
		if !(f >= 0 && f < 1<<64) {
			return 0, false
		}
		code = uint64(f)
		return code, float64(code) == f
	}
	if !(f >= -1<<63 && f < 1<<63) {
		return 0, false
	}
	n := int64(f)
	return uint64(n), float64(n) == f
}

// floats reads a chunk of one of the three widths; the slices of the other two are nil. It holds bits rather than
// floats, because a floating-point register may change the bits of a NaN.
type floats struct {
	coding coding
	half   []uint16
	single []uint32
	double []uint64
}

func (r *floats) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	switch {
	case r.coding.method == methodIntegral:
		for i := range scratch {
			scratch[i], _ = integral(r.value(from+i), r.coding.domain)
		}
	case r.coding.domain == domainFloat32 && r.half != nil:
		for i, v := range near(r.half[from:][:n]) {
			scratch[i] = uint64(kernel.Rank32(kernel.WidenHalf(v)))
		}
	case r.coding.domain == domainFloat32:
		for i, v := range near(r.single[from:][:n]) {
			scratch[i] = uint64(kernel.Rank32(v))
		}
	case r.double != nil:
		for i, v := range near(r.double[from:][:n]) {
			scratch[i] = uint64(kernel.Rank64(v))
		}
	default:
		for i := range scratch {
			scratch[i] = uint64(kernel.Rank64(math.Float64bits(r.value(from + i))))
		}
	}
	return scratch
}

func (r *floats) filters() bool { return r.coding.method == methodIntegral }

func (r *floats) admit(mask, _ []uint64, at, from, n int) int {
	for i := range n {
		if _, ok := integral(r.value(from+i), r.coding.domain); !ok {
			clearBit(mask, at+i)
		}
	}
	return 0
}

// value is the float of a row; all widths convert to float64 without loss.
func (r *floats) value(row int) float64 {
	switch {
	case r.half != nil:
		return float64(math.Float32frombits(kernel.WidenHalf(r.half[row])))
	case r.single != nil:
		return float64(math.Float32frombits(r.single[row]))
	}
	return math.Float64frombits(r.double[row])
}
