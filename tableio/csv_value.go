package tableio

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// isCanonicalInt accepts -?(0|[1-9][0-9]*) of up to 20 characters, except "-0":
// the spelling that a number has when it is printed.
func isCanonicalInt(b []byte) bool {
	digits := b
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(b) > 20 || digits[0] == '0' && len(b) > 1 {
		return false
	}
	return allDigits(digits)
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// isLosslessFloat accepts NaN, Inf, -Inf (also in lower case) and decimal numbers
// that a float64 holds without loss: printing it with as many significant digits
// as the text has gives the digits of the text back. Up to 15 digits always do.
func isLosslessFloat(b []byte) bool {
	switch string(b) {
	case "NaN", "nan", "Inf", "inf", "-Inf", "-inf":
		return true
	}
	digits, ok := significantDigits(b)
	if !ok || len(digits) == 0 {
		return ok
	}
	if len(digits) <= 15 && len(b) < 300 && !bytes.ContainsAny(b, "eE") {
		return true
	}
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err != nil || v == 0 || len(digits) > 800:
		return false
	case len(digits) <= 15 && math.Abs(v) >= 0x1p-1022:
		return true
	}
	printed, _ := significantDigits(strconv.AppendFloat(nil, v, 'e', len(digits)-1, 64))
	return string(printed) == string(digits)
}

// significantDigits checks the syntax of a number, which has no spaces, plus sign
// or needless leading zeros (so a telephone number is none), and returns its
// digits without point, leading and trailing zeros.
func significantDigits(b []byte) ([]byte, bool) {
	b = bytes.TrimPrefix(b, []byte{'-'})
	digits := make([]byte, 0, 32)
	whole, fraction, i := 0, 0, 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		whole++
		digits = append(digits, b[i])
	}
	if whole > 1 && b[0] == '0' {
		return nil, false
	}
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
			fraction++
			digits = append(digits, b[i])
		}
	}
	if whole+fraction == 0 {
		return nil, false
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !allDigits(b[i:]) {
			return nil, false
		}
		i = len(b)
	}
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	for len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits, i == len(b)
}

// parseBool accepts true and false in lower, upper and title case.
func parseBool(b []byte) (v, ok bool) {
	switch string(b) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// parseDate accepts YYYY-MM-DD and gives days since 1970-01-01.
func parseDate(b []byte) (days int64, ok bool) {
	if len(b) != 10 || b[4] != '-' || b[7] != '-' || !allDigits(b[:4]) || !allDigits(b[5:7]) || !allDigits(b[8:]) {
		return 0, false
	}
	year, month, day := number(b[:4]), number(b[5:7]), number(b[8:])
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	return daysSinceEpoch(year, month, day), true
}

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

func daysSinceEpoch(year, month, day int) int64 {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / 86400
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
		if zone[3] != ':' || !allDigits(zone[1:3]) || !allDigits(zone[4:]) || number(zone[1:3]) > 23 || number(zone[4:]) > 59 {
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

// parseDecimal gives the unscaled value of a number with at most scale digits of
// fraction, trailing zeros not counted.
func parseDecimal(b []byte, scale int32) (decimal128.Num, bool) {
	text, negative := bytes.CutPrefix(b, []byte{'-'})
	whole, fraction, point := bytes.Cut(text, []byte{'.'})
	fraction = bytes.TrimRight(fraction, "0")
	zeros := int(scale) - len(fraction)
	if len(text) == 0 || point && len(text) == 1 || zeros < 0 || len(whole)+int(scale) > 76 {
		return decimal128.Num{}, false
	}
	digits := make([]byte, 0, 80)
	digits = append(append(digits, whole...), fraction...)
	for range zeros {
		digits = append(digits, '0')
	}
	if len(digits) > 0 && !allDigits(digits) {
		return decimal128.Num{}, false
	}
	digits = bytes.TrimLeft(digits, "0")
	if len(digits) <= 18 {
		v := int64(0)
		for _, c := range digits {
			v = v*10 + int64(c-'0')
		}
		if negative {
			v = -v
		}
		return decimal128.FromI64(v), true
	}
	v, ok := new(big.Int).SetString(string(digits), 10)
	if !ok || v.BitLen() > 127 {
		return decimal128.Num{}, false
	}
	if negative {
		v.Neg(v)
	}
	return decimal128.FromBigInt(v), true
}
