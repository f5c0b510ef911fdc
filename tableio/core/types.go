package core

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// CheckTypes refuses type parameters that no writer means: a decoder takes them
// from the file as they are, and values of such a type panic when they are used.
func CheckTypes(fields []arrow.Field) error {
	for _, field := range fields {
		if err := CheckType(field.Type); err != nil {
			return fmt.Errorf("column %q: %w", field.Name, err)
		}
	}
	return nil
}

// Types with more levels of nesting, or more maps in one another, are refused. arrow-go (18.8) makes the Go objects of
// a map's keys and values twice, of a map in it four times, and so on.
const (
	mostLevels = 100
	mostMaps   = 10
)

// depth counts the levels of a type, and the maps among them.
func depth(dt arrow.DataType) (levels, maps int) {
	if extension, ok := dt.(arrow.ExtensionType); ok {
		dt = extension.StorageType()
	}
	nested, ok := dt.(arrow.NestedType)
	if !ok {
		return 1, 0
	}
	for _, field := range nested.Fields() {
		below, mapsBelow := depth(field.Type)
		levels, maps = max(levels, below), max(maps, mapsBelow)
	}
	if dt.ID() == arrow.MAP {
		maps++
	}
	return levels + 1, maps
}

// CheckType is CheckTypes for one type, without a name in its error.
func CheckType(dt arrow.DataType) error {
	if levels, maps := depth(dt); levels > mostLevels || maps > mostMaps {
		return fmt.Errorf("it has %d levels of nesting, %d of them maps; %d and %d are the most", levels, maps, mostLevels,
			mostMaps)
	}
	return checkParameters(dt)
}

func checkParameters(dt arrow.DataType) error {
	switch dt := dt.(type) {
	case arrow.DecimalType:
		precision, scale := dt.GetPrecision(), dt.GetScale()
		most := map[arrow.Type]int32{
			arrow.DECIMAL32: 9, arrow.DECIMAL64: 18, arrow.DECIMAL128: 38, arrow.DECIMAL256: 76,
		}[dt.ID()]
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
		return checkParameters(dt.ValueType)
	case arrow.ExtensionType:
		return checkParameters(dt.StorageType())
	}
	if nested, ok := dt.(arrow.NestedType); ok {
		for _, field := range nested.Fields() {
			if err := checkParameters(field.Type); err != nil {
				return fmt.Errorf("field %q: %w", field.Name, err)
			}
		}
	}
	return nil
}
