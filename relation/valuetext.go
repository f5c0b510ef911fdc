package relation

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/internal/text"
)

// ValueText writes a value for people: NULL, floats as [text.AppendFloat] does, decimals with all digits of
// their scale, and dictionaries as their values.
func ValueText(column arrow.Array, row int) string {
	if IsNull(column, row) {
		return "NULL"
	}
	switch c := column.(type) {
	case *array.Float16:
		return string(text.AppendFloat(nil, float64(c.Value(row).Float32()), 32))
	case *array.Float32:
		return string(text.AppendFloat(nil, float64(c.Value(row)), 32))
	case *array.Float64:
		return string(text.AppendFloat(nil, c.Value(row), 64))
	case *array.Decimal32:
		return decimalText(c, row)
	case *array.Decimal64:
		return decimalText(c, row)
	case *array.Decimal128:
		return decimalText(c, row)
	case *array.Decimal256:
		return decimalText(c, row)
	case *array.Dictionary:
		return ValueText(c.Dictionary(), c.GetValueIndex(row))
	}
	return column.ValueStr(row)
}

func decimalText[T interface{ ToString(scale int32) string }](column interface {
	arrow.Array
	Value(row int) T
}, row int) string {
	return column.Value(row).ToString(column.DataType().(arrow.DecimalType).GetScale())
}
