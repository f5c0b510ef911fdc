package relation

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// selection marks the rows of one side that can match at all: no key is null, and every key has a code. Its rows before
// each block are counted, so that blocks can be written out independently of each other.
type selection struct {
	words  []uint64 // bit i: row i stays; the bits above the last row are zero
	blocks []uint64 // selected rows before each block of blockRows, and the total at the end
}

// selectRows marks the rows of a side, or returns nil when all of them stay. Uncoded[k] becomes the number of rows that
// column k left out because their value has no code.
func selectRows(ctx context.Context, columns []*keyColumn, rows int, uncoded []int64) (*selection, error) {
	var picky []int
	for k, column := range columns {
		if column.filters() {
			picky = append(picky, k)
		}
	}
	if len(picky) == 0 {
		return nil, nil
	}
	blocks := (rows + blockRows - 1) / blockRows
	s := &selection{words: make([]uint64, (rows+63)/64), blocks: make([]uint64, blocks+1)}
	err := forBlocks(ctx, rows, func(scratch *scratch, from, to int) error {
		for strip := from; strip < to; strip += stripRows {
			n := min(stripRows, to-strip)
			words := s.words[strip/64:][:(n+63)/64]
			fill(words, n)
			for _, k := range picky {
				if lost := columns[k].admit(words, scratch, strip, strip+n); lost > 0 {
					atomic.AddInt64(&uncoded[k], int64(lost))
				}
			}
			s.blocks[from/blockRows+1] += uint64(countBits(words))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for block := range blocks {
		s.blocks[block+1] += s.blocks[block]
	}
	if s.blocks[blocks] == uint64(rows) {
		return nil, nil
	}
	return s, nil
}

// before is how many rows are selected of those before a row.
func (s *selection) before(row int) uint64 {
	block := row / blockRows
	n := s.blocks[block] + uint64(countBits(s.words[block*blockRows/64:row/64]))
	if row%64 != 0 {
		n += uint64(bits.OnesCount64(s.words[row/64] & (1<<(row%64) - 1)))
	}
	return n
}

// strip copies the bits of rows [from, to), at most stripRows, to scratch.
func (s *selection) strip(to *scratch, from, end int) []uint64 {
	words := to.words[:(end-from+63)/64]
	fill(words, end-from)
	andBits(words, 0, bitBytes(s.words), from, end-from)
	return words
}

// Selected is a bitmap of the rows of [from, to) that have a code: bit i%32 of word i/32 is row from+i. All are where no
// row is left out.
func (p *KeyPlan) Selected(side Side, from, to int) []uint32 {
	words := make([]uint64, (to-from+63)/64)
	fill(words, to-from)
	if selected := p.sides[side].selected; selected != nil && to > from {
		andBits(words, 0, bitBytes(selected.words), from, to-from)
	}
	return backend.Words(backend.AsBytes(words))[:(to-from+31)/32]
}

// Keyless lists the rows of [from, to) of a side that are left out, ascending; nil where there are none. Errors wrap
// backend.ErrInvalidInput (rows that the table does not have), backend.ErrCancelled or backend.ErrTimedOut.
func (p *KeyPlan) Keyless(ctx context.Context, side Side, from, to int) ([]uint32, error) {
	if err := p.checkRange(side, from, to); err != nil {
		return nil, err
	}
	missing := uint64(to-from) - p.RowsIn(side, from, to)
	if missing == 0 {
		return nil, nil
	}
	selected, rows := p.sides[side].selected, make([]uint32, missing)
	err := forBlocks(ctx, to-from, func(s *scratch, first, end int) error {
		at := uint64(first) - p.RowsIn(side, from, from+first)
		for strip := from + first; strip < from+end; strip += stripRows {
			next := min(strip+stripRows, from+end)
			words := selected.strip(s, strip, next)
			for w := range words {
				words[w] = ^words[w]
			}
			words[len(words)-1] &= ^uint64(0) >> (-(next - strip) & 63)
			at += uint64(listBits(rows[at:], uint32(strip), words))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// admit clears the bits of the rows [from, to) that are null, have no code or one out of bounds; bit 0 of words is row
// from. It returns how many it cleared because they have no code.
func (c *keyColumn) admit(words []uint64, s *scratch, from, to int) (uncoded int) {
	for part := range c.segments(from, to) {
		if part.validity != nil {
			andBits(words, part.at, part.validity, part.offset+part.from, part.n)
		}
	}
	before := countBits(words)
	for part := range c.segments(from, to) {
		if part.filters() {
			part.reader.admit(words, s.codes[:], part.at, part.from, part.n)
		}
	}
	uncoded = before - countBits(words)
	switch {
	case c.bounds == nil:
	case !c.bounds.some:
		clear(words)
	default:
		within(words, c.codes(s, from, to), *c.bounds)
	}
	return uncoded
}

// within clears the bits of codes outside the bounds. Signed or not, a code lies within them when its distance from the
// least, as a number without sign, is no more than that of the greatest.
func within(words, codes []uint64, bounds extent) {
	span := bounds.max - bounds.min
	for w := range words {
		keep := uint64(0)
		for i, code := range codes[w*64 : min(len(codes), w*64+64)] {
			_, outside := bits.Sub64(span, code-bounds.min, 0)
			keep |= (outside ^ 1) << i
		}
		words[w] &= keep
	}
}
