package sortmerge

import (
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// sortCost begins the account of a join that sorts both sides: what does not vary is found, and with it sides that are
// sorted already, which stay.
func sortCost(p *operator.Plan, oneByOne bool, numbers operator.Numbers) (*operator.Cost, error) {
	f := &p.Facts
	p.LeastGranule = max(1, f.Rows[operator.Build]/4)
	keyBits := f.KeyBits
	if keyBits == 0 {
		keyBits = 8 * f.KeyBytes
	}
	move := operator.Moves{Unit: operator.SortRow, KeyBytes: f.KeyBytes, OneByOne: oneByOne, Numbers: numbers}
	move.Plan = func(layout primitive.Layout) (int, uint64, error) {
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

// cost books what a join takes.
func (a Algorithm) cost(p *operator.Plan) error {
	if a.untransformed {
		return costUM(p)
	}
	return costOM(p, a.oneByOne, a.countFirst)
}

// walked is how many rows of both sides a merge or a search goes through.
func walked(c *operator.Cost) float64 { return c.Walked(operator.Build) + c.Walked(operator.Probe) }

func empty(f *operator.Facts) bool { return f.Rows[operator.Build] == 0 || f.Rows[operator.Probe] == 0 }

// costOM books what a merge join takes, with payload that is sorted with the keys.
func costOM(p *operator.Plan, oneByOne, countFirst bool) error {
	c, err := sortCost(p, oneByOne, operator.NoNumbers)
	if err != nil {
		return err
	}
	defer c.Close()
	merge := func() {
		c.Add(operator.Match, operator.Launch, 5*c.Granules())
		c.Add(operator.Match, operator.MergeRow, walked(c))
	}
	switch want := &p.Want; {
	case empty(&p.Facts):
	case want.Count:
		searchCost(c, searches(want))
	default:
		if want.Marks(operator.Build) || want.Marks(operator.Probe) {
			merge()
		}
		if !want.Pairs {
			break
		}
		if merge(); countFirst || c.Windows() > 1 {
			merge()
		}
		if err := c.Pairs(false); err != nil {
			return err
		}
	}
	return c.Sides()
}

// costUM books what a range search takes, after which pairs of row numbers are made, and payload is gathered from the
// columns of the chunks.
func costUM(p *operator.Plan) error {
	f, want := &p.Facts, &p.Want
	c, err := sortCost(p, false, operator.PairNumbers)
	if err != nil {
		return err
	}
	defer c.Close()
	if !empty(f) {
		searchCost(c, searches(want))
		if want.Pairs && !want.Count {
			if err := expandCost(c); err != nil {
				return err
			}
		}
	}
	return c.Sides()
}

// searches is how often ranges are searched: the rows of one side for the pairs, and those of each side whose rows are
// wanted for themselves.
func searches(want *operator.Want) int {
	n := 0
	for side := range 2 {
		if want.Marks(side) {
			n++
		}
	}
	if want.Pairs {
		n = max(1, n)
	}
	return n
}

func searchCost(c *operator.Cost, searches int) {
	c.Add(operator.Match, operator.Launch, 2*float64(searches)*c.Granules())
	c.Add(operator.Match, operator.SearchRow, float64(searches)*walked(c))
}

// expandCost books the ranges of the side with fewer rows, their scan, and the pairs.
func expandCost(c *operator.Cost) error {
	held := min(c.Held(operator.Build), c.Held(operator.Probe))
	scan, err := primitive.PlanScan(c.Facts.Tuning, held, 32, 64, true)
	if err != nil {
		return err
	}
	c.Add(operator.Match, operator.Launch, (1+c.Windows())*c.Granules())
	c.Add(operator.Match, operator.ScanRow, float64(held)*c.Granules())
	c.Add(operator.Match, operator.ExpandRow, c.Out())
	c.Take(held * 4) // where ranges begin
	c.Take(held * 4) // and how long they are
	c.FreeKeys()
	c.Take((held + 1) * 8) // rows of output before those of each
	c.Hold(scan.ScratchBytes)
	c.PairsByNumber()
	return nil
}
