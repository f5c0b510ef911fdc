package peers

import (
	"cmp"
	"slices"
)

// cut finds where the first rows of several sorted sequences end, if all their rows are brought into one order: by key,
// and equal keys by sequence. A sequence is the chunk of a rank. Each round looks at up to 64 keys of what is left of
// each sequence, evenly apart, so that what is left shrinks to about a thirtieth.
//
// Example: the first 4 rows of the sequences 1 2 2 5, 2 2 3 and 1 9 are 1 2 2 of the first and 1 of the last; the equal
// keys of the second sequence come later. The cut is at 3, 0 and 1.
type cut struct {
	low, high []uint64 // of each sequence: rows before low are among the first, rows from high on are not
	left      uint64   // how many of those between are
}

// samples is the number of keys of a sequence that a round looks at, at most.
const samples = 64

// newCut begins a search for the first rows of sequences. rows is the number of rows of each sequence; first is at most
// their sum.
func newCut(rows []uint64, first uint64) *cut {
	c := &cut{low: make([]uint64, len(rows)), high: slices.Clone(rows), left: first}
	c.settle()
	return c
}

// found reports whether the cut is at low.
func (c *cut) found() bool { return c.left == 0 }

// settle ends the search where all rows that are left are among the first.
func (c *cut) settle() {
	all := uint64(0)
	for s := range c.low {
		all += c.high[s] - c.low[s]
	}
	if all == c.left {
		copy(c.low, c.high)
		c.left = 0
	}
}

// step is the distance between the keys of a sequence that a round looks at.
func (c *cut) step(sequence int) uint64 {
	return max(1, (c.high[sequence]-c.low[sequence]+samples-1)/samples)
}

// places returns the rows of a sequence whose keys are wanted next: each is the last of as many as a step has.
func (c *cut) places(sequence int) (rows []uint64) {
	if c.found() {
		return nil
	}
	step := c.step(sequence)
	for row := c.low[sequence] + step - 1; row < c.high[sequence]; row += step {
		rows = append(rows, row)
	}
	return rows
}

// narrow takes the keys at the places of each sequence. A row with n rows up to it, itself included, is among the first
// if n is at most what is left. Of each key, the places up to it give a lower bound of n, and the next place of each
// other sequence an upper one.
func (c *cut) narrow(keys [][]uint64) {
	type sample struct {
		key      uint64
		sequence int
	}
	var all []sample
	steps, before := make([]uint64, len(keys)), make([]uint64, len(keys)) // before: places of each sequence
	for s, of := range keys {
		steps[s] = c.step(s)
		for _, key := range of {
			all = append(all, sample{key, s})
		}
	}
	slices.SortFunc(all, func(a, b sample) int {
		if a.key == b.key {
			return cmp.Compare(a.sequence, b.sequence)
		}
		return cmp.Compare(a.key, b.key)
	})
	// The rows of a sequence up to its next place: at most as many are up to a key.
	reach := func(s int) uint64 { return min(c.high[s]-c.low[s], (before[s]+1)*steps[s]-1) }
	least, most, among := uint64(0), uint64(0), 0 // among: samples that are among the first
	for s := range keys {
		most += reach(s)
	}
	high := slices.Clone(c.high)
	for i, at := range all {
		others := most - reach(at.sequence)
		before[at.sequence]++
		most = others + reach(at.sequence)
		if others+before[at.sequence]*steps[at.sequence] <= c.left {
			among = i + 1
		}
		if least += steps[at.sequence]; least > c.left { // neither this row nor a later one
			before[at.sequence]--
			for s := range keys {
				high[s] = min(high[s], c.low[s]+(before[s]+1)*steps[s]-1)
			}
			break
		}
	}
	for _, at := range all[:among] {
		c.low[at.sequence] += steps[at.sequence]
		c.left -= steps[at.sequence]
	}
	c.high = high
	c.settle()
}
