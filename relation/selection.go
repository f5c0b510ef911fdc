package relation

import (
	"context"
	"sync/atomic"
)

// selection marks the rows of one side that can match at all: no key is null, and every key has a code. Its rows before
// each block are counted, so that blocks can be written out independently of each other.
type selection struct {
	words  []uint64 // bit i: row i stays; the bits above the last row are zero
	before []uint64 // selected rows before each block of blockRows, and the total at the end
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
	s := &selection{words: make([]uint64, (rows+63)/64), before: make([]uint64, blocks+1)}
	err := forBlocks(ctx, rows, func(scratch *scratch, from, to int) error {
		for strip := from; strip < to; strip += stripRows {
			n := min(stripRows, to-strip)
			words := s.words[strip/64:][:(n+63)/64]
			fill(words, n)
			for _, k := range picky {
				if lost := columns[k].admit(words, scratch.codes[:], strip, strip+n); lost > 0 {
					atomic.AddInt64(&uncoded[k], int64(lost))
				}
			}
			s.before[from/blockRows+1] += uint64(countBits(words))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for block := range blocks {
		s.before[block+1] += s.before[block]
	}
	if s.rows() == uint64(rows) {
		return nil, nil
	}
	return s, nil
}

func (s *selection) rows() uint64 { return s.before[len(s.before)-1] }

// strip is the part of the bitmap that belongs to rows [from, to); from is a multiple of 64.
func (s *selection) strip(from, to int) []uint64 { return s.words[from/64 : (to+63)/64] }

// admit clears the bits of the rows [from, to) that are null or have no code; bit 0 of words is row from. It returns how
// many it cleared because they have no code.
func (c *keyColumn) admit(words, scratch []uint64, from, to int) (uncoded int) {
	for part := range c.segments(from, to) {
		if part.validity != nil {
			andBits(words, part.at, part.validity, part.offset+part.from, part.n)
		}
	}
	before := countBits(words)
	for part := range c.segments(from, to) {
		if part.filters() {
			part.reader.admit(words, scratch, part.at, part.from, part.n)
		}
	}
	return before - countBits(words)
}
