package relation

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestValueText(t *testing.T) {
	for _, test := range []struct {
		dt           arrow.DataType
		values, want string
	}{
		{arrow.PrimitiveTypes.Float64, `[1250000.75]`, "1250000.75"},
		{arrow.PrimitiveTypes.Float64, `[12345678]`, "12345678.0"},
		{arrow.PrimitiveTypes.Float32, `[1250000.75]`, "1250000.8"},
		{arrow.FixedWidthTypes.Float16, `[65504]`, "65504.0"},
		{arrow.PrimitiveTypes.Float64, `[null]`, "NULL"},
		{&arrow.Decimal128Type{Precision: 5, Scale: 2}, `["1.50"]`, "1.50"},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Float64}, `[3000000]`,
			"3000000.0"},
		{arrow.BinaryTypes.String, `["a"]`, "a"},
	} {
		column, _, err := array.FromJSON(memory.DefaultAllocator, test.dt, strings.NewReader(test.values))
		require.NoError(t, err)
		require.Equal(t, test.want, ValueText(column, 0), "%s", test.dt)
		column.Release()
	}
}
