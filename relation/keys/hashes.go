package keys

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/relation"
)

// Hashes makes hashes of keys that follow from the types of both sides alone. Rows with equal keys have equal hashes,
// whatever tables they are in, so that tables can be divided by them before anything is known of their values. Safe for
// concurrent use.
type Hashes struct {
	plans [2]Build // by the side that is bound
}

// PlanHashes pairs leftOn[k] with rightOn[k]. Errors: as for [PlanBuild].
func PlanHashes(schemas [2]*arrow.Schema, on [2][]string, nullsEqual ...bool) (*Hashes, error) {
	p, err := planHashes(schemas, on, nullsEqual)
	if err != nil {
		return nil, fmt.Errorf("plan hashes of keys: %w", err)
	}
	return &Hashes{[2]Build{{Plan: p, side: relation.Right}, {Plan: p, side: relation.Left}}}, nil
}

func planHashes(schemas [2]*arrow.Schema, on [2][]string, nullsEqual []bool) (*Plan, error) {
	if err := checkPairs(on); err != nil {
		return nil, err
	}
	p := &Plan{keys: make([]key, len(on[relation.Left])), hashed: true, bits: 64}
	for k := range p.keys {
		var sides [2]keyType
		for side, schema := range schemas {
			name := on[side][k]
			if err := relation.CheckColumn(schema, relation.Side(side), name); err != nil {
				return nil, err
			}
			dtype := schema.Field(schema.FieldIndices(name)[0]).Type
			sides[side] = keyType{name: name, dtype: dtype, trait: relation.TraitOf(dtype)}
		}
		var err error
		if p.keys[k], err = pair(sides, k, nullsEqual); err != nil {
			return nil, err
		}
	}
	p.widen(func(int) bool { return true }) // decimals may have values of more than 64 bits
	return p, nil
}

// ValueBytes is the size of the values of the key, 4 or 8, if their low bits are the hashes: there is one key, and it
// is an integer, or is stored as one, of the same type on both sides. 0 otherwise.
func (h *Hashes) ValueBytes() int {
	p := h.plans[relation.Left].Plan
	if len(p.keys) != 1 {
		return 0
	}
	l, r := &p.keys[0].sides[relation.Left], &p.keys[0].sides[relation.Right]
	switch bits := relation.WordBits(l.dtype); {
	case l.coding.method != methodScale || !arrow.TypeEqual(l.dtype, r.dtype):
		return 0
	case bits == 32, bits == 64:
		return bits / 8
	}
	return 0
}

// HashedTable is a table of a side whose keys have hashes. Safe for concurrent use.
type HashedTable struct {
	plan *Plan
	side relation.Side
}

// Bind reads the key columns of a table of a side, which must stay alive. Errors wrap backend.ErrInvalidInput (a key
// column of another type), backend.ErrLimit (more than primitive.MaxRows rows), backend.ErrCancelled or
// backend.ErrTimedOut.
func (h *Hashes) Bind(ctx context.Context, side relation.Side, table arrow.Table) (*HashedTable, error) {
	p, err := h.plans[side].Bind(ctx, table)
	if err != nil {
		return nil, err
	}
	return &HashedTable{p, side}, nil
}

// LeavesOut reports whether rows may have no hash. They can match nothing: a key is NULL, or has a value that the other
// side's type cannot hold.
func (t *HashedTable) LeavesOut() bool { return t.plan.LeavesOut(t.side) }

// Each calls do with strips of 64-bit hashes of keys, which stay in the first-level cache, and the numbers of their
// rows, in ascending order. It runs on all cores; do must be safe for concurrent use and keep neither slice. Errors
// wrap backend.ErrCancelled or backend.ErrTimedOut.
func (t *HashedTable) Each(ctx context.Context, do func(hashes []uint64, rows []uint32)) error {
	side := &t.plan.sides[t.side]
	return forBlocks(ctx, side.rows, func(s *scratch, from, to int) error {
		hashes, rows := make([]uint64, StripRows), make([]uint32, StripRows)
		for ; from < to; from += StripRows {
			n := encode(t.plan, s, side, from, min(from+StripRows, to), hashes, rows, s.packed[:])
			do(hashes[:n], rows[:n])
		}
		return nil
	})
}

// NullRows returns the rows in which a key is NULL that equals nothing, in ascending order.
func (t *HashedTable) NullRows() (rows []uint32) {
	if !t.LeavesOut() {
		return nil
	}
	end := t.plan.sides[t.side].rows
	all := make([]uint32, end)
	for row := range all {
		all[row] = uint32(row)
	}
	next := uint32(0)
	for _, row := range append(t.plan.WithoutNulls(t.side, all), uint32(end)) {
		for ; next < row; next++ {
			rows = append(rows, next)
		}
		next = row + 1
	}
	return rows
}
