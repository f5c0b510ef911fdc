package ranks

import (
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

// Way is how rows of both sides meet.
type Way uint8

const (
	Stay       Way = iota // there is one rank
	Owners                // rows go to the ranks that own the hashes of their keys
	LeftToAll             // left rows go to all ranks, right rows stay
	RightToAll            // right rows go to all ranks, left rows stay
)

var wayNames = []string{"all rows stay", "rows go to the owners of their keys", "left rows go to all ranks",
	"right rows go to all ranks"}

func (w Way) String() string {
	if int(w) < len(wayNames) {
		return wayNames[w]
	}
	return fmt.Sprintf("Way(%d)", uint8(w))
}

// toAll reports whether the rows of a side go to all ranks.
func (w Way) toAll(side relation.Side) bool { return w == [2]Way{LeftToAll, RightToAll}[side] }

// stays reports whether the rows of a side do not move.
func (w Way) stays(side relation.Side) bool { return w == Stay || w.toAll(1-side) }

// totals is what all ranks have together.
type totals struct {
	ranks      int
	nodes      int
	rows       [2]int64 // of a side; negative if unknown
	bytes      [2]int64 // likewise
	limitBytes uint64   // least limit of host memory
}

// mayGoToAll reports whether a copy of all rows of a side on each rank leaves the output as it is: no row of the side
// is in the output without a partner, or once for all of its partners, and the other side, whose rows with equal keys
// may be on several ranks, need not be unique. Rows whose numbers are output must move, because they get them on the
// way.
func mayGoToAll(spec *join.Spec, side relation.Side) bool {
	how := spec.How
	return !how.Keeps(side) && (how.Pairs() || !how.Has(side)) && !spec.Validate.Unique(1-side) &&
		spec.Output != join.Pairs
}

// fitsShare is the inverse of the share of a memory limit that a side may take that goes to all ranks.
const fitsShare = 4

// chooseWay returns the way that moves fewer bytes: N copies of the one side, or each row of both sides once. Unknown
// sizes count as too large. A cross join sends the smaller side to all ranks in any case.
func chooseWay(spec *join.Spec, t totals) Way {
	if t.ranks == 1 {
		return Stay
	}
	left, right := t.bytes[relation.Left], t.bytes[relation.Right]
	small := relation.Right // also if nothing is known
	if left >= 0 && (right < 0 || left < right || left == right && !mayGoToAll(spec, relation.Right)) {
		small = relation.Left
	}
	ways := [2]Way{LeftToAll, RightToAll}
	switch sizeBytes := t.bytes[small]; {
	case spec.How == join.Cross:
		return ways[small]
	case !mayGoToAll(spec, small), left < 0, right < 0:
	case float64(sizeBytes)*float64(t.ranks) < float64(left)+float64(right) &&
		uint64(sizeBytes) <= t.limitBytes/fitsShare:
		return ways[small]
	}
	return Owners
}

// chooseBuild returns the build side of all ranks: the one that the specification names, otherwise the one that goes to
// all ranks or has fewer rows, as far as a stream with it is possible. ok is false if no stream is possible: then both
// sides are collected.
func chooseBuild(l *join.Layout, way Way, t totals) (build join.BuildSide, ok bool) {
	if build = l.Spec.BuildSide; build != join.BuildAuto {
		return build, l.CheckStream(build) == nil
	}
	rows := func(side relation.Side) int64 {
		if t.rows[side] < 0 {
			return math.MaxInt64
		}
		return t.rows[side]
	}
	build, other := join.BuildLeft, join.BuildRight
	if way == RightToAll || way != LeftToAll && rows(relation.Right) < rows(relation.Left) {
		build, other = other, build
	}
	if l.CheckStream(build) == nil {
		return build, true
	}
	return other, l.CheckStream(other) == nil
}
