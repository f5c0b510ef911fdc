package query

import (
	"context"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/ranges"
)

// KeyRanges are matching key ranges in ascending order of the key: every row LeftRows[LeftBegin:LeftBegin+LeftCount] of
// the left table pairs with every row RightRows[RightBegin:RightBegin+RightCount] of the right one.
type KeyRanges struct {
	Ranges    []ranges.KeyRange
	LeftRows  []uint32 // row numbers of the left table in order of the key, without rows that have no key
	RightRows []uint32
	Pairs     uint64 // that the ranges stand for
}

// Ranges finds the matching key ranges of two tables (HMG 3.3.3). most, where it is not 0, is how many pairs they may
// stand for. Scans are those of the left and of the right table; of their columns row numbers are enough.
//
// Errors: backend.ErrLimit for more pairs, those of the device.
func (e *Engine) Ranges(ctx context.Context, scans [2]*Scan, approve func(pairs uint64) error) (k KeyRanges, err error) {
	grant, err := e.budget.Acquire(ctx, e.need(0), e.need(e.capBytes()))
	if err != nil {
		return k, err
	}
	defer grant.Release()
	lane := exec.NewLane(ctx, e.Ops, grant)
	defer lane.Memory.ReleaseAll()
	var sorted [2]*ranges.Sorted
	for side, s := range scans {
		chunk, err := s.load(ctx, lane, lane.Memory, 0, int(s.Table.NumRows()))
		if err != nil {
			return k, err
		}
		numbers := ranges.Numbers{Given: chunk.Payload[0].Data}
		if sorted[side], err = ranges.Sort(ctx, lane, chunk, s.Side.String(), numbers); err != nil {
			return k, err
		}
	}
	m, err := ranges.Search(ctx, lane, sorted[0], sorted[1], false)
	if err != nil {
		return k, err
	}
	defer m.Release()
	if err := approve(m.Total); err != nil {
		return k, err
	}
	k.Pairs = m.Total
	k.Ranges, k.LeftRows, k.RightRows, err = m.Ranges(ctx)
	return k, err
}
