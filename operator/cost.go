package operator

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Cost accounts for the work and memory of an algorithm while it plans. The algorithm goes through the steps of its
// operator. It adds the work of each stage, summed over all granules, and the buffers held at one time, for one granule
// and one window.
//
//	c := NewCost(p, move)
//	c.Transform(Build); c.Transform(Probe) // or c.Stay
//	c.Add(Match, ...)                      // work of the algorithm itself
//	c.Pairs(); c.Sides()                   // work and memory for the output (output_cost.go)
//	c.Close()
type Cost struct {
	*Plan
	move  Moves
	sides [2]costSide

	now, peak, most uint64 // bytes of buffers
}

// Moves says what a transformation (a sort or partition) moves, and how.
type Moves struct {
	Unit     Unit // of a row in one pass: [SortRow] or [PartitionRow]
	KeyBytes int  // bytes of a key that move
	OneByOne bool // one payload column at a time instead of as many as possible
	Numbers  Numbers
	Plan     func(primitive.Layout) (passes int, scratchBytes uint64, err error)
}

// Numbers says whether row numbers move instead of payload columns.
type Numbers uint8

const (
	NoNumbers      Numbers = iota // of no side
	PayloadNumbers                // of the sides that have payload
	PairNumbers                   // of all sides that have rows in the output; their columns stay in place
)

// costSide is one side and the state of its columns.
type costSide struct {
	columns []int   // bytes of the payload columns that the output needs
	groups  [][]int // the columns in groups that move together; row numbers are one group
	numbers bool    // row numbers move, and payload is gathered from its original place
	moved   int     // number of groups transformed so far
	all     bool    // all groups are transformed at once, and stay
	passed  bool    // the transformation had at least one pass; otherwise nothing has moved
	bytes   uint64  // of its buffers: the chunk if it counts, moved columns, marks
}

// NewCost starts the account of a plan with the memory that is held before the join begins. Payload of a side without
// rows in the output does not move.
func NewCost(p *Plan, move Moves) *Cost {
	c := &Cost{Plan: p, move: move}
	c.Stages, c.Met = nil, [2]float64{min(c.Walked(Build), c.Out()*(1-c.Facts.Repeats)),
		min(c.rows(Probe)*c.Facts.MatchRatio, c.Out())}
	c.Take(c.Facts.HeldBytes)
	c.TakeSmall(c.Facts.SmallBytes)
	for side := range c.sides {
		s := &c.sides[side]
		wanted := !c.Want.Count && (c.Want.Pairs || c.Want.Marks(side))
		if wanted {
			s.columns = c.Facts.Payload[side]
		}
		s.groups = groups(s.columns, move.OneByOne)
		s.numbers = move.Numbers == PairNumbers && wanted || move.Numbers == PayloadNumbers && len(s.columns) > 0
		if s.numbers {
			s.groups = [][]int{{4}}
		}
		if c.Facts.Loaded { // keys and columns of the chunk
			c.TakeOf(side, c.of(side, c.Facts.KeyBytes))
			for i, bytes := range c.Facts.Payload[side] {
				if in := c.Facts.InPlace[side]; i >= len(in) || !in[i] {
					c.TakeOf(side, c.of(side, bytes))
				}
			}
		}
	}
	if c.Facts.Ahead && c.Facts.Granules() > 1 {
		c.takeAhead()
	}
	return c
}

// takeAhead accounts for the granule that is loaded, and the window that is delivered, while another one is joined.
func (c *Cost) takeAhead() {
	for _, bytes := range append([]int{c.Facts.KeyBytes}, c.Facts.Payload[Probe]...) {
		c.Take(c.of(Probe, bytes))
	}
	if c.Want.Count {
		return
	}
	if c.Want.Keys {
		c.Take(c.Facts.Room() * uint64(c.Facts.KeyBytes))
	}
	for _, s := range c.sides {
		for _, bytes := range s.columns {
			c.Take(c.Facts.Room() * uint64(bytes))
		}
	}
}

// groups divides payload columns into groups that move together: columns of one width, as many as a pass takes.
func groups(columns []int, oneByOne bool) (groups [][]int) {
	most := kernel.MaxColumns
	if oneByOne {
		most = 1
	}
	filling := map[int]int{} // the group that a width is added to
	for _, bytes := range columns {
		at, ok := filling[bytes]
		if !ok || len(groups[at]) == most {
			at = len(groups)
			filling[bytes], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], bytes)
	}
	return groups
}

// Take accounts for a buffer of this size, which is held until Free.
func (c *Cost) Take(bytes uint64) {
	c.most = max(c.most, bytes)
	c.TakeSmall(bytes)
}

// TakeSmall is Take for several buffers with this total size, none of which is the largest of the plan.
func (c *Cost) TakeSmall(bytes uint64) {
	c.now += bytes
	c.peak = max(c.peak, c.now)
}

// Hold accounts for memory in bytes that is held during one step only.
func (c *Cost) Hold(bytes uint64) { c.peak = max(c.peak, c.now+bytes) }

// Free accounts for the release of a buffer of this size.
func (c *Cost) Free(bytes uint64) { c.now -= bytes }

// TakeOf accounts for a buffer that is held as long as the columns of a side.
func (c *Cost) TakeOf(side int, bytes uint64) {
	c.sides[side].bytes += bytes
	c.Take(bytes)
}

func (c *Cost) freeOf(side int, bytes uint64) {
	c.sides[side].bytes -= bytes
	c.Free(bytes)
}

// FreeKeys accounts for the release of the transformed keys of a side.
func (c *Cost) FreeKeys(side int) {
	if c.sides[side].passed {
		c.freeOf(side, c.of(side, c.move.KeyBytes))
	}
}

