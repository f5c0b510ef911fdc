package sortmerge

import (
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
)

// cost books what a join takes. That a side is in order is known of a sample only, so that there is memory to sort it.
func (a Algorithm) cost(p *operator.Plan) error {
	if err := a.book(p); err != nil || p.Facts.Sorted == [2]bool{} {
		return err
	}
	unsorted := *p
	unsorted.Facts.Sorted = [2]bool{}
	err := a.book(&unsorted)
	p.PeakBytes, p.MostBytes = max(p.PeakBytes, unsorted.PeakBytes), max(p.MostBytes, unsorted.MostBytes)
	return err
}

// book books the work and the memory of a join of sides that are sorted as the facts say.
func (a Algorithm) book(p *operator.Plan) error {
	c, err := a.sortCost(p)
	if err != nil {
		return err
	}
	defer c.Close()
	switch f := &p.Facts; {
	case f.Rows[operator.Build] == 0 || f.Rows[operator.Probe] == 0:
	case a.untransformed || p.Want.Count || !p.Want.Pairs:
		err = searchCost(c)
	default:
		err = a.mergeCost(c)
	}
	if err != nil {
		return err
	}
	return c.Sides()
}

// sortCost books the sort of both sides. The pass that finds the bits which vary finds sides in order too: these stay.
func (a Algorithm) sortCost(p *operator.Plan) (*operator.Cost, error) {
	f := &p.Facts
	p.LeastGranule = max(1, f.Rows[operator.Build]/4)
	keyBits := f.KeyBits
	if keyBits == 0 {
		keyBits = 8 * f.KeyBytes
	}
	move := operator.Moves{Unit: operator.SortRow, KeyBytes: f.KeyBytes, OneByOne: a.oneByOne || a.mergeSort}
	if a.untransformed {
		move.Numbers = operator.PairNumbers
	}
	move.Plan = func(layout primitive.Layout) (int, uint64, error) {
		if a.mergeSort {
			plan, err := primitive.PlanMergeSort(f.Tuning, layout)
			return plan.Passes(), plan.ScratchBytes, err
		}
		plan, err := primitive.PlanSort(f.Tuning, primitive.Sort{Layout: layout, EndBit: keyBits})
		return plan.Passes(), plan.MostScratchBytes, err
	}
	c := operator.NewCost(p, move)
	for side, rows := range f.Rows {
		if rows == 0 {
			c.Stay(side)
			continue
		}
		c.Add(operator.Transform, operator.Launch, 1)
		c.Add(operator.Transform, operator.Stream, float64(rows)*float64(f.KeyBytes))
		if f.Sorted[side] {
			c.Stay(side)
		} else if err := c.Transform(side); err != nil {
			return nil, err
		}
	}
	c.Marks()
	return c, nil
}

// mergeCost books the merge of sides whose payload is sorted: units are cut, joined, and gone through once more where
// rows are marked or where output is counted before.
func (a Algorithm) mergeCost(c *operator.Cost) (err error) {
	f, config, passes := &c.Facts, c.Detail.(decision).config, 1.0
	few, many := operator.Build, operator.Probe
	if c.Held(many) < c.Held(few) {
		few, many = many, few
	}
	units, countBytes := mostUnits(config, c.Held(few), c.Held(many), f.Pairs()), uint64(0)
	cutBytes, err := cutBytes(f, config, c.Held(few), c.Held(many))
	if err != nil {
		return err
	}
	c.Units(units, cutBytes)
	if c.Want.Marks(operator.Build) || c.Want.Marks(operator.Probe) {
		passes++
	}
	if a.countFirst || f.CountsFirst() {
		passes++
		unitRows := [2]uint64{}
		unitRows[few], unitRows[many] = uint64(config.Table), uint64(kernel.TileRows(config))
		if countBytes, err = ranges.CountCost(c, units, unitRows); err != nil {
			return err
		}
	}
	c.Add(operator.Match, operator.Launch, (4+passes)*c.Granules())
	c.Add(operator.Match, operator.MergeRow, passes*(c.Walked(operator.Build)+c.Walked(operator.Probe)))
	err = c.Pairs(false)
	c.Free(countBytes)
	return err
}

// cutBytes is the memory that [granule.cut] takes beside the units, of two sides with few and with many rows.
func cutBytes(f *operator.Facts, config kernel.MergeJoinConfig, few, many uint64) (uint64, error) {
	tiles := uint64(kernel.Tiles(config, many))
	scan, err := primitive.PlanScan(f.Tuning, tiles, 32, 32, true)
	if err != nil {
		return 0, err
	}
	sum, err := primitive.PlanReduce(f.Tuning, kernel.ReduceSum, tiles, 32, 64)
	if err != nil {
		return 0, err
	}
	search, err := primitive.PlanRangeSearch(f.Tuning, few, many, f.KeyBytes)
	return tiles*24 + 4 + scan.ScratchBytes + sum.ScratchBytes + search.ScratchBytes, err
}

// mostUnits bounds the units that pairs of two sides make ([granule.cut]): one for each tile, and one for each piece of
// the rows that tiles meet. Rows with a key that goes on over k tiles are met k times: twice, and once more for each tile
// that has no other key, which makes a tile of pairs with each of them.
func mostUnits(config kernel.MergeJoinConfig, few, many, pairs uint64) uint64 {
	met := 2*few + pairs/uint64(kernel.TileRows(config))
	return min(uint64(kernel.Tiles(config, many))+met/uint64(config.Table), primitive.MaxRows)
}

// searchCost books range searches: of the side with fewer rows for the pairs, and of each side whose rows are marked.
// The ranges of pairs are scanned and expanded, and keys and payload gathered from the columns of the chunks.
func searchCost(c *operator.Cost) error {
	held := [2]uint64{c.Held(operator.Build), c.Held(operator.Probe)}
	search := func() {
		c.Add(operator.Match, operator.Launch, 2*c.Granules())
		c.Add(operator.Match, operator.SearchRow, c.Walked(operator.Build)+c.Walked(operator.Probe))
	}
	for side, rows := range held {
		if c.Want.Marks(side) {
			search()
			c.Hold(rows * 4) // partners of each
		}
	}
	if !c.Want.Pairs {
		return nil
	}
	if search(); c.Want.Count {
		return nil
	}
	few, met := held[operator.Probe], c.Facts.MatchRatio
	if held[operator.Build] < few {
		few, met = held[operator.Build], c.Facts.BuildRatio
	}
	scan, err := primitive.PlanScan(c.Facts.Tuning, few, 32, 64, true)
	if err != nil {
		return err
	}
	c.Add(operator.Match, operator.Launch, (1+c.Windows())*c.Granules())
	c.Add(operator.Match, operator.ScanRow, float64(few)*c.Granules())
	c.Add(operator.Match, operator.ExpandRow, c.Out())
	c.Add(operator.Match, operator.MatchMet, met*float64(few)*c.Granules())
	ranges := [3]uint64{few * 4, few * 4, (few + 1) * 8} // where they begin, how long they are, the pairs before
	for _, bytes := range ranges {
		c.Take(bytes)
	}
	c.Hold(scan.ScratchBytes)
	c.FreeKeys(operator.Probe)
	if !c.Facts.Kept() {
		c.FreeKeys(operator.Build)
	}
	c.PairsByNumber()
	for _, bytes := range ranges {
		c.Free(bytes)
	}
	return nil
}
