package groupby

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
)

// Func is what is computed of the values of a group.
type Func uint8

const (
	Count         Func = iota // number of values, or of rows
	CountDistinct             // number of different values
	Sum
	Min
	Max
	Avg    // mean, as float64
	First  // value of the first row of the group, which may be NULL
	Var    // sample variance, as float64; NULL of fewer than two values
	Stddev // square root of Var
)

// function is a row of the table of functions: all that the package knows of one. docs/extending.md shows how to add a
// row.
type function struct {
	name     string
	synonyms []string // names that others give the function
	help     string   // what it computes, for people
	// result returns the type of the output for values of a type or, if there is none, the rest of a sentence that says
	// which types have one.
	result     func(arrow.DataType) (result arrow.DataType, reason string)
	wide       bool // has sums with [Aggregate.Wide]
	counts     bool // a number of values: 0 of none, never NULL
	distinct   bool // of groups by the keys and the column (distinct.go), without states
	idempotent bool // see [Func.Idempotent]

	// lower chooses the states that a column needs. States of parts are merged as package reduce says for each.
	lower  func(p *program, f *finisher)
	least  uint64                                                 // groups of fewer values are NULL
	finish func(*finishing, context.Context) (arrow.Array, error) // makes the column of the states
}

// functions has a row for each function. All code that follows asks it.
var functions = [...]function{
	Count: {name: "count", synonyms: []string{"size", "len"}, help: "number of rows or, of a column, of values",
		result: anyNumber, counts: true, lower: (*program).countValues, finish: (*finishing).number},
	CountDistinct: {name: "count_distinct", help: "number of different values",
		synonyms: []string{"nunique", "n_unique", "distinct", "distinct_count"},
		result:   anyNumber, counts: true, distinct: true, finish: (*finishing).number},
	Sum: {name: "sum", synonyms: []string{"total"}, help: "exact for integers and decimals",
		result: sumType, wide: true, lower: (*program).addUp, least: 1, finish: (*finishing).sum},
	Min: {name: "min", synonyms: []string{"minimum"}, help: "least value",
		result: orderedType, idempotent: true, lower: extreme(reduce.Min), least: 1, finish: (*finishing).extreme},
	Max: {name: "max", synonyms: []string{"maximum"}, help: "greatest value",
		result: orderedType, idempotent: true, lower: extreme(reduce.Max), least: 1, finish: (*finishing).extreme},
	Avg: {name: "avg", synonyms: []string{"mean", "average"}, help: "mean",
		result: quotientType, lower: (*program).mean, least: 1, finish: (*finishing).average},
	First: {name: "first", synonyms: []string{"first_value"}, help: "value of the first row",
		result: sameType, lower: (*program).firstRow, finish: (*finishing).fetch},
	Var: {name: "var", synonyms: []string{"variance", "var_samp"}, help: "sample variance",
		result: quotientType, lower: (*program).deviations, least: 2, finish: (*finishing).variance},
	Stddev: {name: "stddev", synonyms: []string{"std", "stdev", "stddev_samp"}, help: "square root of var",
		result: quotientType, lower: (*program).deviations, least: 2, finish: (*finishing).variance},
}

// Funcs returns all functions.
func Funcs() []Func {
	all := make([]Func, len(functions))
	for i := range all {
		all[i] = Func(i)
	}
	return all
}

// Help says in a few words what the function computes.
func (f Func) Help() string { return functions[f].help }

// Idempotent reports whether values may be given several times, and results as values, without a change of the result.
func (f Func) Idempotent() bool { return functions[f].idempotent }

// String returns the name that [ParseFunc] accepts.
func (f Func) String() string {
	if int(f) < len(functions) {
		return functions[f].name
	}
	return fmt.Sprint(uint8(f))
}

// ParseFunc parses the name of a function. Errors: ErrInvalidInput with the nearest name.
func ParseFunc(name string) (Func, error) {
	var names, known []string
	means := make(map[string]string) // names by synonym
	for i := range functions {
		row := &functions[i]
		if row.name == name {
			return Func(i), nil
		}
		names = append(names, row.name)
		known = append(append(known, row.name), row.synonyms...)
		for _, synonym := range row.synonyms {
			means[synonym] = row.name
		}
	}
	hint := "there are "
	if nearest, near := text.Nearest(name, known); near {
		hint = fmt.Sprintf("did you mean %q? There are ", cmp.Or(means[nearest], nearest))
	}
	return 0, fmt.Errorf("%w: there is no aggregate function %q; %s%s", backend.ErrInvalidInput, name, hint,
		strings.Join(names, ", "))
}

// Types of outputs.

func anyNumber(arrow.DataType) (arrow.DataType, string) { return arrow.PrimitiveTypes.Int64, "" }

func sameType(t arrow.DataType) (arrow.DataType, string) { return t, "" }

func orderedType(t arrow.DataType) (arrow.DataType, string) {
	if wide, ok := t.(*arrow.Decimal256Type); ok {
		return nil, fmt.Sprintf("decimals of %d bits are not supported; cast it to decimal128", wide.BitWidth())
	}
	if kindOf(t) != other || isText(t) {
		return t, ""
	}
	return nil, "it may be of numbers, decimals, booleans, dates, times, durations, strings and binary"
}

func sumType(t arrow.DataType) (arrow.DataType, string) {
	switch kindOf(t) {
	case signed:
		return arrow.PrimitiveTypes.Int64, ""
	case unsigned:
		return arrow.PrimitiveTypes.Uint64, ""
	case floating:
		return arrow.PrimitiveTypes.Float64, ""
	case duration:
		return t, ""
	case decimal:
		if t.ID() == arrow.DECIMAL256 {
			return &arrow.Decimal256Type{Precision: digits256, Scale: scaleOf(t)}, ""
		}
		return &arrow.Decimal128Type{Precision: digits128, Scale: scaleOf(t)}, ""
	}
	return nil, "it may be of numbers, decimals and durations; cast it to one of these"
}

func quotientType(t arrow.DataType) (arrow.DataType, string) {
	if isExact(t) || kindOf(t) == floating {
		return arrow.PrimitiveTypes.Float64, ""
	}
	return nil, "it may be of numbers and decimals; cast it to one of these"
}

// States of columns.

func (p *program) countValues(f *finisher) {
	f.value.form = asValidity
	p.countAll(f)
}

func (p *program) addUp(f *finisher) {
	p.countNullable(f)
	f.of = p.sum(f.value)
}

func (p *program) mean(f *finisher) {
	p.countAll(f)
	f.of = p.sum(f.value)
}

func extreme(fn reduce.Func) func(*program, *finisher) {
	return func(p *program, f *finisher) {
		if isText(f.input.Type) {
			f.chosen = p.pick(pick{f.aggregate.Column, fn})
			return
		}
		p.countNullable(f)
		f.of = []int{p.need(request{fn, f.value, -1})}
	}
}

func (p *program) firstRow(f *finisher) {
	p.first()
	f.chosen = p.pick(pick{f.aggregate.Column, reduce.First})
}

func (p *program) deviations(f *finisher) {
	p.countAll(f)
	if !isExact(f.input.Type) {
		f.of = []int{p.need(request{reduce.Moments, f.value, -1})}
		return
	}
	column := f.aggregate.Column
	f.of = p.sum(f.value)
	f.squares = p.sum(value{column, squareOf(relation.ColumnOf(p.table, column), p.later)})
	if relation.WordBits(f.input.Type) > 128 {
		f.squares = append(f.squares, p.sum(value{column, asSquareHigh})...)
	}
}
