package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// RangeSearchPlan finds for every row of a sorted left key column the range of equal keys in a sorted right one, by
// binary search (HMG 3.3.3), and the total number of matching pairs in 64 bits.
type RangeSearchPlan struct {
	LeftRows, RightRows uint64
	KeyBytes            int
	ScratchBytes        uint64
	TotalOffset         uint64 // in bytes, of the 64-bit total in the scratch buffer

	config  kernel.RangeSearchConfig
	reduce  ReducePlan
	scratch uint64 // offset of the reduction's scratch; the tile totals are at 0
}

// PlanRangeSearch plans the search of leftRows keys in rightRows keys of keyBytes (4 or 8).
func PlanRangeSearch(t Tuning, leftRows, rightRows uint64, keyBytes int) (RangeSearchPlan, error) {
	p := RangeSearchPlan{LeftRows: leftRows, RightRows: rightRows, KeyBytes: keyBytes,
		config: kernel.RangeSearch.With(t.Config("range_search", backend.Config{"key_bits": uint32(keyBytes * 8)}))}
	p.config.KeyBits = uint32(keyBytes * 8)
	for _, rows := range []uint64{leftRows, rightRows} {
		if err := CheckRows("range search", rows); err != nil {
			return p, err
		}
	}
	tileCount := uint64(kernel.Tiles(p.config, leftRows))
	var err error
	if p.reduce, err = PlanReduce(t, kernel.ReduceSum, tileCount, 64, 64); err != nil {
		return p, err
	}
	p.scratch = backend.Aligned(tileCount * 8)
	p.ScratchBytes = p.scratch + p.reduce.ScratchBytes
	p.TotalOffset = p.scratch + p.reduce.ResultOffset
	return p, nil
}

// RangeSearch records a plan. begins and counts receive LeftRows 32-bit values each: the first equal row on the right
// and the number of equal rows. The total is written to scratch at TotalOffset. Absent outputs are not written.
func (o *Ops) RangeSearch(list *backend.List, p RangeSearchPlan, leftKeys, rightKeys, begins, counts,
	scratch backend.Range) error {
	k, err := kernel.RangeSearch.On(o.device, p.config)
	if err != nil {
		return err
	}
	args := kernel.RangeSearchArgs{
		LeftKeys: leftKeys, RightKeys: rightKeys, Begins: begins, Counts: counts,
		LeftRows: uint32(p.LeftRows), RightRows: uint32(p.RightRows), Tiles: kernel.Tiles(p.config, p.LeftRows),
	}
	if scratch.Buffer != nil {
		args.TileTotals = scratch.Part(0, p.reduce.Rows*8)
	}
	k.Dispatch(list, kernel.Groups(p.config, p.LeftRows), args)
	if scratch.Buffer == nil {
		return nil
	}
	return o.Reduce(list, p.reduce, args.TileTotals, scratch.Part(p.scratch, p.reduce.ScratchBytes))
}
