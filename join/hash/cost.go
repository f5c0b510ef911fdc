package hash

import (
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
)

// cost books what a partitioned join takes.
func (a Partitioned) cost(p *operator.Plan, s *shape) error {
	f, want := &p.Facts, &p.Want
	p.LeastGranule = max(1, f.Rows[operator.Build]/4)
	move := operator.Moves{Unit: operator.PartitionRow, KeyBytes: s.movedKeyBytes(f), OneByOne: a.OneByOne}
	if a.Untransformed {
		move.Numbers = operator.PayloadNumbers
	}
	move.Plan = func(layout primitive.Layout) (int, uint64, error) {
		layout.Narrow = s.narrow
		plan, err := primitive.PlanPartition(f.Tuning,
			primitive.Partition{Layout: layout, Bits: s.bits, Mixed: true, Seed: partitionSeed})
		return 2 - plan.Result(), plan.ScratchBytes, err
	}
	c := operator.NewCost(p, move)
	defer c.Close()
	for side, rows := range f.Rows {
		if s.bits == 0 || rows == 0 {
			c.Stay(side)
		} else if err := c.Transform(side); err != nil {
			return err
		}
		if rows > 0 {
			c.TakeOf(side, s.startsBytes())
		}
	}
	c.Marks()
	if f.Rows[operator.Build] > 0 && f.Rows[operator.Probe] > 0 {
		if err := s.cut(c); err != nil {
			return err
		}
		if err := a.peel(c, s); err != nil {
			return err
		}
		if (want.Marks(operator.Build) || want.Marks(operator.Probe)) && !a.marksPairs(p, s) {
			a.lookUp(c, s)
		}
		if want.Pairs {
			if err := a.pairs(c, s); err != nil {
				return err
			}
		}
	}
	return c.Sides()
}

// startsBytes is the size of the list of where the partitions of a side begin.
func (s *shape) startsBytes() uint64 { return (1<<s.bits + 1) * 4 }

// cut books the units of a granule.
func (s *shape) cut(c *operator.Cost) error {
	scan, err := primitive.PlanScan(c.Facts.Tuning, 1<<s.bits, 32, 32, true)
	c.Units(s.mostUnits(&c.Facts), 2*s.startsBytes()+scan.ScratchBytes)
	return err
}

// mostUnits bounds the units of a granule, as far as its rows are spread evenly ([probing.cut]): of each partition the
// pieces of as many build rows as a table holds, times the pieces of the probe rows. The partition of the most frequent
// key has more.
func (s *shape) mostUnits(f *operator.Facts) uint64 {
	partitions := math.Exp2(float64(s.bits))
	units := func(build, probe, partitions float64) float64 {
		return (partitions + build/float64(s.tableRows)) * (1 + probe/float64(s.probeRows)/partitions)
	}
	build, probe := float64(f.Held(operator.Build)), float64(f.Held(operator.Probe))
	hot := min(f.Hottest[operator.Build]*build, float64(s.oversizedBuild()))
	return uint64(min(primitive.MaxRows, units(build, probe, partitions)+units(hot, f.Hottest[operator.Probe]*probe, 1)))
}

// lookUp books a pass over all units, which looks each probe row up. At least one build row goes into a table for every
// probeFactor probe rows, and a partition may need several tables.
func (a Partitioned) lookUp(c *operator.Cost, s *shape) {
	probe := float64(c.Facts.Rows[operator.Probe])
	tables := math.Ceil(float64(c.Facts.Rows[operator.Build]) / math.Exp2(float64(s.bits)) / float64(s.tableRows))
	c.Add(operator.Match, operator.Launch, 4*c.Granules())
	c.Add(operator.Match, operator.MatchBuild, max(c.Walked(operator.Build), probe/probeFactor))
	c.Add(operator.Match, operator.MatchProbe, probe*tables)
}

