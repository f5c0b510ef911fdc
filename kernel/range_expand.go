package kernel

import "github.com/spirjoin/spirjoin/backend"

// RangeExpand writes the row-id pairs of matching ranges, or a piece of them: output j of the piece is match number
// base + j of all, base = base_hi<<32 | base_lo. It belongs to the last left row l with offsets[l] <= base + j, and its pair is
// (left_ids[l], right_ids[begins[l] + base + j - offsets[l]]). offsets, 64 bits, is the exclusive scan of the counts of the
// left rows, with the total behind it; absent ids are row numbers. Tiles are tiles of the output, so that one hot key
// occupies many workgroups.
//
// With counts 2 0 1 offsets are 0 2 2 3, and the three pairs have l = 0, 0, 2.
var RangeExpand = &backend.KernelSpec{
	Name: "range_expand",
	Args: []backend.ArgSpec{
		{Name: "offsets", Access: backend.Read},
		{Name: "begins", Access: backend.Read},
		{Name: "left_ids", Access: backend.Read},
		{Name: "right_ids", Access: backend.Read},
		{Name: "left_out", Access: backend.Write},
		{Name: "right_out", Access: backend.Write},
	},
	Params:    []string{"left_rows", "out_rows", "base_lo", "base_hi"},
	Axes:      []backend.Axis{serial},
	Constants: []backend.Constant{workgroup, items(9)},
	SharedBytes: func(c backend.Config) uint32 {
		if c["serial"] == 1 {
			return 0
		}
		return searchBytes + 4*(c["workgroup"]*c["items"]+(c["workgroup"]+3)/4)
	},
	Run: rangeExpand,
}

func rangeExpand(call *backend.Call, group uint32) {
	leftRows, outRows := int(call.Params[0]), call.Params[1]
	base := uint64(call.Params[2]) | uint64(call.Params[3])<<32
	offsets := backend.Longs(call.Args[0])[:leftRows+1]
	begins := backend.Words(call.Args[1])[:leftRows]
	leftIDs, rightIDs := backend.Words(call.Args[2]), backend.Words(call.Args[3])
	for t := range tiles(call, group, Tiles(call.Config, uint64(outRows)), outRows) {
		at, end := base+uint64(t.first), base+uint64(t.end)
		leftOut, rightOut := backend.Words(call.Args[4])[t.first:t.end], backend.Words(call.Args[5])[t.first:t.end]
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
