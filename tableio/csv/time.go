package csv

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// parseDate accepts YYYY-MM-DD and gives days since 1970-01-01.
func parseDate(b []byte) (days int64, ok bool) {
	if len(b) != 10 {
		return 0, false
	}
	word := binary.LittleEndian.Uint64(b) ^ dateForm
	tens, ones := b[8]-'0', b[9]-'0'
	if notDigits(word)|word&dateDashes != 0 || tens > 3 || ones > 9 {
		return 0, false
	}
	year := int(word&15*1000 + word>>8&15*100 + word>>16&15*10 + word>>24&15)
	month, day := int(word>>40&15*10+word>>48&15), int(tens*10+ones)
	if month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(year, month) {
		return 0, false
	}
	return daysSinceEpoch(year, month, day), true
}

var dateForm = binary.LittleEndian.Uint64([]byte("0000-00-"))

const dateDashes = 0xff0000ff << 32 // where the dashes of a date stand in a word

func number(digits []byte) int {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSinceEpoch counts the days from 1970-01-01 to a date of the Gregorian calendar, from year -400 on. Years begin in
// March, so that the day added in leap years is their last.
func daysSinceEpoch(year, month, day int) int64 {
	year += 400
	if month < 3 {
		year, month = year-1, month+12
	}
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return int64(365*year+year/4-year/100+year/400+dayOfYear) - 719_468 - 146_097
}

// dateOf is the inverse of daysSinceEpoch.
func dateOf(days int64) (year, month, day int) {
	n := uint64(days + 719_468 + 146_097) // since March of year -400
	era, n := n/146_097, n%146_097
	yearOfEra := (n - n/1460 + n/36_524 - n/146_096) / 365
	dayOfYear := n - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153
	year, month, day = int(400*era+yearOfEra)-400, int(shifted)+3, int(dayOfYear-(153*shifted+2)/5)+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// instant is a parsed timestamp: seconds since 1970 and the nanoseconds behind them.
type instant struct {
	seconds        int64
	nanoseconds    int64
	fractionDigits int  // written, 0..9
	zoned          bool // the text had Z or an offset, which is applied already
}

// parseTimestamp accepts YYYY-MM-DD, then optionally T or a space and a time,
// then optionally Z or an offset ±HH:MM.
func parseTimestamp(b []byte) (t instant, ok bool) {
	if len(b) < 10 {
		return t, false
	}
	days, ok := parseDate(b[:10])
	if !ok {
		return t, false
	}
	t.seconds = days * 86400
	if b = b[10:]; len(b) == 0 {
		return t, true
	}
	if b[0] != 'T' && b[0] != ' ' {
		return t, false
	}
	b = b[1:]
	offset := int64(0)
	switch n := len(b); {
	case n > 1 && b[n-1] == 'Z':
		t.zoned, b = true, b[:n-1]
	case n > 6 && (b[n-6] == '+' || b[n-6] == '-'):
		zone := b[n-6:]
		if zone[3] != ':' || !allDigits(zone[1:3]) || !allDigits(zone[4:]) ||
			number(zone[1:3]) > 23 || number(zone[4:]) > 59 {
			return t, false
		}
		offset = int64(number(zone[1:3])*3600 + number(zone[4:])*60)
		if zone[0] == '-' {
			offset = -offset
		}
		t.zoned, b = true, b[:n-6]
	}
	seconds, nanoseconds, digits, ok := parseTime(b)
	t.seconds += seconds - offset
	t.nanoseconds, t.fractionDigits = nanoseconds, digits
	return t, ok
}

// parseTime accepts HH:MM:SS with up to nine digits of fraction.
func parseTime(b []byte) (seconds, nanoseconds int64, fractionDigits int, ok bool) {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' || !allDigits(b[:2]) || !allDigits(b[3:5]) || !allDigits(b[6:8]) {
		return 0, 0, 0, false
	}
	hour, minute, second := number(b[:2]), number(b[3:5]), number(b[6:8])
	if hour > 23 || minute > 59 || second > 59 {
		return 0, 0, 0, false
	}
	seconds = int64(hour*3600 + minute*60 + second)
	if b = b[8:]; len(b) == 0 {
		return seconds, 0, 0, true
	}
	if b[0] != '.' || len(b) > 10 || !allDigits(b[1:]) {
		return 0, 0, 0, false
	}
	fractionDigits = len(b) - 1
	nanoseconds = int64(number(b[1:]))
	for range 9 - fractionDigits {
		nanoseconds *= 10
	}
	return seconds, nanoseconds, fractionDigits, true
}

// units converts to a count of units per second, if nothing is lost.
func (t instant) units(perSecond int64) (int64, bool) {
	return countUnits(t.seconds, t.nanoseconds, perSecond)
}

func countUnits(seconds, nanoseconds, perSecond int64) (int64, bool) {
	nanosecondsPerUnit := 1_000_000_000 / perSecond
	if nanoseconds%nanosecondsPerUnit != 0 {
		return 0, false
	}
	part := nanoseconds / nanosecondsPerUnit
	if seconds < 0 && part > 0 { // toward zero first, so that the range's ends are reached
		seconds, part = seconds+1, part-perSecond
	}
	whole := seconds * perSecond
	if whole/perSecond != seconds || part > 0 && whole > math.MaxInt64-part || part < 0 && whole < math.MinInt64-part {
		return 0, false
	}
	return whole + part, true
}

func parseTimeOfDay(b []byte, unit arrow.TimeUnit) (int64, bool) {
	seconds, nanoseconds, _, ok := parseTime(b)
	v, fits := countUnits(seconds, nanoseconds, unitsPerSecond(unit))
	return v, ok && fits
}

func unitsPerSecond(unit arrow.TimeUnit) int64 {
	switch unit {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1_000
	case arrow.Microsecond:
		return 1_000_000
	}
	return 1_000_000_000
}