// Slack is the memory in bytes that the arena needs in addition to buffers of this total size, for alignment, partly
// used blocks, and small buffers that are not accounted for: an eighth, plus 64 KiB to 1 MiB.
func Slack(bytes uint64) uint64 { return bytes/8 + min(1<<20, 1<<16+bytes/2) }

// Within is the total size in bytes of buffers that take at most this much memory together with their [Slack].
func Within(bytes uint64) uint64 {
	large, small := bytes-min(bytes, 1<<20), bytes-min(bytes, 1<<16)
	return max(large/9*8, small/13*8)
}

// Close stores memory and stages in the plan.
func (c *Cost) Close() {
	slack := Slack(c.peak)
	if c.mixed() { // released columns leave gaps that are too small for wider ones
		slack += c.peak / 8
	}
	c.PeakBytes, c.MostBytes = c.peak+slack, c.most
	c.SortStages()
}

// mixed reports whether payload columns of several widths move one after the other.
func (c *Cost) mixed() bool {
	for _, s := range c.sides {
		if moving := slices.Concat(s.groups...); s.passed && len(moving) > 0 &&
			slices.Min(moving) < slices.Max(moving) {
			return true
		}
	}
	return false
}

// Granules is the number of granules of the probe side.
func (c *Cost) Granules() float64 { return float64(c.Facts.Granules()) }

// Windows is the number of windows that the pairs of a granule fill. If it is more than one, the output of all units is
// counted before any is written.
func (c *Cost) Windows() float64 { return c.Facts.Windows() }

// Out is the number of pairs.
func (c *Cost) Out() float64 { return float64(c.Facts.OutputRows) }

func (c *Cost) rows(side int) float64 { return float64(c.Facts.Rows[side]) }

// Walked is the number of rows of a side that the match processes: each granule walks the whole build side.
func (c *Cost) Walked(side int) float64 {
	if side == Build {
		return c.rows(side) * c.Granules()
	}
	return c.rows(side)
}

// Held is the number of rows of a side that are on the device at a time.
func (c *Cost) Held(side int) uint64 { return c.Facts.Held(side) }

// of is the memory of a column of a side with this many bytes per value.
func (c *Cost) of(side, bytes int) uint64 { return c.Held(side) * uint64(bytes) }

// times is the number of times that a side is transformed.
func (c *Cost) times(side int) float64 {
	if side == Probe {
		return c.Granules()
	}
	return 1
}

// kept reports whether the columns of a side are kept for further granules, further windows, or rows of this side
// alone.
func (c *Cost) kept(side int) bool {
	return side == Build && c.Facts.Kept() || c.Windows() > 1 || c.Want.Marks(side) || c.sides[side].all
}

// Beyond is the share of a column or table of this size that the caches do not hold.
func (c *Cost) Beyond(sizeBytes float64) float64 {
	return max(0, 1-c.Facts.CacheBytes/max(1, sizeBytes))
}

// Stay records that all columns of a side stay in place, so that the match can write any of them.
func (c *Cost) Stay(side int) {
	s := &c.sides[side]
	s.groups, s.numbers, s.moved = [][]int{s.columns}, false, 1
}

// Transform accounts for the passes over the keys of a side with its first payload columns or, if it serves several
// granules, with all of them.
func (c *Cost) Transform(side int) error {
	if err := c.transform(side); err != nil || side == Probe || !c.Facts.Kept() {
		return err
	}
	return c.MoveAll(side)
}

// MoveAll accounts for the passes over all payload columns of a side that have not moved yet. The moved columns are
// kept ([Input.MoveAll]).
func (c *Cost) MoveAll(side int) error {
	c.sides[side].all = true
	for s := &c.sides[side]; s.moved < len(s.groups); {
		if err := c.transform(side); err != nil {
			return err
		}
	}
	return nil
}

// transform accounts for the passes over the keys and the next group of columns. The transformed keys of the first call
// are kept.
func (c *Cost) transform(side int) error {
	s := &c.sides[side]
	var columns []int
	if s.moved < len(s.groups) {
		columns = s.groups[s.moved]
	}
	first := s.moved == 0
	s.moved++
	layout := primitive.Layout{Rows: c.Held(side), KeyBytes: c.move.KeyBytes}
	if len(columns) > 0 {
		layout.Payload, layout.PayloadBytes, layout.Columns = primitive.Given, columns[0], len(columns)
	}
	passes, scratchBytes, err := c.move.Plan(layout)
	if err != nil || passes == 0 {
		return err
	}
	s.passed = true
	rows, width := float64(passes)*c.rows(side), c.move.KeyBytes+sum(columns)
	c.Add(Transform, Launch, float64(2+2*passes)*c.times(side))
	c.Add(Transform, Stream, c.rows(side)*float64(c.Facts.KeyBytes)) // counts
	c.Add(Transform, c.move.Unit, rows)
	c.Add(Transform, PassByte,
		rows*float64(2*width)+c.rows(side)*float64(c.Facts.KeyBytes-c.move.KeyBytes))
	c.Add(Transform, PassColumn, rows*float64(max(0, len(columns)-1)))
	for _, bytes := range columns {
		c.TakeOf(side, c.of(side, bytes))
	}
	keys := c.of(side, c.move.KeyBytes)
	if first {
		c.TakeOf(side, keys)
		keys = 0
	}
	if passes > 1 {
		keys += c.of(side, width)
	}
	c.Hold(keys + scratchBytes)
	return nil
}

func sum(bytes []int) (total int) {
	for _, b := range bytes {
		total += b
	}
	return total
}
