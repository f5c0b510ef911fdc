package keys

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// selection marks the rows of one side that can match: no key is null, and every key has a code. It counts the rows
// before each block, so that blocks can be written independently of each other.
type selection struct {
	words  []uint64 // bit i: row i is selected; the bits above the last row are zero
	blocks []uint64 // selected rows before each block of BlockRows, and the total at the end
	nulls  int64    // rows that are left out because a key is NULL
}

// selectRows marks the rows of a side, or returns nil if all of them stay. beyond[k] becomes the number of rows that
// column k left out because their value has more than 64 bits.
func selectRows(ctx context.Context, columns []*keyColumn, rows int, beyond []int64) (*selection, error) {
	var picky []int
	for k, column := range columns {
		if column.filters() {
			picky = append(picky, k)
		}
	}
	if len(picky) == 0 {
		return nil, nil
	}
	blocks := (rows + relation.BlockRows - 1) / relation.BlockRows
	s := &selection{words: make([]uint64, (rows+63)/64), blocks: make([]uint64, blocks+1)}
	err := forBlocks(ctx, rows, func(scratch *scratch, from, to int) error {
		for strip := from; strip < to; strip += StripRows {
			n := min(StripRows, to-strip)
			words := s.words[strip/64:][:(n+63)/64]
			fill(words, n)
			for _, k := range picky {
				if !columns[k].nullsEqual {
					columns[k].clearNulls(words, strip, strip+n)
				}
			}
			atomic.AddInt64(&s.nulls, int64(n-countBits(words)))
			for _, k := range picky {
				if lost := columns[k].admit(words, scratch, strip, strip+n); lost > 0 {
					atomic.AddInt64(&beyond[k], int64(lost))
				}
			}
			s.blocks[from/relation.BlockRows+1] += uint64(countBits(words))
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

// before returns the number of selected rows before a row.
func (s *selection) before(row int) uint64 {
	block := row / relation.BlockRows
	n := s.blocks[block] + uint64(countBits(s.words[block*relation.BlockRows/64:row/64]))
	if row%64 != 0 {
		n += uint64(bits.OnesCount64(s.words[row/64] & (1<<(row%64) - 1)))
	}
	return n
}

// strip copies the bits of the rows [from, end), at most StripRows, to scratch. A nil selection selects all rows.
func (s *selection) strip(to *scratch, from, end int) []uint64 {
	words := to.words[:(end-from+63)/64]
	fill(words, end-from)
	if s != nil {
		andBits(words, 0, bitBytes(s.words), from, end-from)
	}
	return words
}

// Selected returns a bitmap of the rows [from, to) that have a code: bit i%32 of word i/32 stands for row from+i. All
// bits are set if no row is left out.
func (p *Plan) Selected(side relation.Side, from, to int) []uint32 {
	words := make([]uint64, (to-from+63)/64)
	fill(words, to-from)
	if selected := p.sides[side].selected; selected != nil && to > from {
		andBits(words, 0, bitBytes(selected.words), from, to-from)
	}
	return backend.Words(backend.AsBytes(words))[:(to-from+31)/32]
}

// Keyless names a set of the rows that are left out.
type Keyless uint8

const (
	KeylessNone   Keyless = iota // none of them
	KeylessValues                // rows without a NULL in a key, which have a value that the other side cannot have
	KeylessAll                   // all of them
)

// KeylessRows returns the number of rows of a side in a set of those that are left out.
func (p *Plan) KeylessRows(side relation.Side, which Keyless) uint64 {
	selected, rows := p.sides[side].selected, uint64(p.sides[side].rows)
	switch {
	case which == KeylessNone || selected == nil:
		return 0
	case which == KeylessValues:
		return rows - p.Rows(side) - uint64(selected.nulls)
	}
	return rows - p.Rows(side)
}

// Keyless lists the rows among [from, to) of a side in a set of those that are left out, in ascending order; nil if
// there are none. Errors wrap backend.ErrInvalidInput (rows that the table does not have), backend.ErrCancelled or
// backend.ErrTimedOut.
func (p *Plan) Keyless(ctx context.Context, side relation.Side, which Keyless, from, to int) ([]uint32, error) {
	if err := p.checkRange(side, from, to); err != nil {
		return nil, err
	}
	if p.KeylessRows(side, which) == 0 {
		return nil, nil
	}
	each := func(do func(block, row int, words []uint64)) error {
		return forBlocks(ctx, to-from, func(s *scratch, first, end int) error {
			for strip := from + first; strip < from+end; strip += StripRows {
				next := min(strip+StripRows, from+end)
				words := p.sides[side].selected.strip(s, strip, next)
				invert(words, next-strip)
				for _, column := range p.sides[side].columns {
					if which == KeylessValues && !column.nullsEqual {
						column.clearNulls(words, strip, next)
					}
				}
				do(first/relation.BlockRows, strip, words)
			}
			return nil
		})
	}
	blocks := (to - from + relation.BlockRows - 1) / relation.BlockRows
	at := make([]int, blocks+1) // number of rows of each block, then the index of its next row in the result
	if err := each(func(block, _ int, words []uint64) { at[block+1] += countBits(words) }); err != nil {
		return nil, err
	}
	for block := range blocks {
		at[block+1] += at[block]
	}
	if at[blocks] == 0 {
		return nil, nil
	}
	rows := make([]uint32, at[blocks])
	err := each(func(block, row int, words []uint64) { at[block] += listBits(rows[at[block]:], uint32(row), words) })
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// WithoutNulls removes, in place, the rows of a side in which a key is NULL that equals nothing.
func (p *Plan) WithoutNulls(side relation.Side, rows []uint32) []uint32 {
	for _, column := range p.sides[side].columns {
		if !column.nullsEqual && column.hasNulls() {
			rows = slices.DeleteFunc(rows, column.isNull)
		}
	}
	return rows
}

// admit clears the bits of the rows [from, to) without a code, or with a code out of bounds; bit 0 of words is row
// from. It returns how many of them have more than 64 bits. If NULL is not a value, the bits of NULL rows must be
// clear.
func (c *keyColumn) admit(words []uint64, s *scratch, from, to int) (beyond int) {
	nulls := s.nulls[:len(words)]
	copy(nulls, words)
	c.clearNulls(words, from, to)
	for w := range nulls {
		nulls[w] &^= words[w]
	}
	for part := range c.segments(from, to) {
		if part.filters() {
			beyond += part.reader.admit(words, s.codes[:], part.at, part.from, part.n)
		}
	}
	switch {
	case c.bounds == nil:
	case !c.bounds.some:
		clear(words)
	default:
		within(words, c.codes(s, from, to), *c.bounds)
	}
	if c.nullsEqual && (c.bounds == nil || c.bounds.null) {
		for w := range words {
			words[w] |= nulls[w]
		}
	}
	return beyond
}

// within clears the bits of codes outside the bounds. In both signed and unsigned domains, a code is within them if its
// distance from the least, as an unsigned number, is at most that of the greatest.
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
