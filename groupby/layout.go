package groupby

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Layout is a specification with what a schema makes of it.
type Layout struct {
	Spec   Spec
	Schema *arrow.Schema // of the output: the key columns, then the aggregates
	Needed []string      // input columns; empty, not nil, for a count of all rows
	// Computed are the aggregates of Spec as they are computed: a function of a column of type null as its first value.
	Computed []Aggregate

	inputs   []arrow.Field             // of the aggregates; without a type for a count of rows
	types    map[string]arrow.DataType // of the input columns
	distinct []string                  // columns whose different values are counted
}

// NewLayout derives the output columns. Errors: ErrInvalidInput (see [Spec.Check], unknown or ambiguous columns),
// ErrUnsupported (a type that cannot be a key, or that a function has no meaning for).
func NewLayout(schema *arrow.Schema, spec Spec) (*Layout, error) {
	spec.By, spec.Aggregates = slices.Clone(spec.By), slices.Clone(spec.Aggregates) // the caller may change these
	if err := spec.Check(); err != nil {
		return nil, err
	}
	l := &Layout{Spec: spec, Needed: []string{}, types: make(map[string]arrow.DataType)}
	need := func(name string) (field arrow.Field, err error) {
		if err := relation.CheckName(schema, "the table", name); err != nil {
			return field, fmt.Errorf("group by: %w", err)
		}
		if !slices.Contains(l.Needed, name) {
			l.Needed = append(l.Needed, name)
		}
		field = schema.Field(schema.FieldIndices(name)[0])
		l.types[name] = field.Type
		return field, nil
	}
	var fields []arrow.Field
	for _, name := range spec.By {
		field, err := need(name)
		if err == nil {
			err = keys.CheckGroup(field)
		}
		if err != nil {
			return nil, err
		}
		fields = append(fields, arrow.Field{Name: name, Type: field.Type,
			Nullable: field.Nullable || field.Type.ID() == arrow.NULL})
	}
	for _, a := range spec.Aggregates {
		var input arrow.Field
		if a.Column != "" {
			var err error
			if input, err = need(a.Column); err != nil {
				return nil, err
			}
		}
		if a.Column != "" && input.Type.ID() == arrow.NULL && !functions[a.Func].counts {
			a = Aggregate{Func: First, Column: a.Column, Name: a.OutputName()}
		}
		row := &functions[a.Func]
		if row.distinct {
			if err := keys.CheckGroup(input); err != nil {
				return nil, err
			}
			if !slices.Contains(l.distinct, a.Column) {
				l.distinct = append(l.distinct, a.Column)
			}
		}
		out, reason := row.result(input.Type)
		if a.Wide && row.wide {
			if wide, ok := wideType(input.Type); ok {
				out = wide
			}
		}
		if reason != "" {
			return nil, fmt.Errorf("%w: group by: %s of column %q of type %s: %s", backend.ErrUnsupported, a.Func,
				a.Column, input.Type, reason)
		}
		fields = append(fields, arrow.Field{Name: a.OutputName(), Type: out, Nullable: !row.counts})
		l.inputs, l.Computed = append(l.inputs, input), append(l.Computed, a)
	}
	l.Schema = arrow.NewSchema(fields, nil)
	return l, nil
}

// Input is the type of the values of aggregate i; nil for a count of rows.
func (l *Layout) Input(i int) arrow.DataType { return l.inputs[i].Type }

// tableOf has the rows of batches of the needed columns.
func (l *Layout) tableOf(batches []arrow.RecordBatch) arrow.Table {
	var fields []arrow.Field
	for _, name := range l.Needed {
		fields = append(fields, arrow.Field{Name: name, Type: l.types[name], Nullable: true})
	}
	rows := int64(0)
	for _, b := range batches {
		rows += b.NumRows()
	}
	table := array.NewTableFromRecords(arrow.NewSchema(fields, nil), batches)
	defer table.Release()
	columns := make([]arrow.Column, len(fields))
	for i := range columns {
		columns[i] = *table.Column(i)
	}
	return array.NewTable(table.Schema(), columns, rows) // which has rows without columns, too
}

// kind is what the values of a type are to aggregates.
type kind uint8

const (
	other    kind = iota // only counted or returned
	signed               // integers
	unsigned             // integers
	floating
	decimal
	duration // a signed number of units
	instant  // a date or time: it has an order, but no sum
	boolean
)

// kinds are the kinds of values by the class of their type; others are only counted or returned.
var kinds = map[relation.Class]kind{
	relation.ClassInteger: signed, relation.ClassFloat: floating, relation.ClassDecimal: decimal,
	relation.ClassDuration: duration, relation.ClassBool: boolean, relation.ClassDate: instant,
	relation.ClassTimestamp: instant, relation.ClassInstant: instant, relation.ClassTimeOfDay: instant,
}

func kindOf(t arrow.DataType) kind {
	trait := relation.TraitOf(t)
	switch {
	case t.ID() == arrow.DICTIONARY:
		return other
	case trait.Class == relation.ClassInteger && trait.Unsigned:
		return unsigned
	}
	return kinds[trait.Class]
}

// Digits of the decimals that sums have.
const (
	digits128 = 38
	digits256 = 76
)
