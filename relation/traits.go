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

// Trait tells what the stored numbers of a type mean. A stored integer n stands for n * Ticks / 10^Scale in the unit of
// its class, which is 1, or one second.
type Trait struct {
	Class     Class
	Scale     int
	Ticks     uint64 // 1, but 86,400 seconds for date32
	Unsigned  bool
	FloatBits int            // width of a float; 0 for other classes
	Storage   arrow.DataType // the type itself, or the value type of a dictionary
}

// TraitOf describes a type. The class is ClassNone if its values cannot be keys.
func TraitOf(dt arrow.DataType) Trait {
	t := Trait{Ticks: 1, Storage: dt}
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		if dt.ValueType.ID() != arrow.DICTIONARY {
			return TraitOf(dt.ValueType)
		}
	case *arrow.NullType:
		t.Class = ClassNull
	case *arrow.BooleanType:
		t.Class = ClassBool
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		t.Class = ClassInteger
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		t.Class, t.Unsigned = ClassInteger, true
	case arrow.DecimalType:
		t.Class, t.Scale = ClassDecimal, int(dt.GetScale())
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		t.Class, t.FloatBits = ClassFloat, dt.(arrow.FixedWidthDataType).BitWidth()
	case *arrow.Date32Type:
		t.Class, t.Ticks = ClassDate, 86_400
	case *arrow.Date64Type:
		t.Class, t.Scale = ClassDate, 3
	case *arrow.TimestampType:
		t.Class, t.Scale = ClassTimestamp, subsecondDigits(dt.Unit)
		if dt.TimeZone != "" {
			t.Class = ClassInstant
		}
	case *arrow.Time32Type:
		t.Class, t.Scale = ClassTimeOfDay, subsecondDigits(dt.Unit)
	case *arrow.Time64Type:
		t.Class, t.Scale = ClassTimeOfDay, subsecondDigits(dt.Unit)
	case *arrow.DurationType:
		t.Class, t.Scale = ClassDuration, subsecondDigits(dt.Unit)
	case *arrow.MonthIntervalType:
		t.Class = ClassMonths
	case *arrow.DayTimeIntervalType:
		t.Class = ClassDayTime
	case *arrow.MonthDayNanoIntervalType:
		t.Class = ClassMonthDayNano
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		t.Class = ClassText
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType, *arrow.FixedSizeBinaryType:
		t.Class = ClassBinary
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
