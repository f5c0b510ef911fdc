package relation

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
)

// Keys that no code of 64 bits holds exactly have a hash as their code: of a single column of texts the hash of the
// text, otherwise one that the codes of all columns are folded into. Equal keys have equal codes; that those of unequal
// keys differ is only likely, so that rows with the same code are candidates.

// hashStrip writes the hashes of the keys of rows [from, to) to out, whose length is their number.
func hashStrip[K uint32 | uint64](p *KeyPlan, side *keySide, s *scratch, from, to int, out []K) {
	clear(out)
	for k := range p.keys {
		for part := range side.columns[k].segments(from, to) {
			codes, into := part.codes(s.codes[:], part.from, part.n), out[part.at:][:part.n]
			for i, code := range codes {
				if len(p.keys) > 1 {
					code = fold(uint64(into[i])^0x9e3779b97f4a7c15, code^0xd1342543de82ef95)
				}
				into[i] = K(code &^ p.dropped)
			}
		}
	}
}

// fold mixes two words into one: the halves of their product of 128 bits.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// Exact tells whether rows have equal codes if and only if their keys are equal. Otherwise codes are hashes, and
// [KeyPlan.Equal] decides.
func (p *KeyPlan) Exact() bool { return !p.hashed }

// KeepHashBits keeps so many bits of hashes, the low ones, and clears the others, so that keys collide: for tests. Exact
// codes stay as they are.
func (p *KeyPlan) KeepHashBits(bits int) { p.dropped = ^uint64(0) << bits }

// equalRows is how many pairs are compared at a time.
const equalRows = 1 << 8

// Equal compares the keys of pairs of rows by their values: it clears bit i%64 of word i/64 of keep where the keys of
// row rows[Left][i] and row rows[Right][i] differ. Each row must have a code. It runs on all cores.
//
// Errors wrap backend.ErrInvalidInput (a row that the table does not have), backend.ErrCancelled or
// backend.ErrTimedOut.
func (p *KeyPlan) Equal(ctx context.Context, rows [2][]uint32, keep []uint64) error {
	return forBlocks(ctx, len(rows[Left]), func(s *scratch, from, to int) error {
		var found [2][equalRows]string
		for first := from; first < to; first += equalRows {
			n := min(equalRows, to-first)
			pairs, words := [2][]uint32{rows[Left][first:][:n], rows[Right][first:][:n]}, keep[first/64:]
			for side := range pairs {
				for _, row := range pairs[side] {
					if uint64(row) >= uint64(p.sides[side].rows) {
						return fmt.Errorf("%w: row %d of a %s table of %d rows", backend.ErrInvalidInput, row, Side(side), p.sides[side].rows)
					}
				}
			}
			for k := range p.keys {
				columns := [2]*keyColumn{p.sides[Left].columns[k], p.sides[Right].columns[k]}
				if p.keys[k].isText() {
					l, r := found[Left][:n], found[Right][:n]
					columns[Left].texts(l, pairs[Left])
					columns[Right].texts(r, pairs[Right])
					for i := range l {
						if l[i] != r[i] {
							clearBit(words, i)
						}
					}
					continue
				}
				l, r := s.codes[:n], s.packed[:n]
				columns[Left].gatherCodes(l, pairs[Left])
				columns[Right].gatherCodes(r, pairs[Right])
				for i := range l {
					if l[i] != r[i] {
						clearBit(words, i)
					}
				}
			}
		}
		return nil
	})
}
