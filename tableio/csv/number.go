package csv

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

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

// parseDigits reads 1 to 18 decimal digits, eight at once: the digits of a word become pairs, fours and one number by
// three multiplications.
func parseDigits(b []byte) (v uint64, ok bool) {
	n := len(b)
	if n == 0 || n > 18 || cap(b) < 8 {
		return parseDigitsSlowly(b)
	}
	head := (n-1)%8 + 1
	shift := uint(64 - 8*head)
	word := binary.LittleEndian.Uint64(b[:8])<<shift ^ zeroDigits<<shift
	bad := notDigits(word)
	v = eightDigits(word)
	for at := head; at < n; at += 8 {
		word = binary.LittleEndian.Uint64(b[at:at+8]) ^ zeroDigits
		bad |= notDigits(word)
		v = v*100_000_000 + eightDigits(word)
	}
	return v, bad == 0
}

func parseDigitsSlowly(b []byte) (v uint64, ok bool) {
	if len(b) > 18 || !allDigits(b) {
		return 0, false
	}
	for _, c := range b {
		v = v*10 + uint64(c-'0')
	}
	return v, true
}

const zeroDigits, highDigits = '0' * eachByte, 0xf0 * eachByte

// notDigits is 0 where every byte of the word is 0 to 9.
func notDigits(word uint64) uint64 { return (word + 6*eachByte | word) & highDigits }

func eightDigits(word uint64) uint64 {
	word = word*10 + word>>8
	return (word&0x000000ff000000ff*0x000f424000000064 + word>>16&0x000000ff000000ff*0x0000271000000001) >> 32
}

// parseInt and parseUint read what strconv reads.
func parseInt(b []byte) (int64, bool) {
	if v, ok := parseDigits(b); ok {
		return int64(v), true
	}
	if len(b) > 1 && b[0] == '-' {
		if v, ok := parseDigits(b[1:]); ok {
			return -int64(v), true
		}
	}
	v, err := strconv.ParseInt(string(b), 10, 64)
	return v, err == nil
}

func parseUint(b []byte) (uint64, bool) {
	if v, ok := parseDigits(b); ok {
		return v, true
	}
	v, err := strconv.ParseUint(string(b), 10, 64)
	return v, err == nil
}

// parsePlain splits a number without exponent, of at most 18 digits: it is ±digits / 10^fraction.
func parsePlain(b []byte) (digits uint64, fraction int, negative, ok bool) {
	if len(b) > 0 && b[0] == '-' {
		negative, b = true, b[1:]
	}
	if len(b) > 19 {
		return 0, 0, false, false
	}
	point := len(b) - 1
	for point >= 0 && b[point] != '.' {
		point--
	}
	if point < 0 {
		digits, ok = parseDigits(b)
		return digits, 0, negative, ok
	}
	fraction = len(b) - point - 1
	whole, wholeOK := parseDigits(b[:point])
	part, partOK := parseDigits(b[point+1:])
	if point+fraction > 18 || !wholeOK || !partOK { // no digits on one side are not plain, either
		return 0, 0, false, false
	}
	return whole*uint64(powersOfTen[fraction]) + part, fraction, negative, true
}

var powersOfTen = func() (powers [19]int64) {
	powers[0] = 1
	for i := 1; i < len(powers); i++ {
		powers[i] = 10 * powers[i-1]
	}
	return powers
}()

// parseFloat64 reads what strconv reads. A whole number below 2^53 divided by a power of ten that is exact, too, is
// rounded once, hence correctly.
func parseFloat64(b []byte) (float64, bool) {
	if digits, fraction, negative, ok := parsePlain(b); ok && digits < 1<<53 {
		v := float64(digits) / float64(powersOfTen[fraction])
		if negative {
			v = -v
		}
		return v, true
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil
}

// parseShortDecimal is parseDecimal for up to 18 digits.
func parseShortDecimal(b []byte, scale int) (int64, bool) {
	digits, fraction, negative, ok := parsePlain(b)
	zeros := scale - fraction
	if !ok || zeros < 0 || len(b)+zeros > 18 {
		return 0, false
	}
	v := int64(digits) * powersOfTen[zeros]
	if negative {
		v = -v
	}
	return v, true
}

// parseDecimal gives the unscaled value of a number with at most scale digits of
// fraction, trailing zeros not counted.
func parseDecimal(b []byte, scale int32) (decimal128.Num, bool) {
	if v, ok := parseShortDecimal(b, int(scale)); ok {
		return decimal128.FromI64(v), true
	}
	return parseLongDecimal(b, scale)
}

func parseLongDecimal(b []byte, scale int32) (decimal128.Num, bool) {
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
