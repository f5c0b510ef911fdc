package kernel

import "github.com/spirjoin/spirjoin/backend"

// A merge join of sorted sides works in units, as a hash join of partitions does: a tile of right rows against a piece of the left
// rows that its keys can meet. Left rows of a key that goes on in the next tile are met by both.

// MergeUnits finds for each tile of tile_rows right rows which left rows its keys can meet: those from left_bounds[2*tile] to
// left_bounds[2*tile+1]-1 are not less than its first key and not greater than its last. right_bounds are the rows of the tile in
// the same form, and counts[tile] the pieces of piece_rows that the left rows make. Both sides are sorted ascending. A tile of this
// kernel is one of tiles, not of rows.
//
// Example with tile_rows=3: left 1 2 2 7, right 0 1 2 | 2 5 5, left_bounds 0 3 | 1 3.
//
// Source: "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.2 (chunks of both sides that match).
var MergeUnits = &backend.KernelSpec{
	Name: "merge_units",
	Args: []backend.ArgSpec{
		{Name: "left_keys", Access: backend.Read},
		{Name: "right_keys", Access: backend.Read},
		{Name: "left_bounds", Access: backend.Write},
		{Name: "right_bounds", Access: backend.Write},
		{Name: "counts", Access: backend.Write},
	},
	Params:    []string{"left_rows", "right_rows", "tiles", "tile_rows", "piece_rows"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{workgroup, items(1)},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			mergeUnits[uint64](call, group)
		} else {
			mergeUnits[uint32](call, group)
		}
	},
}

func mergeUnits[K word](call *backend.Call, group uint32) {
	leftRows, rightRows, count, tileRows, pieceRows := int(call.Params[0]), int(call.Params[1]), call.Params[2], int(call.Params[3]), call.Params[4]
	left, right := view[K](call.Args[0])[:leftRows], view[K](call.Args[1])
	leftBounds, rightBounds, counts := backend.Words(call.Args[2]), backend.Words(call.Args[3]), backend.Words(call.Args[4])
	for t := range tiles(call, group, Tiles(call.Config, uint64(count)), count) {
		for tile := t.first; tile < t.end; tile++ {
			first, end := tile*tileRows, min((tile+1)*tileRows, rightRows)
			low := partitionPoint(0, leftRows, func(i int) bool { return left[i] < right[first] })
			high := partitionPoint(low, leftRows, func(i int) bool { return left[i] <= right[end-1] })
			leftBounds[2*tile], leftBounds[2*tile+1] = uint32(low), uint32(high)
			rightBounds[2*tile], rightBounds[2*tile+1] = uint32(first), uint32(end)
			counts[tile] = pieces(uint32(high-low), pieceRows)
		}
	}
}

// MergeJoin joins units of sorted sides, a workgroup a unit: its left keys, at most the constant table of them, lie in shared
// memory, where a right row finds its first match by binary search; the others follow it. units, in the form of [PartitionPieces],
// takes at most workgroup*items right rows. Output rows are as those of [PartitionJoin], without pages, and
// so is the constant kept.
var MergeJoin = &backend.KernelSpec{
	Name:   "merge_join",
	Args:   joinArgs("units"),
	Params: []string{"first_row", "out_rows"},
	Axes:   []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{
		workgroup, items(4), {Name: "table", Default: 1280}, {Name: "placing", Default: AtOffsets},
		leftWords, rightWords, leftWords2, rightWords2, keptMatches,
	},
	Compare: backend.Multiset,
	SharedBytes: func(c backend.Config) uint32 {
		return c["key_bits"]/8*c["table"] + 4*((c["workgroup"]+3)/4+2)
	},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			mergeJoin[uint64](call, group)
		} else {
			mergeJoin[uint32](call, group)
		}
	},
}

func mergeJoin[K word](call *backend.Call, group uint32) {
	unit := backend.Words(call.Args[0])[4*group:][:4]
	left, right := view[K](call.Args[1])[unit[0]:unit[1]], view[K](call.Args[2])[unit[2]:unit[3]]
	out := newJoinOutput[K](call, group, unit[0], false, 0)
	out.rightFirst = unit[2]
	from, n := 0, uint(0)
	for i, key := range right {
		for stop := from + near; from < len(left) && left[from] < key; {
			if from++; from == stop {
				from = gallop(from, len(left), func(i int) bool { return left[i] < key })
				break
			}
		}
		for l := from; l < len(left) && left[l] == key; l++ {
			out.left[n], out.right[n] = uint32(l), uint32(i)
			if n++; n == pairRows {
				out.write(n)
				n = 0
			}
		}
	}
	out.write(n)
	out.end()
}
