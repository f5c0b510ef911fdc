package ipc

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/endian"
)

// checkEndianness refuses columns whose values must be swapped where arrow-go (18.8) leaves them as they are, without
// an error: run-end encoding and the views.
func checkEndianness(values endian.Endianness, schema *arrow.Schema, columns []int) error {
	if values == endian.NativeEndian {
		return nil
	}
	for _, column := range columns {
		if field := schema.Field(column); !canSwap(field.Type) {
			return fmt.Errorf("column %q: the values of type %s are %s, which is not supported; leave the column out",
				field.Name, field.Type, values)
		}
	}
	return nil
}

func canSwap(dt arrow.DataType) bool {
	switch dt := dt.(type) {
	case *arrow.RunEndEncodedType, *arrow.ListViewType, *arrow.LargeListViewType, arrow.BinaryViewDataType:
		return false
	case *arrow.DictionaryType:
		return canSwap(dt.ValueType)
	case arrow.ExtensionType:
		return canSwap(dt.StorageType())
	case arrow.NestedType:
		for _, field := range dt.Fields() {
			if !canSwap(field.Type) {
				return false
			}
		}
	}
	return true
}
