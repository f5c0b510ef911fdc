// Package keys turns the key columns of tables into codes of 32 or 64 bits that a device sorts, hashes and compares.
//
// [PlanJoin] looks at the key columns of both sides of a join, reconciles their types without loss, measures the range
// of their values and packs all columns into one code per row. [Plan.Encode] and [Plan.LoadRows] write the codes. Two
// rows match if and only if their codes are equal, and codes order as the values do. If 64 bits are too few, codes are
// hashes ([Plan.Exact]). docs/keys.md has the rules for every type. [PlanBuild] plans a build side that many tables
// probe, [PlanGroups] the keys of groups, and [PlanHashes] hashes by which tables are divided. [Convert] gives a key
// column the common type of both sides.
package keys

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// Plan describes how the key columns of two tables become one column of codes on each side.
//
// The values of each pair of key columns are mapped to a domain of 64-bit integers that holds all values common to both
// types. There, codes are equal if and only if the values are, and order as the values do. The plan knows the range of
// the codes on each side. A column takes as many bits as its range needs, and the columns are packed side by side, the
// first one in the highest bits:
//
//	keys (int8, date32)   codes        with ranges -3..4 (3 bits) and 9497..9500 (2 bits)
//	(-3, 1996-01-02)      (-3, 9497)   000 00
//	( 4, 1996-01-05)      ( 4, 9500)   111 11
//
// If a key is a text with more than 7 bytes on both sides, or if the columns need more than 64 bits, codes are hashes
// ([Plan.Exact]). Equal keys have equal codes, and pairs of rows with equal codes are candidates that
// [Plan.Equal] compares.
//
// A row is left out if it cannot match: a key is NULL, or has a value that the other side's type cannot hold, or a code
// outside the packed range. In keys for which NULL equals NULL, NULL is one more value, after all others.
//
// If only one side was measured, rows of the other side with values outside the packed ranges are not left out, so that
// no pass over them is needed. Their codes have one more bit, which is set, and match nothing:
//
//	key of a side that was not measured    code, with range 1000..1003 (2 bits)
//	1001                                   0 01
//	1007                                   1 11
//
// A plan refers to the memory of both tables, which must stay alive and unchanged until the last call returns. Its
// methods may be called from several goroutines.
type Plan struct {
	keys       []key
	sides      [2]keySide
	bits       int
	hashed     bool
	proved     bool    // no two keys of these tables have the same hash
	guessed    [2]bool // the range of the keys of this side was guessed from a sample
	unmeasured [2]bool // the values of this side were not measured: several may have the same code outside the ranges
	marked     bool    // the highest bit of a code marks a value outside the ranges
	dropped    uint64  // bits of hashes that are cleared
}

type key struct {
	sides      [2]keyType
	domain     domain
	extent     extent // the range of the packed codes
	bits       int
	nullsEqual bool
}

// isText reports whether values are compared as texts, and codes are hashes of them.
func (k *key) isText() bool {
	return k.sides[relation.Left].coding.method == methodText || k.sides[relation.Right].coding.method == methodText
}

// keyType describes a key column of one side by its schema.
type keyType struct {
	name   string
	dtype  arrow.DataType
	trait  relation.Trait
	empty  bool // there are no values
	coding coding
}

type keySide struct {
	columns  []*keyColumn
	rows     int
	selected *selection // nil if no row is left out
}

// PlanJoin pairs leftOn[k] with rightOn[k], reconciles their types and measures their values: one pass over each key
// column, on all cores, and one more if rows may have to be left out. Tables without rows are legal.
//
// The ranges of both sides together are packed. If that needs more than 64 bits, only the ranges common to both sides
// are packed, and the rows outside, which match nothing, are left out: one more pass. If that needs more than 64 bits
// too, or a key has texts, codes are 64-bit hashes. But if all texts of one side have at most 7 bytes, texts are
// packed.
//
// NULL equals NULL, and nothing else, for each key k with nullsEqual[k] given and true.
//
// Errors wrap backend.ErrInvalidInput (no keys, unknown or ambiguous column), backend.ErrUnsupported (a type that
// cannot be a key, types that cannot be compared without loss), backend.ErrLimit (more than primitive.MaxRows rows),
// backend.ErrCancelled or backend.ErrTimedOut.
func PlanJoin(ctx context.Context, left, right arrow.Table, leftOn, rightOn []string, nullsEqual ...bool) (
	*Plan, error) {
	return planTables(ctx, [2]arrow.Table{left, right}, [2][]string{leftOn, rightOn}, nullsEqual, (*Plan).code)
}

