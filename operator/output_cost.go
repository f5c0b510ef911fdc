package operator

import (
	"slices"

	"github.com/spirjoin/spirjoin/primitive"
)

// Units accounts for the list of units of a granule, which is held as long as the granule. Dividing a granule into
// units takes cutBytes in addition.
func (c *Cost) Units(units, cutBytes uint64) {
	c.TakeOf(Probe, units*16)
	c.Hold(cutBytes)
}

// CountUnits accounts for the output counts and offsets of units ([Units.CountFirst]). It returns their size in bytes,
// to be passed to Free once the output is written.
func (c *Cost) CountUnits(units uint64) (sizeBytes uint64, err error) {
	scan, err := primitive.PlanScan(c.Facts.Tuning, units, 64, 64, true)
	for _, bytes := range []uint64{units * 8, units*8 + 8, scan.ScratchBytes} {
		c.Take(bytes)
		sizeBytes += bytes
	}
	return sizeBytes, err
}

// Pairs accounts for the output that a match writes ([Units]): the key, and for each side two payload columns, or the
// first one and row numbers if there are more. The others are gathered by these row numbers. random says that columns
// that stayed in place are accessed in random order.
func (c *Cost) Pairs(random bool) error {
	room, window := c.Facts.Room(), uint64(0)
	put := func(rows uint64, bytes int) {
		window += rows * uint64(bytes)
		c.Take(rows * uint64(bytes))
	}
	far := func(side, bytes int) float64 {
		if !random && !c.sides[side].numbers { // accessed in order, or nearly
			return 0
		}
		return c.far(side, bytes)
	}
	read, write := 0.0, 0
	if c.Want.Keys {
		write = c.Facts.KeyBytes
		put(room, write)
	}
	var written, numbers [2]int // columns; bytes of a row
	for side := range c.sides {
		s := &c.sides[side]
		if c.Windows() > 1 {
			if err := c.MoveAll(side); err != nil {
				return err
			}
		}
		read += float64(c.move.KeyBytes) * c.Walked(side)
		if !s.numbers && len(s.columns) > 0 {
			written[side] = 1
			if len(s.columns) == 2 && s.moved == len(s.groups) {
				written[side] = 2
			}
		}
		for _, bytes := range s.columns[:written[side]] {
			read += c.Walked(side) * float64(bytes)
			write += bytes
			c.Add(Match, GatherFar, far(side, bytes))
			put(room, bytes)
		}
		if len(s.columns) > written[side] {
			write, numbers[side] = write+4, 4
			put(room, 4)
		}
	}
	c.Add(Match, MatchRow, c.Out())
	c.Add(Match, MatchMet, c.Facts.MatchRatio*float64(c.Facts.Rows[Probe]))
	c.Add(Match, Stream, read+c.Out()*float64(write))
	for side, s := range c.sides { // transformed keys, and columns that the match has written
		if s.passed && !c.kept(side) {
			c.freeOf(side, c.of(side, c.move.KeyBytes+sum(s.columns[:written[side]])))
		}
	}
	for side := range c.sides {
		s := &c.sides[side]
		for i, group := range groupsOf(s, written[side]) {
			if !s.numbers && i >= s.moved {
				if err := c.transform(side); err != nil {
					return err
				}
			}
			for _, bytes := range group {
				c.gather(Gather, bytes, far(side, bytes))
				put(c.windowRoom(), bytes)
			}
			if s.passed && !s.numbers && !c.kept(side) {
				c.freeOf(side, c.of(side, sum(group)))
			}
		}
		c.Free(room * uint64(numbers[side]))
	}
	c.Free(window - room*uint64(numbers[Build]+numbers[Probe]))
	return nil
}

// groupsOf returns the columns that are gathered, in the groups in which they move.
func groupsOf(s *costSide, written int) [][]int {
	if s.numbers {
		return [][]int{s.columns}
	}
	if len(s.groups) == 0 {
		return nil
	}
	all, skip := slices.Clone(s.groups), written
	for i := range all {
		n := min(skip, len(all[i]))
		all[i], skip = all[i][n:], skip-n
	}
	return all
}