// peel books the memory in which the rows of oversized partitions are sorted and joined, where one is expected.
func (a Partitioned) peel(c *operator.Cost, s *shape) error {
	f, want := &c.Facts, &c.Want
	rows, keyBytes := s.peeled(f), s.movedKeyBytes(f)
	if rows[operator.Build] == 0 {
		return nil
	}
	for side, least := range s.peelRows(f) { // as many are peeled together, whatever memory is free
		rows[side] = min(least, f.Held(side))
	}
	peelBytes, err := ranges.UnitBytes(f.Tuning, keyBytes, rows)
	if err != nil {
		return err
	}
	if want.Pairs && !want.Count {
		for side := range rows {
			if a.Untransformed {
				continue
			}
			if err := c.MoveAll(side); err != nil {
				return err
			}
		}
		peelBytes += min(f.Room(), rows[operator.Build]*rows[operator.Probe]) * operator.PlacesBytes(f, want)
	}
	c.Hold(peelBytes)
	return nil
}

// pairs books the match. A kernel that writes pairs walks the chain of every probe row, one that counts them does not.
func (a Partitioned) pairs(c *operator.Cost, s *shape) error {
	f, peeled := &c.Facts, s.peeled(&c.Facts)
	keyBytes, sorted := float64(s.movedKeyBytes(f)), 0.0
	for _, n := range peeled {
		rows := float64(n) * c.Granules()
		c.Add(operator.Match, operator.SortRow, rows*keyBytes)
		c.Add(operator.Match, operator.PassByte, rows*keyBytes*2*(keyBytes+4))
	}
	if peeled[operator.Build] > 0 {
		sorted = min(c.Out(), f.Hottest[0]*float64(f.Rows[0])*f.Hottest[1]*float64(f.Rows[1]))
	}
	a.lookUp(c, s)
	if c.Want.Count {
		bytes, err := c.CountUnits(s.mostUnits(f))
		c.Free(bytes)
		if err != nil {
			return err
		}
		c.Add(operator.Match, operator.Stream,
			float64(f.KeyBytes)*(c.Walked(operator.Build)+c.Walked(operator.Probe)))
		return nil
	}
	if a.countsFirst(f) { // units are counted before
		a.lookUp(c, s)
		bytes, err := ranges.CountCost(c, s.mostUnits(f), [2]uint64{uint64(s.tableRows), uint64(s.probeRows)})
		if err != nil {
			return err
		}
		defer func() { c.Free(bytes) }()
	}
	first := f.MatchRatio * float64(f.Rows[operator.Probe]) // pairs that the lookup itself finds
	c.Add(operator.Match, operator.MatchProbe, max(0, c.Out()-sorted-first))
	c.Add(operator.Match, operator.ExpandRow, sorted)
	return c.Pairs(false)
}