func planTables(ctx context.Context, tables [2]arrow.Table, on [2][]string, nullsEqual []bool,
	code func(*Plan, context.Context) error) (p *Plan, err error) {
	if p, err = planJoin(ctx, tables, on, nullsEqual); err == nil {
		err = code(p, ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("plan join keys: %w", err)
	}
	return p, nil
}

// PlanCross plans a join without keys: every row of either side has the same code, of 0 bits. Errors wrap
// backend.ErrLimit (more than primitive.MaxRows rows).
func PlanCross(left, right arrow.Table) (*Plan, error) {
	p := new(Plan)
	for side, table := range []arrow.Table{left, right} {
		if _, err := findColumns(table, relation.Side(side), nil); err != nil {
			return nil, fmt.Errorf("plan cross join: %w", err)
		}
		p.sides[side].rows = int(table.NumRows())
	}
	return p, nil
}

func planJoin(ctx context.Context, tables [2]arrow.Table, on [2][]string, nullsEqual []bool) (*Plan, error) {
	if err := checkPairs(on); err != nil {
		return nil, err
	}
	var data [2][]*arrow.Chunked
	for side, table := range tables {
		var err error
		if data[side], err = findColumns(table, relation.Side(side), on[side]); err != nil {
			return nil, err
		}
	}
	p := &Plan{keys: make([]key, len(on[relation.Left]))}
	for k := range p.keys {
		var err error
		if p.keys[k], err = pair([2]keyType{
			typeOfColumn(on[relation.Left][k], data[relation.Left][k]),
			typeOfColumn(on[relation.Right][k], data[relation.Right][k])},
			k, nullsEqual); err != nil {
			return nil, err
		}
	}
	open := func() error {
		for side, table := range tables {
			if err := p.open(relation.Side(side), table.NumRows(), data[side]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := open(); err != nil {
		return nil, err
	}
	if p.shorten(func(k int) int {
		return min(p.sides[relation.Left].columns[k].longestText(), p.sides[relation.Right].columns[k].longestText())
	}) {
		if err := open(); err != nil {
			return nil, err
		}
	}
	beyond, err := p.selectBoth(ctx)
	if err != nil {
		return nil, err
	}
	for p.widen(func(k int) bool { return beyond[relation.Left][k] > 0 && beyond[relation.Right][k] > 0 }) {
		if err := open(); err != nil {
			return nil, err
		}
		if beyond, err = p.selectBoth(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// code chooses packed codes or hashes, and packs.
func (p *Plan) code(ctx context.Context) error {
	if p.hash(); p.hashed {
		return nil
	}
	var extents [2][]extent
	for side := range p.sides {
		var err error
		if extents[side], err = measure(ctx, p.keys, &p.sides[side]); err != nil {
			return err
		}
	}
	if p.pack(func(k int) extent {
		e := extents[relation.Left][k]
		e.include(p.keys[k].domain, extents[relation.Right][k])
		return e
	}); p.bits <= 64 {
		return nil
	}
	p.pack(func(k int) extent {
		return extents[relation.Left][k].meet(p.keys[k].domain, extents[relation.Right][k])
	})
	if p.hash(); p.hashed {
		return nil
	}
	for side := range p.sides {
		p.bound(relation.Side(side))
		if _, err := p.selectRows(ctx, relation.Side(side)); err != nil {
			return err
		}
	}
	return nil
}

// hash makes codes hashes if packed codes are not possible.
func (p *Plan) hash() {
	p.hashed = p.bits > 64
	for k := range p.keys {
		p.hashed = p.hashed || p.keys[k].isText()
	}
	if p.hashed {
		p.bits = 64
	}
}

// open prepares the columns of a side, one for each key.
func (p *Plan) open(side relation.Side, rows int64, data []*arrow.Chunked) error {
	s := keySide{rows: int(rows)}
	for k, key := range p.keys {
		if columns := p.sides[side].columns; k < len(columns) && columns[k].numbered != nil {
			s.columns = append(s.columns, columns[k])
			continue
		}
		t := key.sides[side]
		column, err := newKeyColumn(t.name, data[k], t.coding, key.nullsEqual)
		if err != nil {
			return err
		}
		if column.rows() != s.rows {
			return fmt.Errorf("%w: %s key column %q has %d rows, its table %d", backend.ErrInvalidInput, side, t.name,
				column.rows(), s.rows)
		}
		s.columns = append(s.columns, column)
	}
	p.sides[side] = s
	return nil
}

// bound makes the next selection leave out the rows of a side whose codes are outside the packed ranges.
func (p *Plan) bound(side relation.Side) {
	for k, column := range p.sides[side].columns {
		column.bounds = &p.keys[k].extent
	}
}

// selectRows leaves out the rows of a side that cannot match. For each key, it returns how many rows were left out
// because their value has more than 64 bits.
func (p *Plan) selectRows(ctx context.Context, side relation.Side) (beyond []int64, err error) {
	s := &p.sides[side]
	beyond = make([]int64, len(p.keys))
	s.selected, err = selectRows(ctx, s.columns, s.rows, beyond)
	return beyond, err
}

// Alone returns the plan in which the keys of one side are compared with themselves, so that each value has a code,
// whatever the other side can hold. It is p itself if that already holds. table is that of the side. Errors are those
// of [PlanJoin].
func (p *Plan) Alone(ctx context.Context, side relation.Side, table arrow.Table) (*Plan, error) {
	if p.KeylessRows(side, KeylessValues) == 0 && !p.unmeasured[side] {
		return p, nil
	}
	var on []string
	var equal []bool
	for _, key := range p.keys {
		on, equal = append(on, key.sides[side].name), append(equal, key.nullsEqual)
	}
	alone, err := PlanJoin(ctx, table, table, on, on, equal...)
	if err == nil {
		alone.dropped = p.dropped
	}
	return alone, err
}

// selectBoth selects the rows of both sides.
func (p *Plan) selectBoth(ctx context.Context) (beyond [2][]int64, err error) {
	for side := range p.sides {
		if beyond[side], err = p.selectRows(ctx, relation.Side(side)); err != nil {
			return beyond, err
		}
	}
	return beyond, nil
}

// pack gives each key the bits that its range needs.
func (p *Plan) pack(rangeOf func(k int) extent) {
	p.bits, p.unmeasured, p.marked = 0, [2]bool{}, false
	for k := range p.keys {
		key := &p.keys[k]
		key.extent = rangeOf(k)
		key.bits = key.extent.bits()
		p.bits += key.bits
	}
}

// KeyBits returns the width of the packed codes in bits, from 0 (all rows have the same key) to 64.
func (p *Plan) KeyBits() int { return p.bits }

// KeyBytes returns the size of a packed code in memory: 4 or 8 bytes.
func (p *Plan) KeyBytes() int {
	if p.bits <= 32 {
		return 4
	}
	return 8
}

// Rows returns the number of rows of a side that have a code: those that are not left out.
func (p *Plan) Rows(side relation.Side) uint64 { return p.RowsIn(side, 0, p.sides[side].rows) }

// RowsIn returns the number of rows among [from, to) of a side that have a code.
func (p *Plan) RowsIn(side relation.Side, from, to int) uint64 {
	if selected := p.sides[side].selected; selected != nil {
		return selected.before(to) - selected.before(from)
	}
	return uint64(to - from)
}

// LeavesOut reports whether rows of a side are left out, because a key is NULL or cannot match. If so, row numbers
// differ from positions among the codes.
func (p *Plan) LeavesOut(side relation.Side) bool { return p.sides[side].selected != nil }

// Nulls returns the number of rows of a side that are left out because a key is NULL.
func (p *Plan) Nulls(side relation.Side) uint64 {
	return p.KeylessRows(side, KeylessAll) - p.KeylessRows(side, KeylessValues)
}

// checkRange returns backend.ErrInvalidInput for rows that a side's table does not have.
func (p *Plan) checkRange(side relation.Side, from, to int) error {
	if rows := p.sides[side].rows; from < 0 || to < from || to > rows {
		return fmt.Errorf("%w: rows [%d, %d) of a %s table of %d rows", backend.ErrInvalidInput, from, to, side, rows)
	}
	return nil
}
