package keys

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// checkPairs returns an error unless there are as many key columns on the left as on the right, and some.
func checkPairs(on [2][]string) error {
	if len(on[relation.Left]) == 0 || len(on[relation.Left]) != len(on[relation.Right]) {
		return fmt.Errorf("%w: %d left and %d right key columns; give at least one, and as many for either side",
			backend.ErrInvalidInput, len(on[relation.Left]), len(on[relation.Right]))
	}
	return nil
}

// findColumns checks the size of a table and returns its columns of the given names.
func findColumns(table arrow.Table, side relation.Side, names []string) ([]*arrow.Chunked, error) {
	if err := primitive.CheckRows("take the "+side.String()+" table", uint64(table.NumRows())); err != nil {
		return nil, err
	}
	columns := make([]*arrow.Chunked, len(names))
	for k, name := range names {
		if err := relation.CheckColumn(table.Schema(), side, name); err != nil {
			return nil, err
		}
		columns[k] = relation.ColumnOf(table, name)
	}
	return columns, nil
}

func typeOfColumn(name string, column *arrow.Chunked) keyType {
	return keyType{name: name, dtype: column.DataType(), trait: relation.TraitOf(column.DataType()),
		empty: column.NullN() == column.Len()}
}

// Comparable returns nil if values of two key columns can be equal by their types, otherwise an error that says why
// not. Columns without any value can be compared nevertheless. Errors: backend.ErrUnsupported.
func Comparable(left, right arrow.Field) error {
	var sides [2]keyType
	for side, field := range [2]arrow.Field{left, right} {
		sides[side] = keyType{name: field.Name, dtype: field.Type, trait: relation.TraitOf(field.Type)}
	}
	_, err := pair(sides, 0, nil)
	return err
}

// whatKeysMayBe ends the errors about other types.
const whatKeysMayBe = "keys may be integers, booleans, dates, times, timestamps, durations, intervals, floats, " +
	"decimals, strings and binary; cast it to one of these"

// pair finds the common domain of the two columns of key k.
func pair(sides [2]keyType, k int, nullsEqual []bool) (key, error) {
	for side := range sides {
		t, other := &sides[side].trait, &sides[1-side].trait
		if sides[side].empty && (t.Class == relation.ClassNone || t.Class.IsText() && t.Class != other.Class) {
			t.Class = relation.ClassNull // without values the type does not matter, as in a file with only a header
		}
	}
	for side, t := range sides {
		if t.trait.Class == relation.ClassNone {
			return key{}, fmt.Errorf(
				"%w: %s key column %q (%s), to be compared with %s key column %q (%s): %s", backend.ErrUnsupported,
				relation.Side(side), t.name, t.dtype, relation.Side(1-side), sides[1-side].name, sides[1-side].dtype,
				whatKeysMayBe)
		}
	}
	l, r := &sides[relation.Left], &sides[relation.Right]
	var reason string
	if l.coding, r.coding, reason = coerce(l.trait, r.trait); reason != "" {
		return key{}, fmt.Errorf("%w: left key column %q (%s) and right key column %q (%s): %s", backend.ErrUnsupported,
			l.name, l.dtype, r.name, r.dtype, reason)
	}
	return key{sides: sides, domain: l.coding.domain, nullsEqual: k < len(nullsEqual) && nullsEqual[k]}, nil
}

// shorten packs the texts of keys that are short on one side or, for a build side, on that side. It reports whether
// there is such a key.
func (p *Plan) shorten(longest func(k int) int) (shortened bool) {
	for k := range p.keys {
		key := &p.keys[k]
		l, r := &key.sides[relation.Left], &key.sides[relation.Right]
		if !key.isText() || !l.trait.Class.IsText() || !r.trait.Class.IsText() {
			continue
		}
		if width := longest(k); width <= shortBytes {
			l.coding = coding{domain: domainUnsigned, method: methodShort, width: width}
			r.coding = l.coding
			key.domain, shortened = domainUnsigned, true
		}
	}
	return shortened
}

// widen turns decimal keys into texts if values of more than 64 bits may match. If only one side has such values, they
// match nothing, because the other side's type cannot hold them. That does not hold for decimals if both types reach
// beyond 64 bits and both columns have such values. It reports whether a key has become one. Rows that one key leaves
// out are not counted for those behind it, so that more keys may be found when rows are selected again.
func (p *Plan) widen(beyond func(k int) bool) (widened bool) {
	for k := range p.keys {
		key := &p.keys[k]
		l, r := &key.sides[relation.Left], &key.sides[relation.Right]
		if !beyond(k) || l.trait.Class != relation.ClassDecimal && r.trait.Class != relation.ClassDecimal {
			continue
		}
		for _, t := range []*keyType{l, r} {
			if t.coding.method != methodNever && t.coding.method != methodText {
				widened = true
				t.coding = coding{method: methodText, raise: max(l.trait.Scale, r.trait.Scale) - t.trait.Scale}
			}
		}
	}
	return widened
}
