package text

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// integer are the types that count things.
type integer interface{ ~uint64 | ~int64 | ~int }

// Bytes formats a size in powers of 1024: 512 B, 23.4 GiB.
func Bytes(n uint64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/(1<<10), 0
	for value >= 1023.95 && unit < 4 {
		value /= 1 << 10
		unit++
	}
	return fmt.Sprintf("%.1f %s", value, [...]string{"KiB", "MiB", "GiB", "TiB", "PiB"}[unit])
}

// Limit rounds a size in bytes up to mebibytes, or below one to kibibytes, in the form of command-line flags: 24MiB,
// 113KiB.
func Limit(n uint64) string {
	shift, unit := 20, "MiB"
	if n <= 1023<<10 {
		shift, unit = 10, "KiB"
	}
	whole := n >> shift
	if whole<<shift < n {
		whole++
	}
	return fmt.Sprintf("%d%s", whole, unit)
}

// Count formats a whole number with thousands separators: 2,000.
func Count[T integer](n T) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Plural formats a count with its noun, which takes an s or, after an s, es: 1 row, 2,000 rows, 3 passes.
func Plural[T integer](n T, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "ch"):
		return Count(n) + " " + noun + "es"
	}
	return Count(n) + " " + noun + "s"
}

// Rows formats powers of two from 2^10 on as 2^n, and other numbers in digits.
func Rows(n uint64) string {
	if n >= 1<<10 && n&(n-1) == 0 {
		return fmt.Sprintf("2^%d", bits.TrailingZeros64(n))
	}
	return fmt.Sprint(n)
}

// Duration formats a time with at least three digits, in us, ms or s.
func Duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return threeDigits(float64(d)/1e6) + " ms"
	}
	return threeDigits(float64(d)/1e3) + " us"
}

// Rate formats a number of units per second in powers of 1000, with at least three digits: 3.90 TB/s. The unit may be
// empty.
func Rate(perSecond float64, unit string) string {
	prefix := ""
	for _, p := range []string{"k", "M", "G", "T"} {
		if perSecond < 999.5 {
			break
		}
		perSecond, prefix = perSecond/1000, p
	}
	return threeDigits(perSecond) + " " + prefix + unit + "/s"
}

func threeDigits(v float64) string {
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
