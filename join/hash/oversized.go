package hash

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// mostRanges is the number of oversized partitions beyond which all rows are joined anew instead of theirs.
const mostRanges = 256

// span is the rows from first to end-1 of a partitioned side.
type span struct{ first, end uint64 }

// peel joins the rows of the oversized partitions, all together. Keys that collide are told apart by a partition with a
// fresh seed. What is too much for units then too, because a key is hot or because keys were made to collide again, is
// sorted: that minds neither, and pairs are expanded with the work divided by output, so that one hot key occupies the
// whole device. Pairs are only counted by sorting at once.
func (p *probing) peel(ctx context.Context, sink operator.Sink) error {
	lane := p.lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	if p.plan.Want.Count {
		sides, err := p.sortPeeled(ctx, lane.Scope, lane, false)
		if err != nil {
			return err
		}
		m, err := ranges.Search(ctx, lane, sides[operator.Build], sides[operator.Probe], true)
		if err != nil {
			return err
		}
		return sink.Count(ctx, m.Total)
	}
	return nil
}
