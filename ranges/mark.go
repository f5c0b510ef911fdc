package ranges

import (
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
	list := lane.List("mark")
	if err := lane.RangeSearch(list, p, side.Keys, other.Keys, none, counts.All(), none); err != nil {
		return err
	}
	if err := lane.MarkCounts(list, counts.All(), side.IDs, marks, uint32(side.Rows)); err != nil {
		return err
	}
	return lane.Submit(ctx, list)
}

// NewMarks returns a cleared bitmap for the rows of a side, allocated from the lane.
func NewMarks(ctx context.Context, lane *exec.Lane, rows uint64, name string) (backend.Range, error) {
	b := lane.Memory.New((rows+31)/32*4, "marks, "+name)
	if err := lane.Memory.Err(); err != nil || rows == 0 {
		return backend.Range{}, err
	}
	return b.All(), ClearMarks(ctx, lane, b.All())
}

// ClearMarks clears all bits of a bitmap, which may be absent.
func ClearMarks(ctx context.Context, lane *exec.Lane, marks backend.Range) error {
	if marks.Buffer == nil {
		return nil
	}
	list := lane.List("mark")
	list.Fill(marks, 0)
	return lane.Submit(ctx, list)
}
