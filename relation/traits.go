package relation

import "github.com/apache/arrow-go/v18/arrow"

// Class groups the types whose values have the same kind of meaning.
type Class uint8

const (
	ClassNone Class = iota // values that cannot be keys
	ClassNull              // a type without values
	ClassBool
	ClassInteger
	ClassDecimal
	ClassFloat
	ClassDate
	ClassTimestamp // without a time zone: a reading of a wall clock
	ClassInstant   // with a time zone: a point in time
	ClassTimeOfDay
	ClassDuration
	ClassMonths
	ClassDayTime      // days and milliseconds
	ClassMonthDayNano // months, days and nanoseconds
	ClassText
	ClassBinary
)

// IsText reports whether values are strings or byte strings.
func (c Class) IsText() bool { return c == ClassText || c == ClassBinary }

// Layout tells how an array stores its values.
type Layout uint8

const (
	LayoutNone Layout = iota // no values, or none that can be keys
	LayoutBits
	LayoutInt8
	LayoutInt16
	LayoutInt32
	LayoutInt64
	LayoutUint8
	LayoutUint16
	LayoutUint32
	LayoutUint64
	LayoutInt128 // words of 64 bits, the lowest first
	LayoutInt256
	LayoutFloat16
	LayoutFloat32
	LayoutFloat64
	LayoutOffsets32 // contiguous bytes of any length
	LayoutOffsets64
	LayoutViews
	LayoutBytes // bytes of one length
)

// Trait tells how the values of a type are stored and what they mean. A stored integer n stands for
// n * Ticks / 10^Scale in the unit of its class, which is 1, or one second.
type Trait struct {
	Class     Class
	Layout    Layout
	Bits      int    // per value; 0 for bytes
	Unsigned  bool   // stored integers have no sign
	Precision int    // integers of this number of bits, apart from the sign, are exact: of integers and floats
	Digits    int32  // decimal digits of the greatest integer: of integers
	Ticks     uint64 // 1, but 86,400 seconds for date32
	Scale     int    // also depends on the unit, or on the scale of a decimal
	ByBytes   bool   // values of more than 64 bits that are compared as bytes

	Storage arrow.DataType // the type itself, or the value type of a dictionary
}

// traits has a row for every type whose values can be keys, as far as its parameters do not matter.
var traits = map[arrow.Type]Trait{
	arrow.NULL: {Class: ClassNull},
	arrow.BOOL: {Class: ClassBool, Layout: LayoutBits, Bits: 1, Unsigned: true},

	arrow.INT8:  {Class: ClassInteger, Layout: LayoutInt8, Bits: 8, Precision: 7, Digits: 3},
	arrow.INT16: {Class: ClassInteger, Layout: LayoutInt16, Bits: 16, Precision: 15, Digits: 5},
	arrow.INT32: {Class: ClassInteger, Layout: LayoutInt32, Bits: 32, Precision: 31, Digits: 10},
	arrow.INT64: {Class: ClassInteger, Layout: LayoutInt64, Bits: 64, Precision: 63, Digits: 19},

	arrow.UINT8:  {Class: ClassInteger, Layout: LayoutUint8, Bits: 8, Unsigned: true, Precision: 8, Digits: 3},
	arrow.UINT16: {Class: ClassInteger, Layout: LayoutUint16, Bits: 16, Unsigned: true, Precision: 16, Digits: 5},
	arrow.UINT32: {Class: ClassInteger, Layout: LayoutUint32, Bits: 32, Unsigned: true, Precision: 32, Digits: 10},
	arrow.UINT64: {Class: ClassInteger, Layout: LayoutUint64, Bits: 64, Unsigned: true, Precision: 64, Digits: 20},

	arrow.DECIMAL32:  {Class: ClassDecimal, Layout: LayoutInt32, Bits: 32},
	arrow.DECIMAL64:  {Class: ClassDecimal, Layout: LayoutInt64, Bits: 64},
	arrow.DECIMAL128: {Class: ClassDecimal, Layout: LayoutInt128, Bits: 128},
	arrow.DECIMAL256: {Class: ClassDecimal, Layout: LayoutInt256, Bits: 256},

	arrow.FLOAT16: {Class: ClassFloat, Layout: LayoutFloat16, Bits: 16, Precision: 11},
	arrow.FLOAT32: {Class: ClassFloat, Layout: LayoutFloat32, Bits: 32, Precision: 24},
	arrow.FLOAT64: {Class: ClassFloat, Layout: LayoutFloat64, Bits: 64, Precision: 53},

	arrow.DATE32:    {Class: ClassDate, Layout: LayoutInt32, Bits: 32, Ticks: 86_400},
	arrow.DATE64:    {Class: ClassDate, Layout: LayoutInt64, Bits: 64, Scale: 3},
	arrow.TIMESTAMP: {Class: ClassTimestamp, Layout: LayoutInt64, Bits: 64},
	arrow.TIME32:    {Class: ClassTimeOfDay, Layout: LayoutInt32, Bits: 32},
	arrow.TIME64:    {Class: ClassTimeOfDay, Layout: LayoutInt64, Bits: 64},
	arrow.DURATION:  {Class: ClassDuration, Layout: LayoutInt64, Bits: 64},

	arrow.INTERVAL_MONTHS:         {Class: ClassMonths, Layout: LayoutInt32, Bits: 32},
	arrow.INTERVAL_DAY_TIME:       {Class: ClassDayTime, Layout: LayoutInt64, Bits: 64},
	arrow.INTERVAL_MONTH_DAY_NANO: {Class: ClassMonthDayNano, Layout: LayoutBytes, ByBytes: true},

	arrow.STRING:            {Class: ClassText, Layout: LayoutOffsets32, ByBytes: true},
	arrow.LARGE_STRING:      {Class: ClassText, Layout: LayoutOffsets64, ByBytes: true},
	arrow.STRING_VIEW:       {Class: ClassText, Layout: LayoutViews, ByBytes: true},
	arrow.BINARY:            {Class: ClassBinary, Layout: LayoutOffsets32, ByBytes: true},
	arrow.LARGE_BINARY:      {Class: ClassBinary, Layout: LayoutOffsets64, ByBytes: true},
	arrow.BINARY_VIEW:       {Class: ClassBinary, Layout: LayoutViews, ByBytes: true},
	arrow.FIXED_SIZE_BINARY: {Class: ClassBinary, Layout: LayoutBytes, ByBytes: true},
}

// TraitOf describes a type. The class is ClassNone if its values cannot be keys.
func TraitOf(dt arrow.DataType) Trait {
	if d, ok := dt.(*arrow.DictionaryType); ok && d.ValueType.ID() != arrow.DICTIONARY {
		return TraitOf(d.ValueType)
	}
	t := traits[dt.ID()]
	t.Ticks, t.Storage = max(t.Ticks, 1), dt
	switch dt := dt.(type) {
	case arrow.DecimalType:
		t.Scale = int(dt.GetScale())
	case arrow.TemporalWithUnit:
		t.Scale = subsecondDigits(dt.TimeUnit())
	}
	if stamp, ok := dt.(*arrow.TimestampType); ok && stamp.TimeZone != "" {
		t.Class = ClassInstant
	}
	return t
}

func subsecondDigits(unit arrow.TimeUnit) int {
	switch unit {
	case arrow.Second:
		return 0
	case arrow.Millisecond:
		return 3
	case arrow.Microsecond:
		return 6
	}
	return 9
}
