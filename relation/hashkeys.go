package relation

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
)

// HashKeys makes hashes of keys that follow from the types of both sides alone. Rows with equal keys have equal hashes,
// whatever tables they are in, so that tables can be divided by them before anything is known of their values. Safe for
// concurrent use.
type HashKeys struct {
	plans [2]BuildKeys // by the side that is bound
}

// PlanHashes pairs leftOn[k] with rightOn[k]. Errors are those of [PlanBuild].
func PlanHashes(schemas [2]*arrow.Schema, on [2][]string, nullsEqual ...bool) (*HashKeys, error) {
	p, err := planHashes(schemas, on, nullsEqual)
	if err != nil {
		return nil, fmt.Errorf("plan hashes of keys: %w", err)
	}
	return &HashKeys{[2]BuildKeys{{p, Right}, {p, Left}}}, nil
}

func planHashes(schemas [2]*arrow.Schema, on [2][]string, nullsEqual []bool) (*KeyPlan, error) {
	if err := checkPairs(on); err != nil {
		return nil, err
	}
	p := &KeyPlan{keys: make([]key, len(on[Left])), hashed: true, bits: 64}
	for k := range p.keys {
		var sides [2]keyType
		for side, schema := range schemas {
			name := on[side][k]
			if err := CheckColumn(schema, Side(side), name); err != nil {
				return nil, err
			}
			dtype := schema.Field(schema.FieldIndices(name)[0]).Type
			sides[side] = keyType{name: name, dtype: dtype, trait: traitOf(dtype)}
		}
		var err error
		if p.keys[k], err = pair(sides, k, nullsEqual); err != nil {
			return nil, err
		}
	}
	p.widen(func(int) bool { return true }) // decimals may have values of more than 64 bits
	return p, nil
}

// Hash returns the 64-bit hashes of the keys of a table of a side, and the rows that they belong to, in ascending
// order; nil stands for all rows. Rows without a hash can match nothing: a key is NULL, or has a value that the other
// side's type cannot hold. It runs on all cores.
//
// Errors wrap backend.ErrInvalidInput (a key column of another type), backend.ErrLimit (more than primitive.MaxRows
// rows), backend.ErrCancelled or backend.ErrTimedOut.
func (h *HashKeys) Hash(ctx context.Context, side Side, table arrow.Table) (hashes []uint64, rows []uint32, err error) {
	p, err := h.plans[side].Bind(ctx, table)
	if err != nil {
		return nil, nil, err
	}
	hashes = make([]uint64, p.Rows(side))
	if p.LeavesOut(side) {
		rows = make([]uint32, len(hashes))
	}
	return hashes, rows, p.Encode(ctx, side, backend.AsBytes(hashes), rows)
}

// NullRows returns the rows of a table of a side in which a key is NULL that equals nothing, in ascending order. Errors
// are those of [HashKeys.Hash].
func (h *HashKeys) NullRows(ctx context.Context, side Side, table arrow.Table) (rows []uint32, err error) {
	p, err := h.plans[side].Bind(ctx, table)
	if err != nil || !p.LeavesOut(side) {
		return nil, err
	}
	all := make([]uint32, table.NumRows())
	for row := range all {
		all[row] = uint32(row)
	}
	next := uint32(0)
	for _, row := range append(p.WithoutNulls(side, all), uint32(table.NumRows())) {
		for ; next < row; next++ {
			rows = append(rows, next)
		}
		next = row + 1
	}
	return rows, nil
}
