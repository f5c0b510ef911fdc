package sortmerge

import (
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// cost books what a join takes.
func (a Algorithm) cost(p *operator.Plan) error {
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
		return plan.Passes(), plan.ScratchBytes, err
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
func (a Algorithm) mergeCost(c *operator.Cost) error {
	passes := 1.0
	if c.Want.Marks(operator.Build) || c.Want.Marks(operator.Probe) {
		passes++
	}
	if a.countFirst || c.Windows() > 1 {
		passes++
	}
	c.Add(operator.Match, operator.Launch, (4+passes)*c.Granules())
	c.Add(operator.Match, operator.MergeRow, passes*(c.Walked(operator.Build)+c.Walked(operator.Probe)))
	return c.Pairs(false)
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
