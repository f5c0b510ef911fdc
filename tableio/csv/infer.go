package csv

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// kindSet is the set of types that hold every value of a column seen so far.
// Sets of parts of a file are intersected, in any order: inference is as
// parallel as reading. A string holds everything and is not in the set.
type kindSet uint16

const (
	kindBool kindSet = 1 << iota
	kindInt64
	kindUint64
	kindFloat64
	kindDate
	kindTimestampMicro
	kindTimestampNano
	kindTimestampMicroUTC
	kindTimestampNanoUTC
	kindsAll  = 1<<iota - 1
	kindCount = iota - 1
)

// kindTypes lists the types from the narrowest; the first in the set is taken.
var kindTypes = []struct {
	kind kindSet
	typ  arrow.DataType
}{
	{kindBool, arrow.FixedWidthTypes.Boolean},
	{kindInt64, arrow.PrimitiveTypes.Int64},
	{kindUint64, arrow.PrimitiveTypes.Uint64},
	{kindFloat64, arrow.PrimitiveTypes.Float64},
	{kindDate, arrow.FixedWidthTypes.Date32},
	{kindTimestampMicro, &arrow.TimestampType{Unit: arrow.Microsecond}},
	{kindTimestampNano, &arrow.TimestampType{Unit: arrow.Nanosecond}},
	{kindTimestampMicroUTC, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
	{kindTimestampNanoUTC, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}},
}

// columnFacts is what inference knows of one column; the zero value has seen nothing.
type columnFacts struct {
	excluded kindSet
	values   bool // a value that is not null was seen
	given    bool // the type was given, so that no values were looked at

	// For every excluded type the first value that it does not hold. The last of these values made the column text.
	because [kindCount]TextReason
}

// TextReason is the value of a CSV file that made its column text; without it the column would have another type.
type TextReason struct {
	Path   string // of the file, if several were united
	Line   int64  // first line of its record, from 1
	Value  string // at most its first 100 bytes
	Quoted bool   // a quoted value cannot mean null

	file int // place of the file among those that were united
}

// before tells whether the value comes before another one.
func (r TextReason) before(other TextReason) bool {
	return r.file < other.file || r.file == other.file && r.Line < other.Line
}

// add looks at a column of the scanner's tile.
func (c *columnFacts) add(tile *recordScanner, records, column int, nulls *nullTexts) {
	candidates := kindsAll &^ c.excluded
	if candidates == 0 && c.values {
		return
	}
	holds := holdsAll(candidates)
	at, stride := column, tile.columns
	for i := range records {
		span := tile.spans[at]
		at += stride
		if !span.quoted() && nulls.has(tile.text(span)) {
			continue
		}
		c.values = true
		value := tile.value(span)
		if holds(value) {
			continue
		}
		left := kindsOf(value, candidates)
		if left == candidates {
			continue
		}
		c.exclude(candidates&^left, TextReason{Line: tile.lines[i],
			Value: string(value[:min(len(value), 100)]), Quoted: span.quoted()})
		if candidates = left; candidates == 0 {
			return
		}
		holds = holdsAll(candidates)
	}
}

func (c *columnFacts) exclude(kinds kindSet, place TextReason) {
	for kind := range c.because {
		bit := kindSet(1) << kind
		if kinds&bit != 0 && (c.excluded&bit == 0 || place.before(c.because[kind])) {
			c.because[kind] = place
		}
	}
	c.excluded |= kinds
}

// before is what the lines before one are known to say.
func (c *columnFacts) before(line int64) (known columnFacts) {
	for kind, reason := range c.because {
		if bit := kindSet(1) << kind; c.excluded&bit != 0 && reason.Line < line {
			known.exclude(bit, reason)
		}
	}
	known.values = known.excluded != 0
	return known
}

func (c *columnFacts) merge(other columnFacts) {
	for kind, place := range other.because {
		if bit := kindSet(1) << kind; other.excluded&bit != 0 {
			c.exclude(bit, place)
		}
	}
	c.values = c.values || other.values
}

