package groupby

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// wideType returns the type of sums that are [Aggregate.Wide], and false for values that have none.
func wideType(t arrow.DataType) (arrow.DataType, bool) {
	if k := kindOf(t); k != signed && k != unsigned && k != decimal && k != duration {
		return nil, false
	}
	return &arrow.Decimal256Type{Precision: digits256, Scale: scaleOf(t)}, true
}

// scaleOf is the scale of decimals, and 0 of other values.
func scaleOf(t arrow.DataType) int32 {
	if d, ok := t.(arrow.DecimalType); ok {
		return d.GetScale()
	}
	return 0
}

// Narrow returns sums that are [Aggregate.Wide] of a column of values of a type as a Sum of them has them. The caller
// releases the result. Errors: ErrLimit for a sum that its type does not hold.
func Narrow(sums *array.Decimal256, column string, of arrow.DataType) (arrow.Array, error) {
	result, _ := sumType(of)
	width := relation.WordBits(result) / 8
	out := make([]byte, width*sums.Len())
	for i, v := range sums.Values() {
		if sum := exactOf(v); sums.IsValid(i) && !sum.put(out[i*width:][:width], result) {
			return nil, overflow(column, result)
		}
	}
	return relation.WithNulls(sums, result, out), nil
}

func exactOf(v decimal256.Num) (sum exactSum) {
	words := v.Array()
	addTo(sum[:], words[:], ^uint64(0))
	return sum
}

// Means returns sums, of floats or [Aggregate.Wide], divided by the numbers of their values. Exact sums are correctly
// rounded. The caller releases the result.
func Means(sums arrow.Array, counts *array.Int64) arrow.Array {
	out := make([]float64, sums.Len())
	switch sums := sums.(type) {
	case *array.Float64:
		for i, sum := range sums.Float64Values() {
			out[i] = sum / float64(counts.Value(i))
		}
	case *array.Decimal256:
		fractions := newFractions(sums.DataType(), 1, false)
		for i, v := range sums.Values() {
			if sums.IsValid(i) {
				sum := exactOf(v)
				out[i] = fractions.mean(uint64(counts.Value(i)), &sum)
			}
		}
	}
	return relation.WithNulls(sums, arrow.PrimitiveTypes.Float64, backend.AsBytes(out))
}
