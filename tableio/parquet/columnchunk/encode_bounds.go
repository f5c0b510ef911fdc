package columnchunk

import (
	"math"
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// maxBoundBytes is the length of the longest texts that statistics repeat.
const maxBoundBytes = 256

func isSigned(leaf *schema.Column) bool { return leaf.SortOrder() == schema.SortSIGNED }

// setBounds notes the least and the greatest value as they are stored, in the order of the type.
func (c *Chunk) setBounds(low, high []byte) {
	if len(low) > maxBoundBytes || len(high) > maxBoundBytes {
		return
	}
	c.bounded = true
	c.min, c.max = append(c.min[:0], low...), append(c.max[:0], high...)
}

func integerBounds[T integer](values []T) (low, high T, ok bool) {
	if len(values) == 0 {
		return 0, 0, false
	}
	low, high = values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return low, high, true
}

func float32Bounds(values []uint32) (low, high uint32, ok bool) {
	l, h, ok := floatBounds(cast[float32](values))
	return math.Float32bits(l), math.Float32bits(h), ok
}

func float64Bounds(values []uint64) (low, high uint64, ok bool) {
	l, h, ok := floatBounds(cast[float64](values))
	return math.Float64bits(l), math.Float64bits(h), ok
}

// floatBounds ignores NaN. As readers may take 0 and -0 for different values, a bound of 0 includes both.
func floatBounds[T float32 | float64](values []T) (low, high T, ok bool) {
	for _, v := range values {
		switch {
		case v != v:
		case !ok:
			low, high, ok = v, v, true
		case v < low:
			low = v
		case v > high:
			high = v
		}
	}
	if low == 0 {
		low = T(math.Copysign(0, -1))
	}
	if high == 0 {
		high = 0
	}
	return low, high, ok
}

// textBounds compares texts by the order of the leaf.
func textBounds(leaf *schema.Column, texts []string) (low, high string, ok bool) {
	if len(texts) == 0 {
		return "", "", false
	}
	switch leaf.LogicalType().(type) {
	case schema.Float16LogicalType:
		return float16Bounds(texts)
	case schema.DecimalLogicalType:
		return extremes(texts, func(a, b string) int {
			if sign := int(b[0]>>7) - int(a[0]>>7); sign != 0 {
				return sign
			}
			return strings.Compare(a, b)
		})
	}
	return extremes(texts, strings.Compare)
}

func extremes(texts []string, compare func(a, b string) int) (low, high string, ok bool) {
	low, high = texts[0], texts[0]
	for _, text := range texts {
		if compare(text, low) < 0 {
			low = text
		} else if compare(text, high) > 0 {
			high = text
		}
	}
	return low, high, true
}

func float16Bounds(texts []string) (low, high string, ok bool) {
	values := make([]float32, 0, len(texts))
	for _, text := range texts {
		values = append(values, float16.FromLEBytes([]byte(text)).Float32())
	}
	l, h, ok := floatBounds(values)
	return littleEndian(float16.New(l)), littleEndian(float16.New(h)), ok
}

func littleEndian(n float16.Num) string {
	b := n.Uint16()
	return string([]byte{byte(b), byte(b >> 8)})
}

// cast takes memory for a sequence of values of another type, of which as many are there as fit.
func cast[T, S any](from []S) []T {
	var s S
	var t T
	n := uintptr(len(from)) * unsafe.Sizeof(s) / unsafe.Sizeof(t)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(from))), n)
}

func bytesOf[S any](from []S) []byte { return cast[byte](from) }
