package tableio

import (
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// csvKinds is the set of types that hold every value of a column seen so far.
// Sets of parts of a file are intersected, in any order: inference is as
// parallel as reading. A string holds everything and is not in the set.
type csvKinds uint16

const (
	kindBool csvKinds = 1 << iota
	kindInt64
	kindUint64
	kindFloat64
	kindDate
	kindTimestampMicro
	kindTimestampNano
	kindTimestampMicroUTC
	kindTimestampNanoUTC
	kindsAll = 1<<iota - 1
)

// csvKindTypes lists the types from the narrowest; the first in the set is taken.
var csvKindTypes = []struct {
	kind csvKinds
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

// csvColumnFacts is what inference knows of one column; the zero value has seen nothing.
type csvColumnFacts struct {
	excluded csvKinds
	values   bool // a value that is not null was seen
}

func (c *csvColumnFacts) add(value []byte) {
	c.values = true
	if candidates := kindsAll &^ c.excluded; candidates != 0 {
		c.excluded |= candidates &^ kindsOf(value, candidates)
	}
}

func (c *csvColumnFacts) merge(other csvColumnFacts) {
	c.excluded |= other.excluded
	c.values = c.values || other.values
}

func (c csvColumnFacts) dataType() arrow.DataType {
	for _, t := range csvKindTypes {
		if c.values && c.excluded&t.kind == 0 {
			return t.typ
		}
	}
	return arrow.BinaryTypes.String
}

// kindsOf returns those of the candidates that hold the value without loss.
func kindsOf(b []byte, candidates csvKinds) csvKinds {
	if len(b) == 0 || len(b) > 1000 || b[0] >= utf8.RuneSelf {
		return 0
	}
	kinds := csvKinds(0)
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
func integerKindsOf(b []byte) csvKinds {
	negative := b[0] == '-'
	if len(b) <= 15 {
		if negative {
			return kindInt64 | kindFloat64
		}
		return kindInt64 | kindUint64 | kindFloat64
	}
	kinds := csvKinds(0)
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

func timeKindsOf(b []byte) csvKinds {
	t, ok := parseTimestamp(b)
	if !ok {
		return 0
	}
	micro, nano := kindTimestampMicro, kindTimestampNano
	if t.zoned {
		micro, nano = kindTimestampMicroUTC, kindTimestampNanoUTC
	}
	kinds := csvKinds(0)
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
