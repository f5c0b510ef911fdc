package keys

import (
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/relation"
)

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
func coerce(left, right relation.Trait) (l, r coding, reason string) {
	pair := func(a, b relation.Class) bool {
		return left.Class == a && right.Class == b || left.Class == b && right.Class == a
	}
	switch {
	case left.Class == relation.ClassNull && right.Class == relation.ClassNull:
		return coding{method: methodNever}, coding{method: methodNever}, ""
	case left.Class == relation.ClassNull:
		_, r, _ = coerce(right, right)
		return coding{domain: r.domain, method: methodNever}, r, ""
	case right.Class == relation.ClassNull:
		l, _, _ = coerce(left, left)
		return l, coding{domain: l.domain, method: methodNever}, ""
	case pair(relation.ClassFloat, relation.ClassFloat):
		d := domainFloat32
		if max(left.Bits, right.Bits) == 64 {
			d = domainFloat64
		}
		return coding{domain: d, method: methodRank}, coding{domain: d, method: methodRank}, ""
	case pair(relation.ClassInteger, relation.ClassFloat):
		d := domainSigned
		if left.Unsigned || right.Unsigned {
			d = domainUnsigned
		}
		l, r = coding{domain: d, factor: 1}, coding{domain: d, method: methodIntegral}
		if left.Class == relation.ClassFloat {
			l, r = r, l
		}
		return l, r, ""
	case pair(relation.ClassInteger, relation.ClassInteger) && left.Unsigned && right.Unsigned:
		return coding{domain: domainUnsigned, factor: 1}, coding{domain: domainUnsigned, factor: 1}, ""
	case left.Class == right.Class && left.ByBytes:
		return coding{method: methodText}, coding{method: methodText}, ""
	case left.Class == right.Class, pair(relation.ClassInteger, relation.ClassDecimal),
		pair(relation.ClassDate, relation.ClassTimestamp):
		unit := left
		if left.Ticks < right.Ticks || left.Ticks == right.Ticks && left.Scale > right.Scale {
			unit = right
		}
		return counting(left, unit), counting(right, unit), ""
	case pair(relation.ClassTimestamp, relation.ClassInstant), pair(relation.ClassDate, relation.ClassInstant):
		return l, r, "one has a time zone and the other has none; cast one of them"
	case pair(relation.ClassDecimal, relation.ClassFloat):
		return l, r, "a decimal fraction such as 0.1 is not exact as a float; cast one of them"
	case pair(relation.ClassBool, relation.ClassInteger):
		return l, r, "a boolean cannot be compared with a number; cast one of them"
	}
	return l, r, "their values mean different things; cast one of them"
}

// counting is the coding of a type in the unit of another type, which is the same or coarser.
func counting(t, unit relation.Trait) coding {
	c := coding{method: methodWhole, factor: ratio(unit, t), digits: t.Scale - unit.Scale}
	if c.factor == 1 {
		c.method = methodScale
	}
	return c
}

// ratio is the number of units of a type in one unit of a coarser type, or 0 above 63 bits.
func ratio(coarse, fine relation.Trait) uint64 {
	factor := coarse.Ticks / fine.Ticks
	for range fine.Scale - coarse.Scale {
		if factor > math.MaxInt64/10 {
			return 0
		}
		factor *= 10
	}
	return factor
}
