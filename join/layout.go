package join

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Layout describes the columns of the output and where they come from.
type Layout struct {
	Spec    Spec           // the specification, with defaults filled in
	Schema  *arrow.Schema  // of the output
	Columns []OutputColumn // one for each field of Schema
	// Needed lists the columns that each side must have for this join, including keys, in the order of its schema. It
	// is empty, not nil, if only the number of rows of a side matters.
	Needed [2][]string
}

// Role says what an output column holds.
type Role uint8

const (
	ValueColumn     Role = iota // column Source of the table of Side; NULL in rows without a row of that side
	KeyColumn                   // two key columns merged into one: Source of the left table and Other of the right one
	IndicatorColumn             // text: "both", "left_only" or "right_only"
	MarkColumn                  // boolean: the row has a partner
)

// OutputColumn is one column of the output.
type OutputColumn struct {
	Role Role
	// Side is the table that the value comes from. A KeyColumn takes it from there if the output row has rows of both
	// sides, otherwise from the side that it has a row of.
	Side   relation.Side
	Source string // name in the table of Side; of a KeyColumn always in the left table
	Other  string // of a KeyColumn: name in the right table
}

// In returns the name of the column in the table of a side that values are taken from; ok is false if there is none.
func (c OutputColumn) In(side relation.Side) (name string, ok bool) {
	switch {
	case c.Role == KeyColumn && side == relation.Right:
		return c.Other, true
	case c.Role == KeyColumn || c.Role == ValueColumn && c.Side == side:
		return c.Source, true
	}
	return "", false
}

// GivenBy reports whether a side that has the column ([OutputColumn.In]) gives values of it. A column that two keys
// share has those of the side that comes first where there are rows of both, and of the other where it is alone.
func (c OutputColumn) GivenBy(side relation.Side, how How) bool {
	return c.Role != KeyColumn || c.Side == side || how.Optional(c.Side)
}

// NewLayout derives the output columns of a join from the schemas of its inputs. It reads no data, so that a caller can
// then read only the columns in Needed.
//
// Errors: backend.ErrInvalidInput for an invalid specification or an unknown or ambiguous column;
// backend.ErrUnsupported if a full join returns keys as one column and they cannot be compared, or no type holds the
// values of both.
func NewLayout(left, right *arrow.Schema, spec Spec) (*Layout, error) {
	spec, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Layout{Spec: spec, Needed: [2][]string{{}, {}}}
	schemas, keys := [2]*arrow.Schema{left, right}, spec.Keys()
	for side, schema := range schemas {
		if schema == nil {
			return nil, &backend.OpError{Op: "join", Err: backend.ErrInvalidInput,
				Detail: fmt.Sprintf("the schema of the %s table is nil", relation.Side(side))}
		}
	}
	for side, names := range keys {
		for _, name := range names {
			if err := relation.CheckColumn(schemas[side], relation.Side(side), name); err != nil {
				return nil, err
			}
		}
	}
	var fields []arrow.Field
	if spec.Output == Rows {
		chosen, err := choose(candidates(schemas, &spec), &spec)
		if err != nil {
			return nil, err
		}
		for _, c := range chosen {
			fields, l.Columns = append(fields, c.field), append(l.Columns, c.OutputColumn)
		}
	}
	l.Schema = arrow.NewSchema(fields, nil)
	for side, schema := range schemas {
		needed := map[string]bool{}
		for _, name := range keys[side] {
			needed[name] = true
		}
		for _, c := range l.Columns {
			if name, ok := c.In(relation.Side(side)); ok {
				needed[name] = true
			}
		}
		for _, field := range schema.Fields() {
			if needed[field.Name] {
				l.Needed[side] = append(l.Needed[side], field.Name)
			}
		}
	}
	return l, nil
}

// candidate is a column that the output may have.
type candidate struct {
	OutputColumn
	field arrow.Field // its name is unique among the candidates, but for those with a fault
	fault error       // why it cannot be asked for
}

