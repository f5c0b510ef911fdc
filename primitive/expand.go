package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Ranges are the matches of a range search on the device: row l of the sorted left side matches rows Begins[l] to
// Begins[l]+count-1 of the sorted right side, and its first pair is number Offsets[l] of the output.
type Ranges struct {
	LeftRows uint64
	Offsets  backend.Range // LeftRows+1 64-bit values: exclusive scan of the counts, and the total
	Begins   backend.Range // LeftRows 32-bit values
	LeftIDs  backend.Range // row numbers of the sorted rows; absent if the side was not moved
	RightIDs backend.Range
}

// Expand records the expansion of pairs first to first+rows-1 of the output: leftOut and rightOut receive rows 32-bit
// row numbers each. Work is divided by output, so that a row with many matches is expanded by many workgroups.
func (o *Ops) Expand(list *backend.List, r Ranges, first uint64, rows uint32, leftOut, rightOut backend.Range) error {
	k, err := kernel.RangeExpand.On(o.device, o.expand)
	if err != nil {
		return err
	}
	k.Dispatch(list, kernel.Groups(o.expand, uint64(rows)), kernel.RangeExpandArgs{
		Offsets: r.Offsets, Begins: r.Begins, LeftIDs: r.LeftIDs, RightIDs: r.RightIDs, LeftOut: leftOut,
		RightOut: rightOut,
		LeftRows: uint32(r.LeftRows), OutRows: rows, BaseLo: uint32(first), BaseHi: uint32(first >> 32),
	})
	return nil
}
