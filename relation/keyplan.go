package relation

import (
	"context"
	"fmt"
	"math/bits"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// KeyPlan is how the key columns of two tables become one column of codes on either side.
//
// The values of each pair of key columns are mapped into a domain of 64-bit integers that holds what both types can
// hold, so that codes are equal if and only if values are, and order as values do. The plan knows the range of the
// codes that occur on either side; a column takes as many bits as the width of its range needs, and the columns are put
// side by side, the first in the highest bits:
//
//	keys (int8, date32)   codes        with ranges -3..4 (3 bits) and 9497..9500 (2 bits)
//	(-3, 1996-01-02)      (-3, 9497)   000 00
//	( 4, 1996-01-05)      ( 4, 9500)   111 11
//
// A row is left out when it can match nothing: a key is NULL, or it has a value that the other side's type cannot hold.
//
// A plan refers to the memory of both tables, which must stay alive and unchanged until the last Encode returns. Its
// methods may be called from several goroutines.
type KeyPlan struct {
	keys  []key
	sides [2]keySide
	bits  int
}

type key struct {
	domain domain
	extent extent
	bits   int
}

type keySide struct {
	columns  []*keyColumn
	rows     int
	selected *selection // nil when no row is left out
}

// PlanKeys pairs leftOn[k] with rightOn[k], reconciles their types and measures their values: one pass over each key
// column, on all cores, and one more where rows may have to be left out. Tables without rows are legal.
//
// Errors wrap backend.ErrInvalidInput (no keys, unknown or ambiguous column), backend.ErrUnsupported (a type without
// codes, types that do not compare without loss, values or keys of more than 64 bits), backend.ErrLimit (more than
// primitive.MaxRows rows), backend.ErrCancelled or backend.ErrTimedOut.
func PlanKeys(ctx context.Context, left, right arrow.Table, leftOn, rightOn []string) (*KeyPlan, error) {
	plan, err := planKeys(ctx, [2]arrow.Table{left, right}, [2][]string{leftOn, rightOn})
	if err != nil {
		return nil, fmt.Errorf("plan join keys: %w", err)
	}
	return plan, nil
}

func planKeys(ctx context.Context, tables [2]arrow.Table, on [2][]string) (*KeyPlan, error) {
	if len(on[Left]) == 0 || len(on[Left]) != len(on[Right]) {
		return nil, fmt.Errorf("%w: %d left and %d right key columns; give at least one, and as many for either side",
			backend.ErrInvalidInput, len(on[Left]), len(on[Right]))
	}
	p := &KeyPlan{keys: make([]key, len(on[Left]))}
	for side, table := range tables {
		if err := primitive.CheckRows("take the "+Side(side).String()+" table", uint64(table.NumRows())); err != nil {
			return nil, err
		}
		p.sides[side].rows = int(table.NumRows())
	}
	for k := range p.keys {
		if err := p.bind(k, tables, on[Left][k], on[Right][k]); err != nil {
			return nil, err
		}
	}
	if err := p.measure(ctx); err != nil {
		return nil, err
	}
	return p, p.pack()
}

// bind finds the columns of key k and their common domain.
func (p *KeyPlan) bind(k int, tables [2]arrow.Table, names ...string) error {
	var data [2]*arrow.Chunked
	var traits [2]trait
	for side, table := range tables {
		column, err := findColumn(table, Side(side), names[side])
		if err != nil {
			return err
		}
		data[side] = column
		traits[side] = traitOf(column.DataType())
		if traits[side].class == classNone && column.NullN() == column.Len() {
			traits[side].class = classNull // without a value the type does not matter, as in a file with only a header
		}
		if traits[side].class == classNone {
			return fmt.Errorf(
				"%w: %s key column %q has type %s; keys may be integers, booleans, dates, times, timestamps, "+
					"durations, floats and decimals", backend.ErrUnsupported, Side(side), names[side],
				column.DataType())
		}
	}
	l, r, reason := coerce(traits[Left], traits[Right])
	if reason != "" {
		return fmt.Errorf("%w: left key column %q (%s) and right key column %q (%s): %s", backend.ErrUnsupported,
			names[Left], data[Left].DataType(), names[Right], data[Right].DataType(), reason)
	}
	p.keys[k].domain = l.domain
	for side, c := range []coding{l, r} {
		column, err := newKeyColumn(names[side], data[side], c)
		if err != nil {
			return err
		}
		if column.rows() != p.sides[side].rows {
			return fmt.Errorf("%w: %s key column %q has %d rows, its table %d", backend.ErrInvalidInput, Side(side),
				names[side], column.rows(), p.sides[side].rows)
		}
		p.sides[side].columns = append(p.sides[side].columns, column)
	}
	return nil
}

func findColumn(table arrow.Table, side Side, name string) (*arrow.Chunked, error) {
	if err := CheckColumn(table.Schema(), side, name); err != nil {
		return nil, err
	}
	return table.Column(table.Schema().FieldIndices(name)[0]).Data(), nil
}

// measure selects the rows of both sides and finds the ranges of their codes.
func (p *KeyPlan) measure(ctx context.Context) (err error) {
	domains := make([]domain, len(p.keys))
	for k, key := range p.keys {
		domains[k] = key.domain
	}
	var uncoded [2][]int64
	for i := range p.sides {
		side := &p.sides[i]
		uncoded[i] = make([]int64, len(p.keys))
		if side.selected, err = selectRows(ctx, side.columns, side.rows, uncoded[i]); err != nil {
			return err
		}
		extents, err := measure(ctx, side.columns, domains, side.rows, side.selected)
		if err != nil {
			return err
		}
		for k := range p.keys {
			p.keys[k].extent.include(domains[k], extents[k])
		}
	}
	// A value without a code matches nothing, because the other side's type cannot hold it. That reasoning fails when
	// both types reach beyond 64 bits and both columns do.
	for k := range p.keys {
		l, r := p.sides[Left].columns[k], p.sides[Right].columns[k]
		if uncoded[Left][k] > 0 && uncoded[Right][k] > 0 && l.coding.method == methodScale {
			return fmt.Errorf(
				"%w: left key column %q (%s) and right key column %q (%s) both hold numbers of more than 64 bits "+
					"at their common scale: %d and %d rows", backend.ErrUnsupported, l.name, l.dtype, r.name, r.dtype,
				uncoded[Left][k], uncoded[Right][k])
		}
	}
	return nil
}

// pack gives every column the bits that its range needs.
func (p *KeyPlan) pack() error {
	for k := range p.keys {
		key := &p.keys[k]
		key.bits = bits.Len64(key.extent.max - key.extent.min)
		p.bits += key.bits
	}
	if p.bits > 64 {
		return fmt.Errorf("%w: the key columns together need %d bits, a key may have 64: %s", backend.ErrUnsupported,
			p.bits, strings.ReplaceAll(p.String(), "\n", "; "))
	}
	return nil
}

// KeyBits is the width of the packed codes, from 0 (all rows have the same key) to 64.
func (p *KeyPlan) KeyBits() int { return p.bits }

// KeyBytes is how many bytes a packed code takes in memory: 4 or 8.
func (p *KeyPlan) KeyBytes() int {
	if p.bits <= 32 {
		return 4
	}
	return 8
}

// Rows is how many rows of a side have a code: those that are not left out.
func (p *KeyPlan) Rows(side Side) uint64 {
	if selected := p.sides[side].selected; selected != nil {
		return selected.rows()
	}
	return uint64(p.sides[side].rows)
}

// HasNulls tells whether rows of a side are left out, because a key is NULL or cannot occur on the other side. Row
// numbers and positions among the codes then differ.
func (p *KeyPlan) HasNulls(side Side) bool { return p.sides[side].selected != nil }

// String describes the plan for people, one line per key column:
//
//	o_orderkey int64 = l_orderkey int32: 1..6000000, 23 bits
func (p *KeyPlan) String() string {
	var b strings.Builder
	for k, key := range p.keys {
		l, r := p.sides[Left].columns[k], p.sides[Right].columns[k]
		codes := "no values"
		if key.extent.some {
			codes = key.domain.text(key.extent.min) + ".." + key.domain.text(key.extent.max)
		}
		if k > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s %s = %s %s: %s, %d bits", l.name, l.dtype, r.name, r.dtype, codes, key.bits)
	}
	return b.String()
}
