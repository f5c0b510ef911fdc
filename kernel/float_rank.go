package kernel

import "math"

// The rank of a float is how many representable values of its width lie between it and zero, negative below zero. For
// IEEE 754 numbers that is the magnitude's bits taken as an integer, with the sign applied in two's complement instead
// of sign and magnitude, so that ranks order as the values do, -0 and +0 are both 0, and the smallest subnormal is 1.
// Every NaN, of either sign and any payload, has the one rank above +Inf. Only integer operations touch the bits.

// The bits of +Inf, and its rank.
const (
	Inf32 = 0x7f80_0000
	Inf64 = 0x7ff0_0000_0000_0000
)

// Rank32 returns the rank of the float32 with these bits.
func Rank32(bits uint32) int64 {
	sign := int64(int32(bits) >> 31)
	magnitude := int64(bits &^ (1 << 31))
	rank := (magnitude ^ sign) - sign
	if magnitude > Inf32 {
		rank = Inf32 + 1
	}
	return rank
}

// Rank64 returns the rank of the float64 with these bits.
func Rank64(bits uint64) int64 {
	sign := int64(bits) >> 63
	magnitude := int64(bits &^ (1 << 63))
	rank := (magnitude ^ sign) - sign
	if magnitude > Inf64 {
		rank = Inf64 + 1
	}
	return rank
}

// WidenHalf converts the bits of a float16 to the bits of the float32 with the same value.
func WidenHalf(half uint16) uint32 {
	sign, magnitude := uint32(half>>15)<<31, uint32(half&0x7fff)
	if magnitude >= 0x7c00 {
		return sign | Inf32 | (magnitude&0x3ff)<<13
	}
	return sign | math.Float32bits(math.Float32frombits(magnitude<<13)*0x1p112) // exact, for subnormals too
}
