package columnchunk

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Decodes reports whether a [Decoder] can read a Parquet column as an Arrow type without loss: both are flat, the
// values have the same meaning, and the Arrow type has room for all of them. Repeated columns, columns in optional
// groups, and the null type are not handled.
func Decodes(dt arrow.DataType, leaf *schema.Column) bool {
	if leaf.MaxRepetitionLevel() > 0 || leaf.MaxDefinitionLevel() > 1 {
		return false
	}
	dt = storageType(dt)
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		dt = dictionary.ValueType
		if !arrow.IsInteger(dictionary.IndexType.ID()) || dt.ID() == arrow.DICTIONARY || dt.ID() == arrow.EXTENSION {
			return false
		}
	}
	logical := leaf.LogicalType()
	if !logical.IsValid() || logical.Equals(schema.NullLogicalType{}) {
		return false
	}
	switch dt.ID() {
	case arrow.BOOL:
		return leaf.PhysicalType() == parquet.Types.Boolean
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.STRING_VIEW, arrow.BINARY_VIEW:
		_, decimal := logical.(schema.DecimalLogicalType)
		return leaf.PhysicalType() == parquet.Types.ByteArray && !decimal
	}
	convert, _ := conversion(dt, leaf)
	return convert != nil
}

// conversion gives the converter of a column to an Arrow type of fixed width, and the width in bytes. It is nil where
// the type cannot hold the column.
func conversion(dt arrow.DataType, leaf *schema.Column) (convert converter, width int) {
	fixed, ok := dt.(arrow.FixedWidthDataType)
	if !ok {
		return nil, 0
	}
	width = fixed.BitWidth() / 8
	kind, logical := leaf.PhysicalType(), leaf.LogicalType()
	switch dt.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64:
		return integers(kind, logical, width, true), width
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return integers(kind, logical, width, false), width
	case arrow.FLOAT32:
		return plainIf(kind == parquet.Types.Float, 4), width
	case arrow.FLOAT64:
		return plainIf(kind == parquet.Types.Double, 8), width
	case arrow.FLOAT16, arrow.FIXED_SIZE_BINARY:
		_, decimal := logical.(schema.DecimalLogicalType)
		same := kind == parquet.Types.FixedLenByteArray && leaf.TypeLength() == width && width > 0
		return plainIf(same && !decimal, width), width
	case arrow.DURATION:
		_, integer := logical.(schema.IntLogicalType)
		return plainIf(kind == parquet.Types.Int64 && (logical.IsNone() || integer), 8), width
	case arrow.DATE32:
		_, date := logical.(schema.DateLogicalType)
		return plainIf(kind == parquet.Types.Int32 && date, 4), width
	case arrow.DATE64:
		if _, date := logical.(schema.DateLogicalType); date && kind == parquet.Types.Int32 {
			return eachValue(4, daysToMillis), width
		}
	case arrow.TIME32, arrow.TIME64:
		if time, ok := logical.(schema.TimeLogicalType); ok {
			return units(kind, time.TimeUnit(), dt.(arrow.TemporalWithUnit).TimeUnit(), width), width
		}
	case arrow.TIMESTAMP:
		unit := dt.(*arrow.TimestampType).Unit
		if kind == parquet.Types.Int96 {
			switch unit {
			case arrow.Nanosecond:
				return eachValue(12, int96ToNanos), width
			case arrow.Microsecond:
				return eachValue(12, int96ToMicros), width
			}
			return nil, 0
		}
		if timestamp, ok := logical.(schema.TimestampLogicalType); ok {
			return units(kind, timestamp.TimeUnit(), unit, width), width
		}
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		stored, ok := logical.(schema.DecimalLogicalType)
		decimal := dt.(arrow.DecimalType)
		if ok && stored.Scale() == decimal.GetScale() && stored.Precision() <= decimal.GetPrecision() {
			return decimals(leaf, width), width
		}
	}
	return nil, 0
}

func plainIf(same bool, width int) converter {
	if !same {
		return nil
	}
	return eachValue(width, func(dst, src []byte) error {
		copy(dst, src)
		return nil
	})
}

// integers converts integers. Parquet stores at least 32 bits.
func integers(kind parquet.Type, logical schema.LogicalType, width int, signed bool) converter {
	switch logical := logical.(type) {
	case schema.IntLogicalType:
		if int(logical.BitWidth()) != 8*width || logical.IsSigned() != signed {
			return nil
		}
	default:
		if !logical.IsNone() || width < 4 || !signed {
			return nil
		}
	}
	switch {
	case kind == parquet.Types.Int64 && width == 8, kind == parquet.Types.Int32 && width == 4:
		return plainIf(true, width)
	case kind == parquet.Types.Int32 && width == 1:
		return eachValue(4, narrowInPlace[uint8])
	case kind == parquet.Types.Int32 && width == 2:
		return eachValue(4, narrowInPlace[uint16])
	}
	return nil
}

// units converts times and timestamps. Parquet has no seconds, they are stored as milliseconds.
func units(kind parquet.Type, stored schema.TimeUnitType, unit arrow.TimeUnit, width int) converter {
	if width == 4 && kind != parquet.Types.Int32 || width == 8 && kind != parquet.Types.Int64 {
		return nil
	}
	switch {
	case unit == arrow.Second && stored == schema.TimeUnitMillis && width == 4:
		return eachValue(4, millisToSeconds[int32])
	case unit == arrow.Second && stored == schema.TimeUnitMillis && width == 8:
		return eachValue(8, millisToSeconds[int64])
	}
	same := unit == arrow.Millisecond && stored == schema.TimeUnitMillis ||
		unit == arrow.Microsecond && stored == schema.TimeUnitMicros ||
		unit == arrow.Nanosecond && stored == schema.TimeUnitNanos
	return plainIf(same, width)
}

// decimals converts integers and big-endian bytes to little-endian integers of a width.
func decimals(leaf *schema.Column, width int) converter {
	switch leaf.PhysicalType() {
	case parquet.Types.Int32:
		return eachValue(4, func(dst, src []byte) error { return widenInto(dst, view[int32](src), width) })
	case parquet.Types.Int64:
		return eachValue(8, func(dst, src []byte) error { return widenInto(dst, view[int64](src), width) })
	case parquet.Types.FixedLenByteArray:
		if from := leaf.TypeLength(); from > 0 {
			return eachValue(from, func(dst, src []byte) error { return reverseAll(dst, src, from, width) })
		}
	case parquet.Types.ByteArray:
		return func(dst, plain []byte, n int) (int, error) { return reverseEach(dst, plain, n, width) }
	}
	return nil
}
