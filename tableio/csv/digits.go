package csv

import (
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

const digitPairs = "0001020304050607080910111213141516171819" + "2021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859" + "6061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

// appendUint writes two digits at a time, from the last.
func appendUint(dst []byte, v uint64) []byte {
	return appendPadded(dst, v, digitsOf(v))
}

func appendInt(dst []byte, v int64) []byte {
	if v < 0 {
		return appendUint(append(dst, '-'), -uint64(v))
	}
	return appendUint(dst, uint64(v))
}

// digitsOf counts the decimal digits. The number of bits gives a first guess, at most one too low.
func digitsOf(v uint64) int {
	guess := bits.Len64(v|1) * 1233 >> 12
	if guess < len(powersOfTen) && v < uint64(powersOfTen[guess]) {
		return max(1, guess)
	}
	if guess == len(powersOfTen) && v < 10_000_000_000_000_000_000 {
		return guess
	}
	return guess + 1
}

// appendPadded writes exactly that number of digits, zeros first; the number has no more of them.
func appendPadded(dst []byte, v uint64, digits int) []byte {
	const zeros = "00000000000000000000000000000000000000000000"
	dst = append(dst, zeros[:digits]...)
	at := len(dst)
	for ; v >= 100; v /= 100 {
		at -= 2
		pair := v % 100 * 2
		dst[at], dst[at+1] = digitPairs[pair], digitPairs[pair+1]
	}
	if v >= 10 {
		dst[at-2], dst[at-1] = digitPairs[2*v], digitPairs[2*v+1]
	} else if v > 0 {
		dst[at-1] = byte('0' + v)
	}
	return dst
}

// appendDecimal writes all digits of the scale.
func appendDecimal(dst []byte, v decimal128.Num, scale int32) []byte {
	low := int64(v.LowBits())
	if scale >= int32(len(powersOfTen)) || v.HighBits() != low>>63 || low == math.MinInt64 {
		return append(dst, v.ToString(scale)...)
	}
	if low < 0 {
		dst, low = append(dst, '-'), -low
	}
	if scale == 0 {
		return appendUint(dst, uint64(low))
	}
	unit := powersOfTen[scale]
	dst = append(appendUint(dst, uint64(low/unit)), '.')
	return appendPadded(dst, uint64(low%unit), int(scale))
}

// The years that a text of four digits holds.
var (
	minTextSeconds = daysSinceEpoch(0, 1, 1) * 86_400
	maxTextSeconds = daysSinceEpoch(9999, 12, 31)*86_400 + 86_399
)

func appendDate(dst []byte, days int64) []byte {
	if days < minTextSeconds/86_400 || days > maxTextSeconds/86_400 {
		return nil
	}
	year, month, day := dateOf(days)
	century, month2, day2 := year/100*2, 2*month, 2*day
	year = year % 100 * 2
	return append(dst, digitPairs[century], digitPairs[century+1], digitPairs[year], digitPairs[year+1], '-',
		digitPairs[month2], digitPairs[month2+1], '-', digitPairs[day2], digitPairs[day2+1])
}

// appendDate64 has no text for a date that is not a whole day.
func appendDate64(dst []byte, milliseconds int64) []byte {
	if milliseconds%86_400_000 != 0 {
		return nil
	}
	return appendDate(dst, milliseconds/86_400_000)
}

func appendTime(dst []byte, units int64, unit arrow.TimeUnit) []byte {
	perSecond := unitsPerSecond(unit)
	seconds := units / perSecond
	if units < 0 || seconds >= 86_400 {
		return nil
	}
	return appendFraction(appendClock(dst, seconds), units%perSecond, unit)
}

// appendTimestamp writes UTC for columns that have a time zone.
func appendTimestamp(dst []byte, units int64, dt *arrow.TimestampType) []byte {
	perSecond := unitsPerSecond(dt.Unit)
	seconds, fraction := floorDivide(units, perSecond)
	days, seconds := floorDivide(seconds, 86_400)
	if dst = appendDate(dst, days); dst == nil {
		return nil
	}
	dst = appendFraction(appendClock(append(dst, ' '), seconds), fraction, dt.Unit)
	if dt.TimeZone != "" {
		dst = append(dst, 'Z')
	}
	return dst
}

func floorDivide(v, by int64) (quotient, rest int64) {
	quotient, rest = v/by, v%by
	if rest < 0 {
		quotient, rest = quotient-1, rest+by
	}
	return quotient, rest
}

// appendClock writes the seconds of a day as HH:MM:SS.
func appendClock(dst []byte, seconds int64) []byte {
	hour, minute, second := seconds/3600*2, seconds/60%60*2, seconds%60*2
	return append(dst, digitPairs[hour], digitPairs[hour+1], ':', digitPairs[minute], digitPairs[minute+1], ':',
		digitPairs[second], digitPairs[second+1])
}

// appendFraction writes all digits of the unit, unless the fraction is zero.
func appendFraction(dst []byte, units int64, unit arrow.TimeUnit) []byte {
	if units == 0 {
		return dst
	}
	return appendPadded(append(dst, '.'), uint64(units), 3*int(unit))
}
