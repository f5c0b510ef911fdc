package keys

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// Build is the key plan of a build side that is made once and probed by many tables. The types of both schemas are
// reconciled, but only the ranges of the build side are packed, so that the codes do not depend on the probe tables. A
// probe row with a value outside these ranges matches nothing: its code is marked or, if codes have no bit for that, it
// is left out. If the ranges need more than 64 bits, codes are hashes.
//
// The embedded plan is that of the build side and of a probe table without rows. It loads the build side. Bind returns
// the plan for a probe table, with the same codes. The methods may be called from several goroutines.
type Build struct {
	*Plan
	side relation.Side
	// numbersTexts says that texts of which there are few different ones may be numbered. Then nothing can be bound.
	numbersTexts bool
	room         func(byBytes int64) bool // asked before memory is taken for that, told of less; nil: there is room
}

// PlanBuild pairs buildOn[k] with probeOn[k] and measures the build table, which is the given side of the join. Passes,
// limits and errors are as in [PlanJoin], except that the type of a probe key column must have codes even if the
// column will hold no value. With guess, the range of the keys may be guessed, and [Plan.Check] tells whether it has
// all of them.
func PlanBuild(
	ctx context.Context, build arrow.Table, probe *arrow.Schema, buildOn, probeOn []string, side relation.Side, guess bool,
	nullsEqual ...bool,
) (*Build, error) {
	b := &Build{Plan: &Plan{keys: make([]key, len(buildOn))}, side: side}
	if err := b.plan(ctx, build, probe, buildOn, probeOn, guess, nullsEqual); err != nil {
		return nil, fmt.Errorf("plan build keys: %w", err)
	}
	return b, nil
}

func (b *Build) plan(
	ctx context.Context, build arrow.Table, probe *arrow.Schema, buildOn, probeOn []string, guess bool,
	nullsEqual []bool,
) error {
	var on [2][]string
	on[b.side], on[1-b.side] = buildOn, probeOn
	if err := checkPairs(on); err != nil {
		return err
	}
	data, err := findColumns(build, b.side, buildOn)
	if err != nil {
		return err
	}
	var none []*arrow.Chunked
	for k, name := range probeOn {
		if err := relation.CheckColumn(probe, 1-b.side, name); err != nil {
			return err
		}
		dtype := probe.Field(probe.FieldIndices(name)[0]).Type
		none = append(none, arrow.NewChunked(dtype, nil))
		var sides [2]keyType
		sides[b.side] = typeOfColumn(buildOn[k], data[k])
		sides[1-b.side] = keyType{name: name, dtype: dtype, trait: relation.TraitOf(dtype)}
		if b.keys[k], err = pair(sides, k, nullsEqual); err != nil {
			return err
		}
	}
	if err := b.open(b.side, build.NumRows(), data); err != nil {
		return err
	}
	if err := b.open(1-b.side, 0, none); err != nil {
		return err
	}
	if b.numbersTexts {
		if err := b.numberTexts(ctx, b.side, b.room); err != nil {
			return err
		}
	}
	if b.shorten(func(k int) int { return b.sides[b.side].columns[k].longestText() }) {
		if err := b.open(b.side, build.NumRows(), data); err != nil {
			return err
		}
	}
	beyond, err := b.selectRows(ctx, b.side)
	if err != nil {
		return err
	}
	for b.widen(func(k int) bool { return beyond[k] > 0 }) { // a probe table may have such values too
		if err := b.open(b.side, build.NumRows(), data); err != nil {
			return err
		}
		if beyond, err = b.selectRows(ctx, b.side); err != nil {
			return err
		}
	}
	if b.hash(); b.hashed {
		return nil
	}
	extents, err := b.extents(ctx, b.side, guess)
	if err != nil {
		return err
	}
	if !b.packOpen(1-b.side, extents) {
		b.pack(func(k int) extent { return extents[k] })
		b.hash()
	}
	return nil
}

// Bind plans the join with a probe table of the planned schema, in at most one pass over its key columns, on all cores:
// none if no key is NULL and codes are marked. Errors
// wrap backend.ErrInvalidInput (a key column of another type), backend.ErrLimit (more than primitive.MaxRows rows),
// backend.ErrCancelled or backend.ErrTimedOut.
func (b *Build) Bind(ctx context.Context, probe arrow.Table) (*Plan, error) {
	plan, err := b.bind(ctx, probe, 1-b.side)
	if err != nil {
		return nil, fmt.Errorf("plan probe keys: %w", err)
	}
	return plan, nil
}

func (b *Build) bind(ctx context.Context, probe arrow.Table, side relation.Side) (*Plan, error) {
	var names []string
	for _, key := range b.keys {
		names = append(names, key.sides[side].name)
	}
	data, err := findColumns(probe, side, names)
	if err != nil {
		return nil, err
	}
	for k, key := range b.keys {
		if want := key.sides[side].dtype; !arrow.TypeEqual(want, data[k].DataType()) {
			return nil, fmt.Errorf("%w: %s key column %q has type %s, planned was %s", backend.ErrInvalidInput, side,
				names[k], data[k].DataType(), want)
		}
	}
	p := *b.Plan
	if err := p.open(side, probe.NumRows(), data); err != nil {
		return nil, err
	}
	unmatched := func(k *keyColumn) bool { return k.nullsEqual && k.hasNulls() } // NULL has no code on the build side
	if !p.hashed && (!p.unmeasured[side] || slices.ContainsFunc(p.sides[side].columns, unmatched)) {
		p.bound(side)
	}
	_, err = p.selectRows(ctx, side)
	return &p, err
}

// PlanOpen is [PlanJoin] without the passes over one side, the open one, if its rows with values outside the ranges of
// the other side can have codes that match nothing. With guess, the other side may not be measured either: its range is
// guessed, and [Plan.Check] tells whether it has all keys.
func PlanOpen(ctx context.Context, left, right arrow.Table, leftOn, rightOn []string, open relation.Side, guess bool,
	nullsEqual ...bool) (*Plan, error) {
	return planTables(ctx, [2]arrow.Table{left, right}, [2][]string{leftOn, rightOn}, nullsEqual,
		func(p *Plan, ctx context.Context) error { return p.codeOpen(ctx, open, guess) })
}

// codeOpen is code with an open side.
func (p *Plan) codeOpen(ctx context.Context, open relation.Side, guess bool) error {
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
// with a mark or, if a single key takes all 64 bits, the difference to the least. NULL has no such code, and a mark
// must not widen codes to 8 bytes.
func (p *Plan) packOpen(open relation.Side, extents []extent) bool {
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
