package kernel

import "github.com/spirjoin/spirjoin/backend"

// RangeExpandArgs are the arguments of [RangeExpand].
type RangeExpandArgs = RangeExpandArgsOf[backend.Range]

// RangeExpandArgsOf are the same with buffers of type B.
type RangeExpandArgsOf[B any] struct {
	Offsets  B `access:"read"`
	Begins   B `access:"read"`
	LeftIDs  B `access:"read"`
	RightIDs B `access:"read"`
	LeftOut  B `access:"write"`
	RightOut B `access:"write"`
	LeftRows uint32
	OutRows  uint32
	BaseLo   uint32
	BaseHi   uint32
}

// RangeExpandConfig configures [RangeExpand].
type RangeExpandConfig struct {
	ShapedTile
	Shared uint32 `axis:"0,1"` // as in [ScanTilesConfig]
}

// RangeExpand writes the row-id pairs of matching ranges, or a piece of them: output j of the piece is match number
// base + j of all, base = base_hi<<32 | base_lo. It belongs to the last left row l with offsets[l] <= base + j, and its
// pair is (left_ids[l], right_ids[begins[l] + base + j - offsets[l]]). offsets, 64 bits, is the exclusive scan of the
// counts of the left rows, followed by the total; absent ids stand for row numbers. Tiles are tiles of the output, so
// that one hot key occupies many workgroups.
//
// With counts 2 0 1 offsets are 0 2 2 3, and the three pairs have l = 0, 0, 2.
var RangeExpand = define[RangeExpandArgs](entry[RangeExpandArgsOf[[]byte], RangeExpandConfig]{
	Name:        "range_expand",
	Defaults:    RangeExpandConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: 9}},
	SerialItems: 256,
	SharedBytes: func(config *RangeExpandConfig) uint32 {
		if config.Serial == 1 {
			return 0
		}
		scan := subgroupsBytes(config.Workgroup, 4)
		if config.Shared == 1 {
			scan = 2 * config.Workgroup * 4
		}
		return searchBytes + 4*config.Workgroup*config.Items + scan
	},
	Run: rangeExpand,
})

func rangeExpand(args *RangeExpandArgsOf[[]byte], config *RangeExpandConfig, group uint32) {
	leftRows, outRows := int(args.LeftRows), args.OutRows
	base := uint64(args.BaseLo) | uint64(args.BaseHi)<<32
	offsets := backend.Longs(args.Offsets)[:leftRows+1]
	begins := backend.Words(args.Begins)[:leftRows]
	leftIDs, rightIDs := backend.Words(args.LeftIDs), backend.Words(args.RightIDs)
	for t := range tiles(config, group, Tiles(config, uint64(outRows)), outRows) {
		at, end := base+uint64(t.first), base+uint64(t.end)
		leftOut, rightOut := backend.Words(args.LeftOut)[t.first:t.end], backend.Words(args.RightOut)[t.first:t.end]
		l := partitionPoint(0, leftRows, func(l int) bool { return offsets[l] <= at }) - 1
		for at < end {
			for stop := l + near; offsets[l+1] <= at; {
				if l++; l == stop {
					l = gallop(l, leftRows, func(l int) bool { return offsets[l] <= at }) - 1
					break
				}
			}
			n := min(offsets[l+1], end) - at
			left := uint32(l)
			if leftIDs != nil {
				left = leftIDs[l]
			}
			right := begins[l] + uint32(at-offsets[l])
			for i := range leftOut[:n] {
				leftOut[i] = left
			}
			switch {
			case rightIDs == nil:
				for i := range rightOut[:n] {
					rightOut[i] = right + uint32(i)
				}
			case n == 1: // the most frequent count, not worth a call
				rightOut[0] = rightIDs[right]
			default:
				copy(rightOut[:n], rightIDs[right:])
			}
			leftOut, rightOut, at = leftOut[n:], rightOut[n:], at+n
		}
	}
}
