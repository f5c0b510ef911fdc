package relation

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// class groups the types whose values have the same kind of meaning.
type class uint8

const (
	classNone class = iota
	classNull
	classBool
	classInteger
	classDecimal
	classFloat
	classDate
	classTimestamp // without a time zone: a reading of a wall clock
	classInstant   // with a time zone: a point in time
	classTimeOfDay
	classDuration
	classMonths
	classDayTime      // days and milliseconds
	classMonthDayNano // months, days and nanoseconds
	classText
	classBinary
)

// trait tells what the stored numbers of a type mean. A stored integer n stands for n * ticks / 10^scale in the unit of
// its class, which is 1, or one second.
type trait struct {
	class    class
	scale    int
	ticks    uint64 // 1, but 86,400 seconds for date32
	unsigned bool
	floatBit int
	storage  arrow.DataType // the type itself, or the value type of a dictionary
}

// traitOf describes a type. The class is classNone if its values cannot be keys.
func traitOf(dt arrow.DataType) trait {
	t := trait{ticks: 1, storage: dt}
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		if dt.ValueType.ID() != arrow.DICTIONARY {
			return traitOf(dt.ValueType)
		}
	case *arrow.NullType:
		t.class = classNull
	case *arrow.BooleanType:
		t.class = classBool
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		t.class = classInteger
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		t.class, t.unsigned = classInteger, true
	case arrow.DecimalType:
		t.class, t.scale = classDecimal, int(dt.GetScale())
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		t.class, t.floatBit = classFloat, dt.(arrow.FixedWidthDataType).BitWidth()
	case *arrow.Date32Type:
		t.class, t.ticks = classDate, 86_400
	case *arrow.Date64Type:
		t.class, t.scale = classDate, 3
	case *arrow.TimestampType:
		t.class, t.scale = classTimestamp, subsecondDigits(dt.Unit)
		if dt.TimeZone != "" {
			t.class = classInstant
		}
	case *arrow.Time32Type:
		t.class, t.scale = classTimeOfDay, subsecondDigits(dt.Unit)
	case *arrow.Time64Type:
		t.class, t.scale = classTimeOfDay, subsecondDigits(dt.Unit)
	case *arrow.DurationType:
		t.class, t.scale = classDuration, subsecondDigits(dt.Unit)
	case *arrow.MonthIntervalType:
		t.class = classMonths
	case *arrow.DayTimeIntervalType:
		t.class = classDayTime
	case *arrow.MonthDayNanoIntervalType:
		t.class = classMonthDayNano
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		t.class = classText
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType, *arrow.FixedSizeBinaryType:
		t.class = classBinary
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

// domain is the set of numbers in which the values of both sides of a key are compared.
type domain uint8

const (
	domainSigned   domain = iota // int64: the value in the coarser unit of the two sides
	domainUnsigned               // uint64: integers of two unsigned types, or of an unsigned type and a float
	domainFloat32                // int64: the rank of a float32, see floatcode.go
	domainFloat64                // int64: the rank of a float64
)

// less orders two codes of the domain.
func (d domain) less(a, b uint64) bool {
	if d == domainUnsigned {
		return a < b
	}
	return int64(a) < int64(b)
}

// text returns the integer, float or text that a code stands for.
func (c coding) text(code uint64) string {
	if c.method == methodShort {
		return shortText(code, c.width)
	}
	switch c.domain {
	case domainUnsigned:
		return fmt.Sprint(code)
	case domainFloat32:
		return fmt.Sprint(floatOf32(int64(code)))
	case domainFloat64:
		return fmt.Sprint(floatOf64(int64(code)))
	}
	return fmt.Sprint(int64(code))
}

// method tells how the stored values of one side become codes of the domain.
type method uint8

const (
	methodScale    method = iota // stored integer multiplied by factor
	methodWhole                  // stored integer divided by factor; if that leaves a remainder, it matches nothing
	methodRank                   // rank of a float
	methodIntegral               // float that is an integer of the domain; any other float matches nothing
	methodNever                  // there are no values
	methodShort                  // bytes of a text of up to shortBytes; longer ones match nothing
	methodNumber                 // number of the text of a value, see textnumbers.go
	methodText                   // hash of the text of a value, see texts.go
)

// coding turns the stored values of one side into codes. A value without a code is one that the other side's type
// cannot hold: it never matches, and its row is left out. Nothing overflows and nothing is rounded.
type coding struct {
	domain domain
	method method
	factor uint64 // of methodScale and methodWhole; 0 if it exceeds 63 bits, so that only the value 0 has a code
	digits int    // of methodWhole with decimals: factor is 10^digits
	width  int    // of methodShort: bytes of the longest text that has a code
	raise  int    // of methodText: stored numbers are multiplied by 10^raise
}

// coerce finds the domain of a pair of key columns and the coding of each side. The reason is empty on success,
// otherwise the rest of a sentence about the two columns.
//
// Values with units are compared in the coarser unit of the two, so that they never overflow 64 bits. A value that is
// not a whole number of coarser units equals no value of the other side.
func coerce(left, right trait) (l, r coding, reason string) {
	pair := func(a, b class) bool {
		return left.class == a && right.class == b || left.class == b && right.class == a
	}
	switch {
	case left.class == classNull && right.class == classNull:
		return coding{method: methodNever}, coding{method: methodNever}, ""
	case left.class == classNull:
		_, r, _ = coerce(right, right)
		return coding{domain: r.domain, method: methodNever}, r, ""
	case right.class == classNull:
		l, _, _ = coerce(left, left)
		return l, coding{domain: l.domain, method: methodNever}, ""
	case pair(classFloat, classFloat):
		d := domainFloat32
		if max(left.floatBit, right.floatBit) == 64 {
			d = domainFloat64
		}
		return coding{domain: d, method: methodRank}, coding{domain: d, method: methodRank}, ""
	case pair(classInteger, classFloat):
		d := domainSigned
		if left.unsigned || right.unsigned {
			d = domainUnsigned
		}
		l, r = coding{domain: d, factor: 1}, coding{domain: d, method: methodIntegral}
		if left.class == classFloat {
			l, r = r, l
		}
		return l, r, ""
	case pair(classInteger, classInteger) && left.unsigned && right.unsigned:
		return coding{domain: domainUnsigned, factor: 1}, coding{domain: domainUnsigned, factor: 1}, ""
	case left.class == right.class && left.class >= classMonthDayNano:
		return coding{method: methodText}, coding{method: methodText}, ""
	case left.class == right.class, pair(classInteger, classDecimal), pair(classDate, classTimestamp):
		unit := left
		if left.ticks < right.ticks || left.ticks == right.ticks && left.scale > right.scale {
			unit = right
		}
		return left.counting(unit), right.counting(unit), ""
	case pair(classTimestamp, classInstant), pair(classDate, classInstant):
		return l, r, "one has a time zone and the other has none; cast one of them"
	case pair(classDecimal, classFloat):
		return l, r, "a decimal fraction such as 0.1 is not exact as a float; cast one of them"
	case pair(classBool, classInteger):
		return l, r, "a boolean cannot be compared with a number; cast one of them"
	}
	return l, r, "their values mean different things; cast one of them"
}

// counting is the coding of a type in the unit of another type, which is the same or coarser.
func (t trait) counting(unit trait) coding {
	c := coding{method: methodWhole, factor: ratio(unit, t), digits: t.scale - unit.scale}
	if c.factor == 1 {
		c.method = methodScale
	}
	return c
}

// ratio is the number of units of a type in one unit of a coarser type, or 0 above 63 bits.
func ratio(coarse, fine trait) uint64 {
	factor := coarse.ticks / fine.ticks
	for range fine.scale - coarse.scale {
		if factor > math.MaxInt64/10 {
			return 0
		}
		factor *= 10
	}
	return factor
}
