package ranges

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// Mark sets the bits of the rows that have a partner in bitmaps of both sides, either of which may be absent. Bit id%32
// of word id/32 stands for the row with number id or, on a side without row numbers, at position id of the sorted
// order. Bits that are already set stay set. It enumerates no pairs, so hot keys cost no more than others.
//
// The keys of both sides must have the same width. Errors: device errors.
func Mark(ctx context.Context, lane *exec.Lane, sides [2]*Sorted, marks [2]backend.Range) error {
	for side, of := range marks {
		if of.Buffer == nil || sides[operator.Build].Rows == 0 || sides[operator.Probe].Rows == 0 {
			continue
		}
		if err := markSide(ctx, lane, sides[side], sides[1-side], of); err != nil {
			return err
		}
	}
	return nil
}

// markSide marks the rows of a side that are found in another.
func markSide(ctx context.Context, lane *exec.Lane, side, other *Sorted, marks backend.Range) error {
	p, err := primitive.PlanRangeSearch(lane.Tuning(), side.Rows, other.Rows, side.KeyBytes)
	if err != nil {
		return err
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	counts, none := temporary.New(side.Rows*4, "range counts"), backend.Range{}
	if err := temporary.Err(); err != nil {
		return err
	}
	return lane.Run(ctx, "mark", func(list *backend.List) error {
		return cmp.Or(lane.RangeSearch(list, p, side.Keys, other.Keys, none, counts.All(), none),
			lane.MarkCounts(list, counts.All(), side.IDs, marks, uint32(side.Rows)))
	})
}
