package relation

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
)

// PlanOpen is [PlanKeys] without the passes over one side, the open one, if its rows with values outside the ranges of the
// other side can have codes that match nothing. With guess, the other side may not be measured either: its range is
// guessed, and [KeyPlan.Check] tells whether it has all keys.
func PlanOpen(ctx context.Context, left, right arrow.Table, leftOn, rightOn []string, open Side, guess bool,
	nullsEqual ...bool) (*KeyPlan, error) {
	return planTables(ctx, [2]arrow.Table{left, right}, [2][]string{leftOn, rightOn}, nullsEqual,
		func(p *KeyPlan, ctx context.Context) error { return p.codeOpen(ctx, open, guess) })
}

// codeOpen is code with an open side.
func (p *KeyPlan) codeOpen(ctx context.Context, open Side, guess bool) error {
	if p.hash(); p.hashed {
		return nil
	}
	extents, err := p.extents(ctx, 1-open, guess)
	if err != nil || p.packOpen(open, extents) {
		return err
	}
	p.guessed = [2]bool{}
	return p.code(ctx)
}

// packOpen packs the ranges of one side, if any value of the open side then has a code that matches nothing else: one
// with a mark or, if a single key takes all 64 bits, the difference to the least. NULL has no such code, and a mark must
// not widen codes to 8 bytes.
func (p *KeyPlan) packOpen(open Side, extents []extent) bool {
	for k := range p.keys {
		if extents[k].null || p.keys[k].nullsEqual && p.sides[open].columns[k].hasNulls() {
			return false
		}
	}
	p.pack(func(k int) extent { return extents[k] })
	switch {
	case p.bits < 64 && p.bits != 32:
		p.marked = true
		p.bits++
	case p.bits != 64 || len(p.keys) > 1:
		return false
	}
	p.unmeasured[open] = true
	return true
}
