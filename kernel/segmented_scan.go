package kernel

import "github.com/spirjoin/spirjoin/backend"

// SegmentedScan scans the tiles of a column that is cut into segments: sums[i] is the sum of the values of i's segment before i,
// modulo 2^sum_bits; bit i of the bitmap heads says that row i begins a segment. tile_carries[tile] is the sum that enters a tile,
// since the last head before it; absent, it is 0. What leaves a tile is tile_sums[tile], the sum since its last head or, without
// one, its carry and all of it, and tile_heads[tile], 1 if it has a head and otherwise 0. sums is absent where only that is
// wanted, tile_sums and tile_heads where it is not.
//
// With carries=1 a row is a tile of the level below: heads holds a word for each, and a head counts behind its row, so that
// sums are the carries of those tiles.
var SegmentedScan = &backend.KernelSpec{
	Name: "segmented_scan",
	Args: []backend.ArgSpec{
		{Name: "values", Access: backend.Read},
		{Name: "heads", Access: backend.Read},
		{Name: "tile_carries", Access: backend.Read},
		{Name: "sums", Access: backend.Write},
		{Name: "tile_sums", Access: backend.Write},
		{Name: "tile_heads", Access: backend.Write},
	},
	Params:    []string{"rows", "tiles", "carries"},
	Axes:      scanAxes,
	Constants: []backend.Constant{workgroup, items(16)},
	Run: func(call *backend.Call, group uint32) {
		scanOf(call.Config, segmentedScan[uint32, uint32], segmentedScan[uint32, uint64], segmentedScan[uint64, uint64])(call, group)
	},
}

func segmentedScan[V, S word](call *backend.Call, group uint32) {
	rows, count, behind := call.Params[0], call.Params[1], call.Params[2] == 1
	values, heads, carries := view[V](call.Args[0]), backend.Words(call.Args[1]), view[S](call.Args[2])
	sums, tileSums, tileHeads := view[S](call.Args[3]), view[S](call.Args[4]), backend.Words(call.Args[5])
	for t := range tiles(call, group, count, rows) {
		var sum S
		if len(carries) > 0 {
			sum = carries[t.index]
		}
		var any uint32
		for i := t.first; i < t.end; i++ {
			var head uint32
			if behind {
				head = heads[i]
			} else {
				head = heads[i/32] >> (i % 32) & 1
			}
			any |= head
			kept := sum & (S(head) - 1) // 0 from a head on
			before := kept
			if behind {
				before = sum
			}
			sum = kept + S(values[i])
			if len(sums) > 0 {
				sums[i] = before
			}
		}
		if len(tileSums) > 0 {
			tileSums[t.index], tileHeads[t.index] = sum, any
		}
	}
}
