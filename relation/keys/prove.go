package keys

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/relation"
)

// ProveBytes is the maximum host memory that [Plan.Prove] takes per row of the side with fewer rows: its code, its
// number, and up to four slots of a table.
const ProveBytes = 8 + 4 + 4*4

// Prove checks whether hashes distinguish all keys that occur. If so, the plan is exact from now on. Its work is
// proportional to rows, whereas that of [Plan.Equal] is proportional to pairs.
//
// The rows of the side with fewer rows are put into a table by their hash, one row per hash. Each other row of either
// side is compared with the row in the table that has its hash. Rows of the larger side whose hash is not in the table
// match nothing, so that it does not matter whether they share a hash. Prove takes [ProveBytes] of host memory per row
// of the smaller side. It must not run at the same time as other calls.
//
// Errors wrap backend.ErrCancelled or backend.ErrTimedOut.
func (p *Plan) Prove(ctx context.Context) (exact bool, err error) {
	if p.Exact() {
		return true, nil
	}
	side := relation.Left
	if p.Rows(relation.Right) < p.Rows(relation.Left) {
		side = relation.Right
	}
	t := standing{plan: p, side: side, codes: make([]uint64, p.Rows(side))}
	if t.slots = make([]uint32, 1<<bits.Len64(max(1, 2*p.Rows(side))-1)); p.LeavesOut(side) {
		t.rows = make([]uint32, p.Rows(side))
	}
	if err := p.encode(ctx, side, bitBytes(t.codes), t.rows); err != nil {
		return false, err
	}
	if err := forBlocks(ctx, len(t.codes), func(s *scratch, from, to int) error {
		c := comparison{standing: &t, s: s, sides: [2]relation.Side{side, side}}
		for i, code := range t.codes[from:to] {
			if other, found := t.place(code, uint32(from+i)); found {
				c.add(t.row(other), t.row(uint32(from+i)))
			}
		}
		c.flush()
		return nil
	}); err != nil {
		return false, err
	}
	probe := &p.sides[1-side]
	err = forBlocks(ctx, probe.rows, func(s *scratch, from, to int) error {
		c := comparison{standing: &t, s: s, sides: [2]relation.Side{side, 1 - side}}
		codes := make([]uint64, StripRows)
		for strip := from; strip < to && !t.differ.Load(); strip += StripRows {
			end := min(strip+StripRows, to)
			packStrip(p, probe, s, strip, end, codes[:end-strip])
			for i, code := range codes[:end-strip] {
				if probe.selected != nil && !hasBit(probe.selected.words, strip+i) {
					continue
				}
				if other, found := t.find(code); found {
					c.add(t.row(other), uint32(strip+i))
				}
			}
		}
		c.flush()
		return nil
	})
	p.proved = err == nil && !t.differ.Load()
	return p.proved, err
}

// standing is a hash table with one row for each hash of a side, filled by all cores: open addressing with linear
// probing, at most half full.
type standing struct {
	plan   *Plan
	side   relation.Side
	codes  []uint64
	rows   []uint32 // row of each code; nil if code i is that of row i
	slots  []uint32 // index of a code, plus 1; 0 if empty
	differ atomic.Bool
}

func (t *standing) row(i uint32) uint32 {
	if t.rows != nil {
		return t.rows[i]
	}
	return i
}

func (t *standing) slot(code uint64) int {
	high, low := bits.Mul64(code, 0x9e3779b97f4a7c15)
	return int((high ^ low) & uint64(len(t.slots)-1))
}

// place adds code i unless the table already has an equal code, whose index it then returns.
func (t *standing) place(code uint64, i uint32) (other uint32, found bool) {
	for at := t.slot(code); ; at = (at + 1) & (len(t.slots) - 1) {
		slot := &t.slots[at]
		if atomic.LoadUint32(slot) == 0 && atomic.CompareAndSwapUint32(slot, 0, i+1) {
			return 0, false
		}
		if other := atomic.LoadUint32(slot) - 1; t.codes[other] == code {
			return other, true
		}
	}
}

// find returns the index of an equal code.
func (t *standing) find(code uint64) (other uint32, found bool) {
	for at := t.slot(code); t.slots[at] != 0; at = (at + 1) & (len(t.slots) - 1) {
		if other := t.slots[at] - 1; t.codes[other] == code {
			return other, true
		}
	}
	return 0, false
}

// comparison collects pairs of rows and compares them FetchRows at a time.
type comparison struct {
	*standing
	s     *scratch
	found foundTexts
	sides [2]relation.Side
	rows  [2][relation.FetchRows]uint32
	n     int
}

func (c *comparison) add(a, b uint32) {
	c.rows[0][c.n], c.rows[1][c.n] = a, b
	if c.n++; c.n == relation.FetchRows {
		c.flush()
	}
}

func (c *comparison) flush() {
	if c.n == 0 || c.differ.Load() {
		c.n = 0
		return
	}
	keep := fullBits(c.n)
	c.plan.compare(c.s, &c.found, c.sides, [2][]uint32{c.rows[0][:c.n], c.rows[1][:c.n]}, keep)
	if countBits(keep) < c.n {
		c.differ.Store(true)
	}
	c.n = 0
}
