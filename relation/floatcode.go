package relation

import "math"

// The code of a float is its rank: how many representable values of its width lie between it and zero, negative below
// zero. For IEEE 754 numbers that is the magnitude's bits taken as an integer, with the sign applied in two's complement
// instead of sign and magnitude, so that codes order as the values do, -0 and +0 are both 0, and the smallest subnormal is
// 1. Every NaN, of either sign and any payload, has the one rank above +Inf. Only integer operations touch the bits.

const (
	inf32 = 0x7f80_0000 // the bits of +Inf, and its rank
	inf64 = 0x7ff0_0000_0000_0000
)

func rank32(bits uint32) int64 {
	sign := int64(int32(bits) >> 31)
	magnitude := int64(bits &^ (1 << 31))
	rank := (magnitude ^ sign) - sign
	if magnitude > inf32 {
		rank = inf32 + 1
	}
	return rank
}

func rank64(bits uint64) int64 {
	sign := int64(bits) >> 63
	magnitude := int64(bits &^ (1 << 63))
	rank := (magnitude ^ sign) - sign
	if magnitude > inf64 {
		rank = inf64 + 1
	}
	return rank
}

// floatOf32 is the value of a rank32.
func floatOf32(rank int64) float32 {
	if rank < 0 {
		return -math.Float32frombits(uint32(-rank))
	}
	return math.Float32frombits(uint32(rank))
}

// floatOf64 is the value of a rank64.
func floatOf64(rank int64) float64 {
	if rank < 0 {
		return -math.Float64frombits(uint64(-rank))
	}
	return math.Float64frombits(uint64(rank))
}

// integral tells whether f is an integer of the domain, and which.
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

// bits32 widens a float16's bits to those of the float32 of the same value.
func bits32(half uint16) uint32 {
	sign, magnitude := uint32(half>>15)<<31, uint32(half&0x7fff)
	if magnitude >= 0x7c00 {
		return sign | inf32 | (magnitude&0x3ff)<<13
	}
	return sign | math.Float32bits(math.Float32frombits(magnitude<<13)*0x1p112) // exact, for subnormals too
}

// floats reads a chunk of one of the three widths; the slices of the other two are nil. It holds bits, so that no NaN
// passes through a floating-point register.
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
			scratch[i] = uint64(rank32(bits32(v)))
		}
	case r.coding.domain == domainFloat32:
		for i, v := range near(r.single[from:][:n]) {
			scratch[i] = uint64(rank32(v))
		}
	case r.double != nil:
		for i, v := range near(r.double[from:][:n]) {
			scratch[i] = uint64(rank64(v))
		}
	default:
		for i := range scratch {
			scratch[i] = uint64(rank64(math.Float64bits(r.value(from + i))))
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

// value is the float of one row; every width widens to a float64 without loss.
func (r *floats) value(row int) float64 {
	switch {
	case r.half != nil:
		return float64(math.Float32frombits(bits32(r.half[row])))
	case r.single != nil:
		return float64(math.Float32frombits(r.single[row]))
	}
	return math.Float64frombits(r.double[row])
}