// PairsByNumber accounts for the output of pairs of row numbers ([Pairs]): keys and payload are gathered from the
// columns of the chunks.
func (c *Cost) PairsByNumber() {
	rows := c.windowRoom()
	began := c.now
	c.Take(rows * 4)
	c.Take(rows * 4)
	if c.Want.Keys {
		c.gather(Gather, c.Facts.KeyBytes, c.far(Probe, c.Facts.KeyBytes))
		c.Take(rows * uint64(c.Facts.KeyBytes))
	}
	for side, s := range c.sides {
		for _, bytes := range s.columns {
			c.gather(Gather, bytes, c.far(side, bytes))
			c.Take(rows * uint64(bytes))
		}
	}
	c.now = began
}

// windowRoom is the number of pairs that a window may have: those for which it has room, because a window gets as many
// without asking for more memory, or those that are expected, if they are more although keys seem to be unique.
func (c *Cost) windowRoom() uint64 {
	return max(c.Facts.Room(), uint64(c.Out()/c.Granules()/c.Windows()))
}

// far is the number of random accesses to a column, for all pairs, that miss the cache.
func (c *Cost) far(side, bytes int) float64 {
	return c.Met[side] * c.Beyond(float64(c.of(side, bytes)))
}

// gather accounts for the gather of a column of all pairs, of which far accesses miss the cache.
func (c *Cost) gather(stage string, bytes int, far float64) {
	c.Add(stage, Launch, c.Granules()*c.Windows())
	c.Add(stage, Stream, c.Out()*float64(4+2*bytes))
	c.Add(stage, GatherNear, c.Out()-far)
	c.Add(stage, GatherFar, far)
}

// Marks accounts for the bitmaps of the sides that need one, after both sides have been loaded and transformed. The
// algorithm itself adds the work of marking.
func (c *Cost) Marks() {
	c.Hold(max(c.loading(Build), c.loading(Probe)))
	for side := range c.sides {
		if c.Want.Marks(side) {
			c.TakeOf(side, (c.Held(side)+7)/8)
		}
	}
}

// loading is the memory that loading a side takes in addition to its chunk, if rows are left out.
func (c *Cost) loading(side int) uint64 {
	f, keyBytes := &c.Facts, 0
	if f.Encoded[side] {
		keyBytes = f.KeyBytes
	}
	if brought := f.Brought(side); f.Loaded && brought > c.Held(side) {
		return BroughtBytes(brought, keyBytes, f.Payload[side])
	}
	return 0
}

// BroughtBytes is the memory to load rows of which some are then left out, in addition to the columns of those that
// stay: one payload column of all rows, keys of all rows, a bitmap, and scratch. keyBytes is 0 if the keys of the other
// rows are never loaded.
func BroughtBytes(rows uint64, keyBytes int, payload []int) uint64 {
	whole := keyBytes
	if len(payload) > 0 {
		whole += slices.Max(payload)
	}
	if whole == 0 {
		return 0
	}
	return rows*uint64(whole) + rows/4
}

// Sides accounts for the output rows of a single side ([Rows]). Rows of the build side are output after the probe side
// is released.
func (c *Cost) Sides() error {
	if err := c.side(Probe); err != nil {
		return err
	}
	c.freeOf(Probe, c.sides[Probe].bytes)
	return c.side(Build)
}

// side accounts for the count of the rows that are wanted of a side, and for the compaction of its columns.
func (c *Cost) side(side int) error {
	s := &c.sides[side]
	if !c.Want.Marks(side) {
		return nil
	}
	c.Add(Gather, Launch, 2*c.times(side))
	c.Add(Gather, Stream, c.rows(side)/8)
	if c.Want.Count {
		return nil
	}
	if err := c.MoveAll(side); err != nil {
		return err
	}
	began, kept := c.now, c.Alone(side)
	widths, gathered := slices.Clone(s.columns), s.numbers && c.move.Numbers == PayloadNumbers
	if c.Want.Keys {
		widths = append(widths, c.Facts.KeyBytes)
	}
	if gathered {
		widths = append(widths, 4)
	}
	window := c.AloneRoom(side)
	for _, bytes := range widths {
		c.Add(Gather, Launch, c.times(side))
		c.Add(Gather, Stream, (c.rows(side)+kept)*float64(bytes))
		c.Take(window * uint64(bytes))
	}
	if gathered {
		for _, bytes := range s.columns {
			far := kept * c.Beyond(float64(c.of(side, bytes)))
			c.Add(Gather, GatherNear, kept-far)
			c.Add(Gather, GatherFar, far)
		}
	}
	c.now = began
	return nil
}
