package relation

import "github.com/apache/arrow-go/v18/arrow"

// CommonType returns the type of a column that holds the keys of both sides, such as the key column of an outer join.
// It holds every value of either type. Units of time become the finer one, which may overflow for values far from the
// epoch ([keys.Convert]).
//
//	the same type, or null       the type
//	integers                     the narrowest integer that holds both; decimal(20, 0) for int64 and uint64
//	floats, integers up to 32    the narrowest float that holds both exactly
//	decimals, integers           a decimal with the digits of both before and behind the point, up to 76
//	date32, date64               date64
//	dates, timestamps            the timestamp of the finer unit
//	timestamps with time zones   the finer unit, with the time zone of both, or UTC where they differ
//	times of day, durations      the finer unit
//	strings; binary              large_utf8; large_binary
//
// A dictionary counts as the type of its values. The result is false for other pairs, such as int64 and float64.
func CommonType(a, b arrow.DataType) (arrow.DataType, bool) {
	l, r := TraitOf(a), TraitOf(b)
	a, b = l.Storage, r.Storage
	pair := func(x, y Class) bool { return l.Class == x && r.Class == y || l.Class == y && r.Class == x }
	unit := func() arrow.TimeUnit { return unitOf(max(l.Scale, r.Scale)) }
	switch {
	case arrow.TypeEqual(a, b), r.Class == ClassNull:
		return a, true
	case l.Class == ClassNull:
		return b, true
	case pair(ClassFloat, ClassFloat), pair(ClassFloat, ClassInteger):
		return commonFloat(max(l.Precision, r.Precision))
	case pair(ClassInteger, ClassInteger):
		return commonInteger(l, r), true
	case pair(ClassDecimal, ClassDecimal), pair(ClassDecimal, ClassInteger):
		return commonDecimal(l, r)
	case pair(ClassDate, ClassDate):
		return arrow.FixedWidthTypes.Date64, true
	case pair(ClassTimestamp, ClassTimestamp), pair(ClassDate, ClassTimestamp):
		return &arrow.TimestampType{Unit: unit()}, true
	case pair(ClassInstant, ClassInstant):
		zone := a.(*arrow.TimestampType).TimeZone
		if zone != b.(*arrow.TimestampType).TimeZone {
			zone = "UTC"
		}
		return &arrow.TimestampType{Unit: unit(), TimeZone: zone}, true
	case pair(ClassTimeOfDay, ClassTimeOfDay) && unit() < arrow.Microsecond:
		return &arrow.Time32Type{Unit: unit()}, true
	case pair(ClassTimeOfDay, ClassTimeOfDay):
		return &arrow.Time64Type{Unit: unit()}, true
	case pair(ClassDuration, ClassDuration):
		return &arrow.DurationType{Unit: unit()}, true
	case pair(ClassText, ClassText):
		return arrow.BinaryTypes.LargeString, true
	case pair(ClassBinary, ClassBinary):
		return arrow.BinaryTypes.LargeBinary, true
	}
	return nil, false
}

func unitOf(subsecondDigits int) arrow.TimeUnit {
	return [...]arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond}[subsecondDigits/3]
}

func commonFloat(bits int) (arrow.DataType, bool) {
	switch {
	case bits <= 11:
		return arrow.FixedWidthTypes.Float16, true
	case bits <= 24:
		return arrow.PrimitiveTypes.Float32, true
	case bits <= 53:
		return arrow.PrimitiveTypes.Float64, true
	}
	return nil, false
}

func commonInteger(l, r Trait) arrow.DataType {
	bits := max(l.Bits, r.Bits)
	if l.Unsigned == r.Unsigned {
		if l.Bits == bits {
			return l.Storage
		}
		return r.Storage
	}
	for _, t := range []Trait{l, r} {
		if t.Unsigned {
			bits = max(bits, 2*t.Bits)
		}
	}
	switch bits {
	case 16:
		return arrow.PrimitiveTypes.Int16
	case 32:
		return arrow.PrimitiveTypes.Int32
	case 64:
		return arrow.PrimitiveTypes.Int64
	}
	return &arrow.Decimal128Type{Precision: 20}
}

func commonDecimal(l, r Trait) (arrow.DataType, bool) {
	scale, whole, width := int32(max(l.Scale, r.Scale)), int32(-128), 32
	for _, t := range []Trait{l, r} {
		if decimal, ok := t.Storage.(arrow.DecimalType); ok {
			whole, width = max(whole, decimal.GetPrecision()-decimal.GetScale()), max(width, t.Bits)
			continue
		}
		whole = max(whole, t.Digits)
	}
	switch precision := whole + scale; {
	case precision <= 9 && width <= 32:
		return &arrow.Decimal32Type{Precision: precision, Scale: scale}, true
	case precision <= 18 && width <= 64:
		return &arrow.Decimal64Type{Precision: precision, Scale: scale}, true
	case precision <= 38 && width <= 128:
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}, true
	case precision <= 76:
		return &arrow.Decimal256Type{Precision: precision, Scale: scale}, true
	}
	return nil, false
}
