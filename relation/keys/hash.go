package keys

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/relation"
)

// Keys that do not fit a 64-bit code exactly have a hash as their code. For a single text column it is the hash of the
// text; otherwise the codes of all columns are combined into one hash. Equal keys have equal codes. The codes of
// unequal keys very likely differ, but may be equal, so pairs of rows with equal codes are only candidates.

// hashStrip writes the hashes of the keys of the rows [from, to) to out, which has that length.
func hashStrip[K uint32 | uint64](p *Plan, side *keySide, s *scratch, from, to int, out []K) {
	clear(out)
	for k := range p.keys {
		for part := range side.columns[k].segments(from, to) {
			codes, into := part.codes(s.codes[:], part.from, part.n), out[part.at:][:part.n]
			if p.keys[k].nullsEqual && part.validity != nil {
				codes = withNulls(s, codes, part, nullHash)
			}
			for i, code := range codes {
				if len(p.keys) > 1 {
					code = kernel.FoldColumn(uint64(into[i]), code)
				}
				into[i] = K(code &^ p.dropped)
			}
		}
	}
}

// nullHash is the code of NULL if it is a value.
const nullHash = 0x94d049bb133111eb

// Exact reports whether rows have equal codes if and only if their keys are equal. Otherwise codes are hashes that are
// not proved ([Plan.Prove]), and [Plan.Equal] decides.
func (p *Plan) Exact() bool { return !p.hashed || p.proved }

// KeepHashBits keeps the low bits of hashes, as many as given, and clears the others, so that keys collide. For tests.
// Exact codes do not change.
func (p *Plan) KeepHashBits(bits int) { p.dropped = ^uint64(0) << bits }

// Equal compares the keys of pairs of rows by value: it clears bit i%64 of word i/64 of keep if the keys of row
// rows[relation.Left][i] and row rows[relation.Right][i] differ. Each row must have a code. It runs on all cores.
//
// Errors wrap backend.ErrInvalidInput (a row that the table does not have), backend.ErrCancelled or
// backend.ErrTimedOut.
func (p *Plan) Equal(ctx context.Context, rows [2][]uint32, keep []uint64) error {
	sides := [2]relation.Side{relation.Left, relation.Right}
	for i, side := range sides {
		most := uint32(0)
		for _, row := range rows[i] {
			most = max(most, row)
		}
		if all := p.sides[side].rows; len(rows[i]) > 0 && int(most) >= all {
			return fmt.Errorf("%w: row %d of a %s table of %d rows", backend.ErrInvalidInput, most, side, all)
		}
	}
	return forBlocks(ctx, len(rows[0]), func(s *scratch, from, to int) error {
		found := new(foundTexts)
		for first := from; first < to; first += relation.FetchRows {
			n := min(relation.FetchRows, to-first)
			p.compare(s, found, sides, [2][]uint32{rows[0][first:][:n], rows[1][first:][:n]}, keep[first/64:])
		}
		return nil
	})
}

type foundTexts [2][relation.FetchRows]string

// compare clears the bits of pairs with different keys. There are at most FetchRows pairs.
func (p *Plan) compare(s *scratch, found *foundTexts, sides [2]relation.Side, rows [2][]uint32, keep []uint64) {
	n := len(rows[0])
	nulls := s.nulls[:(n+63)/64]
	for k := range p.keys {
		l, r := p.sides[sides[0]].columns[k], p.sides[sides[1]].columns[k]
		if clear(nulls); p.keys[k].nullsEqual {
			matchNulls(keep, nulls, l, r, rows[0], rows[1])
		}
		if p.keys[k].isText() {
			l.gatherTexts(found[0][:n], rows[0])
			r.gatherTexts(found[1][:n], rows[1])
			clearDiffering(keep, nulls, found[0][:n], found[1][:n])
		} else {
			l.gatherCodes(s.codes[:n], rows[0])
			r.gatherCodes(s.packed[:n], rows[1])
			clearDiffering(keep, nulls, s.codes[:n], s.packed[:n])
		}
	}
}

// matchNulls sets the bits of nulls for pairs of two NULLs, and clears the bits of keep for pairs of a NULL and a
// value.
func matchNulls(keep, nulls []uint64, l, r *keyColumn, a, b []uint32) {
	if !l.hasNulls() && !r.hasNulls() {
		return
	}
	for i := range a {
		switch left, right := l.isNull(a[i]), r.isNull(b[i]); {
		case left && right:
			setBit(nulls, i)
		case left || right:
			clearBit(keep, i)
		}
	}
}

// clearDiffering clears the bits of pairs with different values, except for pairs of NULLs, which have no values.
func clearDiffering[T comparable](keep, nulls []uint64, a, b []T) {
	for i := range a {
		if a[i] != b[i] && !hasBit(nulls, i) {
			clearBit(keep, i)
		}
	}
}
