package text

import (
	"math"
	"strconv"
)

// AppendFloat writes the shortest text that reads back the same float of bits bits, without an exponent between 1e-5
// and 1e15. A whole number there gets ".0", so that it does not look like an integer. NaN and infinities are NaN, Inf
// and -Inf.
func AppendFloat(dst []byte, v float64, bits int) []byte {
	size, least := math.Abs(v), 1e-5
	if bits == 32 {
		least = float64(float32(least))
	}
	switch {
	case math.IsInf(v, 1):
		return append(dst, "Inf"...)
	case v == math.Trunc(v) && size < 1e15:
		return strconv.AppendFloat(dst, v, 'f', 1, bits)
	case size >= least && size < 1e15:
		return strconv.AppendFloat(dst, v, 'f', -1, bits)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}