// cost books what a table takes.
func (a Unpartitioned) cost(p *operator.Plan) error {
	f, want := &p.Facts, &p.Want
	build, probe := float64(f.Rows[operator.Build]), float64(f.Rows[operator.Probe])
	p.LeastGranule = 1 << 20
	c := operator.NewCost(p, operator.Moves{KeyBytes: f.KeyBytes})
	defer c.Close()
	p.Met = [2]float64{c.Out() * (1 - f.Repeats), 0} // pairs are in the order of the probe side
	c.Stay(operator.Build)
	c.Stay(operator.Probe)
	distinct := !want.Pairs || want.Count
	tableBytes := slots(f.Rows[operator.Build]) * 4
	c.Take(tableBytes)
	if distinct {
		c.Take(f.Rows[operator.Build] * 4) // how often keys repeat
	}
	c.Marks()
	c.Take((f.Rows[operator.Build] + 7) / 8) // which rows have no slot
	access := func(stage string, near operator.Unit, rows, bytes float64) {
		far := c.Beyond(bytes) * rows
		c.Add(stage, near, rows-far)
		c.Add(stage, near+1, far)
	}
	c.Add(operator.Transform, operator.Launch, 3)
	c.Add(operator.Transform, operator.Stream, float64(tableBytes)+build*float64(f.KeyBytes))
	access(operator.Transform, operator.BuildNear, build, float64(tableBytes))
	lookUp := func(rows float64) {
		near := rows * f.Repeats
		c.Add(operator.Match, operator.Launch, 2*c.Granules())
		c.Add(operator.Match, operator.ProbeNear, near)
		access(operator.Match, operator.ProbeNear, rows-near, float64(tableBytes)+build*float64(f.KeyBytes))
	}
	probed := probe * (2 - f.MatchRatio) // without a match it ends at a free slot, behind as many rows again
	if want.Marks(operator.Build) || want.Marks(operator.Probe) {
		lookUp(probed)
	}
	if want.Marks(operator.Build) { // at the end
		lookUp(build)
	}
	if !distinct {
		a.sortLost(c, lost(f))
	}
	piece := pieceRows(f.Rows[operator.Build]) // whether there are rows without a slot a plan cannot know
	lostBytes, err := ranges.UnitBytes(f.Tuning, f.KeyBytes,
		[2]uint64{min(piece, c.Held(operator.Build)), min(piece, c.Held(operator.Probe))})
	if err != nil {
		return err
	}
	c.TakeSmall(lostBytes) // windows of their pairs are beside it
	units := uint64(kernel.Groups(kernel.TableProbe.With(tableTiles(f.Tuning, f.KeyBytes)), max(1, c.Held(operator.Probe))))
	switch {
	case want.Pairs && want.Count:
		lookUp(probed)
		c.Add(operator.Match, operator.Stream, probe*float64(f.KeyBytes))
		bytes, err := c.CountUnits(units)
		if c.Free(bytes); err != nil {
			return err
		}
	case want.Pairs:
		for range int(min(2, c.Windows())) { // tiles are counted before there are several windows
			lookUp(max(probed, c.Out())) // rows of a key are looked at one by one
		}
		bytes := uint64(0)
		if f.CountsFirst() {
			bytes, err = c.CountUnits(units)
		}
		if err == nil {
			err = c.Pairs(true)
		}
		if c.Free(bytes); err != nil {
			return err
		}
	}
	c.Free(lostBytes)
	if f.Rows[operator.Build] > mostSlots/2 {
		p.Reject = &backend.OpError{Op: "plan join", Err: backend.ErrLimit,
			Detail: fmt.Sprintf("hj takes at most %d build rows; use phj-om or smj-um", mostSlots/2)}
	}
	return c.Sides()
}

// sortLost books the work to join lost rows without a slot: each piece of them meets each piece of the probe side, and
// both are sorted by all bytes of the key.
func (a Unpartitioned) sortLost(c *operator.Cost, lost float64) {
	if lost < fewLost {
		return
	}
	f, piece := &c.Facts, float64(pieceRows(c.Facts.Rows[operator.Build]))
	probe, keyBytes := float64(f.Rows[operator.Probe]), float64(f.KeyBytes)
	pieces := [2]float64{math.Ceil(lost / piece), max(c.Granules(), math.Ceil(probe/piece))}
	rows := pieces[operator.Probe]*lost + pieces[operator.Build]*probe
	c.Add(operator.Match, operator.Launch, pieces[operator.Build]*pieces[operator.Probe]*4*keyBytes)
	c.Add(operator.Match, operator.SortRow, rows*keyBytes)
	c.Add(operator.Match, operator.PassByte, rows*keyBytes*2*(keyBytes+4))
}

// fewLost is the number of rows without a slot below which a plan expects none. As tables are filled, rows are lost
// some 30 times less often than the bound says.
const fewLost = 1e-2

// lost bounds the number of rows that find no slot in a table where every row takes one.
//
// A key loses rows where more rows than slots begin in a stretch of at least patience slots. With a load a and keys of m
// rows each, a stretch of w slots has Poisson(a w / m) keys, so that by Chernoff it has x rows with a probability of at
// most exp(-(x ln(x / (a w)) - x + a w) / m). All keys alike: x = w = patience, at as many places as there are keys. A
// hot key of n rows leaves x = w - n for the others; there are at most as many such keys as have room.
func lost(f *operator.Facts) float64 {
	rows := float64(f.Rows[operator.Build])
	if slots(f.Rows[operator.Build]) <= patience {
		return 0 // a row may have any slot
	}
	keyRows := max(1, f.Distinct)
	begin := rows / float64(slots(f.Rows[operator.Build])) * patience // rows that begin in a stretch
	full := func(x float64) float64 {
		if x <= begin {
			return 1
		}
		return math.Exp(-(x*math.Log(x/begin) - x + begin) / keyRows)
	}
	share := full(patience)
	if hot := f.Hottest[operator.Build] * rows; hot > keyRows {
		share += full(patience - hot)
	}
	return rows * min(1, share)
}
