package tableio

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// checkTypes refuses type parameters that no writer means: a decoder takes them
// from the file as they are, and values of such a type panic when they are used.
func checkTypes(fields []arrow.Field) error {
	for _, field := range fields {
		if err := checkType(field.Type); err != nil {
			return fmt.Errorf("column %q: %w", field.Name, err)
		}
	}
	return nil
}

func checkType(dt arrow.DataType) error {
	switch dt := dt.(type) {
	case arrow.DecimalType:
		precision, scale := dt.GetPrecision(), dt.GetScale()
		most := map[arrow.Type]int32{arrow.DECIMAL32: 9, arrow.DECIMAL64: 18, arrow.DECIMAL128: 38, arrow.DECIMAL256: 76}[dt.ID()]
		if precision < 1 || precision > most || scale > most || scale < -most {
			return fmt.Errorf("a decimal of %d digits, %d of them a fraction", precision, scale)
		}
	case *arrow.FixedSizeBinaryType:
		if dt.ByteWidth < 0 {
			return fmt.Errorf("a fixed-size binary of %d bytes", dt.ByteWidth)
		}
	case *arrow.FixedSizeListType:
		if dt.Len() < 0 {
			return fmt.Errorf("a fixed-size list of %d elements", dt.Len())
		}
	case *arrow.DictionaryType:
		return checkType(dt.ValueType)
	case arrow.ExtensionType:
		return checkType(dt.StorageType())
	}
	if nested, ok := dt.(arrow.NestedType); ok {
		return checkTypes(nested.Fields())
	}
	return nil
}
