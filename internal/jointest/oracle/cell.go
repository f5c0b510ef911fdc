package oracle

import (
	"math"
	"math/big"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/spirjoin/spirjoin/relation"
)

const null = "(null)"

// Cells formats a column of a table, row by row.
func Cells(table arrow.Table, name string) []string {
	cells := []string{}
	for _, chunk := range table.Column(table.Schema().FieldIndices(name)[0]).Data().Chunks() {
		for i := range chunk.Len() {
			cells = append(cells, Cell(chunk, i))
		}
	}
	return cells
}

// Cell formats a value so that equal values of comparable types have equal texts: numbers as exact fractions, units of
// time as seconds, everything else in quotes. All NaN have the same text; -0 keeps its sign.
func Cell(column arrow.Array, i int) string { return string(appendCell(nil, column, i)) }

// appendCell appends the text of a value to another.
func appendCell(to []byte, column arrow.Array, i int) []byte {
	if relation.IsNull(column, i) {
		return append(to, null...)
	}
	integer := func(v int64) []byte { return strconv.AppendInt(to, v, 10) }
	scaled := func(v *big.Int, scale int32) []byte {
		if v.IsInt64() && scale >= 0 && scale <= 18 {
			return appendFraction(to, v.Int64(), scale)
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
		if scale < 0 {
			return v.Mul(v, power).Append(to, 10)
		}
		return append(to, new(big.Rat).SetFrac(v, power).RatString()...)
	}
	seconds := func(v int64, unit arrow.TimeUnit) []byte { return scaled(big.NewInt(v), 3*int32(unit)) }
	switch c := column.(type) {
	case *array.Dictionary:
		return appendCell(to, c.Dictionary(), c.GetValueIndex(i))
	case *array.Boolean:
		return strconv.AppendBool(to, c.Value(i))
	case *array.Int8:
		return integer(int64(c.Value(i)))
	case *array.Int16:
		return integer(int64(c.Value(i)))
	case *array.Int32:
		return integer(int64(c.Value(i)))
	case *array.Int64:
		return integer(c.Value(i))
	case *array.Uint8:
		return integer(int64(c.Value(i)))
	case *array.Uint16:
		return integer(int64(c.Value(i)))
	case *array.Uint32:
		return integer(int64(c.Value(i)))
	case *array.Uint64:
		return strconv.AppendUint(to, c.Value(i), 10)
	case *array.Float16:
		return append(to, floatText(Half(c.Value(i)))...)
	case *array.Float32:
		return append(to, floatText(float64(c.Value(i)))...)
	case *array.Float64:
		return append(to, floatText(c.Value(i))...)
	case *array.Decimal32:
		return scaled(big.NewInt(int64(c.Value(i))), c.DataType().(arrow.DecimalType).GetScale())
	case *array.Decimal64:
		return scaled(big.NewInt(int64(c.Value(i))), c.DataType().(arrow.DecimalType).GetScale())
	case *array.Decimal128:
		return scaled(c.Value(i).BigInt(), c.DataType().(arrow.DecimalType).GetScale())
	case *array.Decimal256:
		return scaled(c.Value(i).BigInt(), c.DataType().(arrow.DecimalType).GetScale())
	case *array.Date32:
		return integer(int64(c.Value(i)) * 86400)
	case *array.Date64:
		return seconds(int64(c.Value(i)), arrow.Millisecond)
	case *array.Timestamp:
		return seconds(int64(c.Value(i)), c.DataType().(*arrow.TimestampType).Unit)
	case *array.Time32:
		return seconds(int64(c.Value(i)), c.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		return seconds(int64(c.Value(i)), c.DataType().(*arrow.Time64Type).Unit)
	case *array.Duration:
		return seconds(int64(c.Value(i)), c.DataType().(*arrow.DurationType).Unit)
	case interface{ Value(int) []byte }: // binary of every kind
		return strconv.AppendQuote(to, string(c.Value(i)))
	}
	return strconv.AppendQuote(to, column.ValueStr(i))
}

// appendFraction appends v / 10^scale as [big.Rat.RatString] writes it, many times as fast; at most 18 digits.
func appendFraction(to []byte, v int64, scale int32) []byte {
	denominator := int64(1)
	for _, factor := range []int64{2, 5} {
		for n := scale; n > 0; n-- {
			if v%factor == 0 {
				v /= factor
			} else {
				denominator *= factor
			}
		}
	}
	to = strconv.AppendInt(to, v, 10)
	if denominator == 1 {
		return to
	}
	return strconv.AppendInt(append(to, '/'), denominator, 10)
}

// Half returns the value of a 16-bit float. Arrow's conversion returns too small values for subnormal floats.
func Half(v float16.Num) float64 {
	bits := v.Uint16()
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	switch {
	case exponent == 31 && fraction > 0:
		return math.NaN()
	case exponent == 31:
		fraction = math.Inf(1)
	case exponent > 0:
		fraction += 1024
	}
	if bits>>15 == 1 {
		fraction = -fraction
	}
	return math.Ldexp(fraction, max(exponent, 1)-25)
}

func floatText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case v == 0 && math.Signbit(v):
		return "-0"
	case math.Abs(v) < 1<<50: // quarters without the arithmetic of large numbers
		if whole := int64(v * 4); float64(whole) == v*4 {
			switch {
			case whole%4 == 0:
				return strconv.FormatInt(whole/4, 10)
			case whole%2 == 0:
				return strconv.FormatInt(whole/2, 10) + "/2"
			}
			return strconv.FormatInt(whole, 10) + "/4"
		}
	}
	return new(big.Rat).SetFloat64(v).RatString()
}