// candidates are all columns of the output that a join has unless it is asked for some of them.
func candidates(schemas [2]*arrow.Schema, spec *Spec) (all []candidate) {
	merged := mergedKeys(spec)
	for side, schema := range schemas {
		side := relation.Side(side)
		if !spec.How.Has(side) {
			continue
		}
		for _, field := range schema.Fields() {
			name := field.Name
			c := candidate{OutputColumn{ValueColumn, side, name, ""}, field, relation.CheckColumn(schema, side, name)}
			if right, ok := merged[name]; side == relation.Left && ok {
				c = keyCandidate(spec, field, schemas[relation.Right].Field(schemas[relation.Right].FieldIndices(right)[0]))
			} else if side == relation.Right && slices.Contains(slices.Collect(maps.Values(merged)), name) {
				continue
			} else if spec.How.Optional(side) {
				c.field.Nullable = true
			}
			all = append(all, c)
		}
	}
	if spec.Indicator != "" {
		field := arrow.Field{Name: spec.Indicator, Type: arrow.BinaryTypes.String}
		all = append(all, candidate{OutputColumn{Role: IndicatorColumn}, field, nil})
	}
	if spec.How == Mark {
		field := arrow.Field{Name: spec.MarkName, Type: arrow.FixedWidthTypes.Boolean}
		all = append(all, candidate{OutputColumn{Role: MarkColumn}, field, nil})
	}
	freeNames(all, spec.Suffix)
	return all
}

// mergedKeys are the right key columns, by the left ones that they are one output column with.
func mergedKeys(spec *Spec) map[string]string {
	merged := make(map[string]string)
	if !spec.How.Pairs() || spec.SeparateKeys {
		return merged
	}
	for k, left := range spec.LeftOn {
		if _, ok := merged[left]; !ok {
			merged[left] = spec.RightOn[k]
		}
	}
	return merged
}

// keyCandidate makes one column of a pair of key columns.
func keyCandidate(spec *Spec, left, right arrow.Field) candidate {
	c := candidate{OutputColumn{KeyColumn, relation.Left, left.Name, right.Name}, left, nil}
	switch spec.How {
	case Right:
		c.Side, c.field = relation.Right, right
		c.field.Name = left.Name
	case Full:
		c.field.Nullable = left.Nullable || right.Nullable
		if arrow.TypeEqual(left.Type, right.Type) {
			break
		}
		common, ok := relation.CommonType(left.Type, right.Type)
		if !ok {
			c.fault = keys.Comparable(left, right)
		}
		if !ok && c.fault == nil {
			c.fault = fmt.Errorf("%w: join: no type holds the values of both left key column %q (%s) and right key "+
				"column %q (%s), which a full join returns as one column; cast one of them or set separate_keys",
				backend.ErrUnsupported, left.Name, left.Type, right.Name, right.Type)
		}
		c.field.Type, c.field.Metadata = common, arrow.Metadata{}
	}
	return c
}

// freeNames puts the suffix behind names that others have, until they are free. Left columns keep their names, and so
// do the right ones whose name no left one has; the others are named in their order.
func freeNames(all []candidate, suffix string) {
	left, taken := make(map[string]bool), make(map[string]bool)
	for _, c := range all {
		if _, ok := c.In(relation.Left); ok {
			left[c.field.Name] = true
		}
	}
	keeps := func(c *candidate) bool {
		_, ok := c.In(relation.Left)
		return ok || c.Role == ValueColumn && !left[c.field.Name]
	}
	for i := range all {
		if c := &all[i]; keeps(c) {
			taken[c.field.Name] = true
		}
	}
	for i := range all {
		if c := &all[i]; !keeps(c) {
			for taken[c.field.Name] {
				c.field.Name += suffix
			}
			taken[c.field.Name] = true
		}
	}
}

// choose returns the candidates that were asked for, all of them where no columns are named.
func choose(all []candidate, spec *Spec) (chosen []candidate, err error) {
	if spec.Columns == nil {
		for i := range all {
			if all[i].fault != nil {
				return nil, all[i].fault
			}
		}
		return all, nil
	}
	first, asked := make(map[string]int), make(map[string]bool)
	for i, c := range slices.Backward(all) {
		first[c.field.Name] = i
	}
	for _, name := range spec.Columns {
		i, ok := first[name]
		switch {
		case !ok:
			return nil, unknownColumn(name, all, spec)
		case all[i].fault != nil:
			return nil, all[i].fault
		case asked[name]:
			return nil, fmt.Errorf("%w: join: output column %q is asked for twice", backend.ErrInvalidInput, name)
		}
		asked[name], chosen = true, append(chosen, all[i])
	}
	return chosen, nil
}

func unknownColumn(name string, all []candidate, spec *Spec) error {
	var names []string
	for _, c := range all {
		if c.Role == KeyColumn && c.Other == name {
			return fmt.Errorf("%w: the output has no column %q: the right key is returned as %q",
				backend.ErrInvalidInput, name, c.field.Name)
		}
		names = append(names, c.field.Name)
	}
	hint := "its columns are " + strings.Join(names, ", ")
	if nearest, near := text.Nearest(name, names); near {
		hint = fmt.Sprintf("did you mean %q?", nearest)
	}
	return fmt.Errorf("%w: the output has no column %q; %s", backend.ErrInvalidInput, name, hint)
}