// whyText is the value but for which the column had another type than text, if it is text for a value.
func (c columnFacts) whyText() (reason TextReason, ok bool) {
	if !c.values || c.excluded != kindsAll {
		return TextReason{}, false
	}
	for _, because := range c.because {
		if reason.before(because) {
			reason = because
		}
	}
	return reason, true
}

func (c columnFacts) dataType() arrow.DataType {
	for _, t := range kindTypes {
		if c.values && c.excluded&t.kind == 0 {
			return t.typ
		}
	}
	return arrow.BinaryTypes.String
}

// holdsAll gives a cheap test of values: where it says yes, all of the candidates hold the value without loss. Where it
// says no, kindsOf decides. Most columns are down to these sets after their first values.
func holdsAll(candidates kindSet) func([]byte) bool {
	switch {
	case candidates == kindFloat64:
		return isShortNumber
	case candidates&^(kindInt64|kindUint64|kindFloat64) == 0:
		return isShortUint
	case candidates&^(kindDate|kindTimestampMicro|kindTimestampNano) == 0:
		return isRecentDate
	}
	return func([]byte) bool { return false }
}

// isShortUint accepts whole numbers as they are printed, of up to 15 digits, which every type of number holds.
func isShortUint(b []byte) bool {
	if len(b) == 0 || len(b) > 15 || b[0] == '0' && len(b) > 1 {
		return false
	}
	_, ok := parseDigits(b)
	return ok
}

// isShortNumber accepts numbers of up to 15 digits without exponent and needless zeros before them, which float64
// holds.
func isShortNumber(b []byte) bool {
	digits := bytes.TrimPrefix(b, []byte("-"))
	if len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return false
	}
	_, fraction, _, ok := parsePlain(b)
	return ok && (len(digits) <= 15 || len(digits) == 16 && fraction > 0)
}

// isRecentDate accepts dates that nanoseconds since 1970 reach, too.
func isRecentDate(b []byte) bool {
	_, ok := parseDate(b)
	return ok && b[0] <= '2' && (b[0] == '1' && b[1] >= '7' || b[0] == '2' && b[1] <= '1')
}

// kindsOf returns the candidates that hold the value without loss.
func kindsOf(b []byte, candidates kindSet) kindSet {
	if len(b) == 0 || len(b) > 1000 || b[0] >= utf8.RuneSelf {
		return 0
	}
	kinds := kindSet(0)
	if candidates&kindBool != 0 {
		if _, ok := parseBool(b); ok {
			return kindBool
		}
	}
	if isCanonicalInt(b) {
		kinds = integerKindsOf(b)
	} else if candidates&kindFloat64 != 0 && isLosslessFloat(b) {
		kinds = kindFloat64
	}
	if kinds == 0 && candidates >= kindDate {
		kinds = timeKindsOf(b)
	}
	return kinds & candidates
}

// integerKindsOf needs no parsing for up to 15 characters, which every type of
// number holds.
func integerKindsOf(b []byte) kindSet {
	negative := b[0] == '-'
	if len(b) <= 15 {
		if negative {
			return kindInt64 | kindFloat64
		}
		return kindInt64 | kindUint64 | kindFloat64
	}
	kinds := kindSet(0)
	if _, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		kinds |= kindInt64
	}
	if _, err := strconv.ParseUint(string(b), 10, 64); err == nil {
		kinds |= kindUint64
	}
	if isLosslessFloat(b) {
		kinds |= kindFloat64
	}
	return kinds
}

func timeKindsOf(b []byte) kindSet {
	t, ok := parseTimestamp(b)
	if !ok {
		return 0
	}
	micro, nano := kindTimestampMicro, kindTimestampNano
	if t.zoned {
		micro, nano = kindTimestampMicroUTC, kindTimestampNanoUTC
	}
	kinds := kindSet(0)
	if _, ok := t.units(1_000_000); ok {
		kinds |= micro
	}
	if _, ok := t.units(1_000_000_000); ok {
		kinds |= nano
	}
	if len(b) == len("2006-01-02") {
		kinds |= kindDate
	}
	return kinds
}
