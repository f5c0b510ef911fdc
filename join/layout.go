package join

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// Layout says where the columns of the output come from.
type Layout struct {
	Spec    Spec           // that it was made for, defaults filled in
	Schema  *arrow.Schema  // of the output
	Columns []OutputColumn // one for each field of Schema
	// Needed are the columns that each side must have for this join, keys included, in the order of its schema.
	Needed [2][]string
}

// OutputColumn is one column of the output.
type OutputColumn struct {
	Side   relation.Side
	Source string // its name in the table of that side
}

// NewLayout derives the output of a join from the schemas of its inputs. It reads no data, so that a caller can read just
// the columns that it needs.
func NewLayout(left, right *arrow.Schema, spec Spec) (*Layout, error) {
	spec, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Layout{Spec: spec}
	schemas, keys := [2]*arrow.Schema{left, right}, [2][]string{spec.LeftOn, spec.RightOn}
	for side, names := range keys {
		for _, name := range names {
			if err := relation.CheckColumn(schemas[side], relation.Side(side), name); err != nil {
				return nil, err
			}
		}
	}
	var fields []arrow.Field
	if spec.Output == Rows {
		if fields, err = l.output(schemas, spec); err != nil {
			return nil, err
		}
	}
	l.Schema = arrow.NewSchema(fields, nil)
	for side, schema := range schemas {
		for _, field := range schema.Fields() {
			if slices.Contains(keys[side], field.Name) || slices.Contains(l.Columns, OutputColumn{relation.Side(side), field.Name}) {
				l.Needed[side] = append(l.Needed[side], field.Name)
			}
		}
	}
	return l, nil
}

// output names all columns of the output and then keeps those that were asked for.
func (l *Layout) output(schemas [2]*arrow.Schema, spec Spec) ([]arrow.Field, error) {
	var fields []arrow.Field
	taken := make(map[string]int)
	// A name that does not say which column it means; a fault only where the column is asked for.
	ambiguous := make(map[string]error)
	add := func(side relation.Side, field arrow.Field) error {
		source := field.Name
		fault := relation.CheckColumn(schemas[side], side, source)
		for side == relation.Right { // until the name is free
			if _, clash := taken[field.Name]; !clash {
				break
			}
			field.Name += spec.Suffix
		}
		if fault != nil {
			if spec.Columns == nil {
				return fault
			}
			ambiguous[field.Name] = fault
		}
		taken[field.Name] = len(fields)
		fields = append(fields, field)
		l.Columns = append(l.Columns, OutputColumn{side, source})
		return nil
	}
	for _, field := range schemas[relation.Left].Fields() {
		if err := add(relation.Left, field); err != nil {
			return nil, err
		}
	}
	for _, field := range schemas[relation.Right].Fields() {
		if slices.Contains(spec.RightOn, field.Name) {
			continue
		}
		if err := add(relation.Right, field); err != nil {
			return nil, err
		}
	}
	if spec.Columns == nil {
		return fields, nil
	}
	var chosen []arrow.Field
	var columns []OutputColumn
	for _, name := range spec.Columns {
		i, ok := taken[name]
		if !ok {
			return nil, l.unknownColumn(name, fields, spec)
		}
		if err := ambiguous[name]; err != nil {
			return nil, err
		}
		if slices.Contains(columns, l.Columns[i]) {
			return nil, fmt.Errorf("%w: join: output column %q is asked for twice", backend.ErrInvalidInput, name)
		}
		chosen = append(chosen, fields[i])
		columns = append(columns, l.Columns[i])
	}
	l.Columns = columns
	return chosen, nil
}

func (l *Layout) unknownColumn(name string, fields []arrow.Field, spec Spec) error {
	if i := slices.Index(spec.RightOn, name); i >= 0 {
		return fmt.Errorf("%w: the output has no column %q: the right key is returned as %q", backend.ErrInvalidInput, name, spec.LeftOn[i])
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	hint := "its columns are " + strings.Join(names, ", ")
	if nearest := relation.NearestName(name, names); nearest != "" {
		hint = fmt.Sprintf("did you mean %q?", nearest)
	}
	return fmt.Errorf("%w: the output has no column %q; %s", backend.ErrInvalidInput, name, hint)
}
