package kernel

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

var scanAxes = []backend.Axis{bits("in_bits", 32, 64), bits("sum_bits", 32, 64), serial}

// ScanTiles is the last step of an exclusive scan: sums[i] = tile_prefix[tile] + the sum of the values of i's tile before i,
// modulo 2^sum_bits. An absent tile_prefix counts as zeros. With total=1 sums has rows+1 entries and the last one is the
// sum of all values; for no rows that takes a dispatch of one empty tile.
var ScanTiles = &backend.KernelSpec{
	Name: "scan_tiles",
	Args: []backend.ArgSpec{
		{Name: "values", Access: backend.Read},
		{Name: "tile_prefix", Access: backend.Read},
		{Name: "sums", Access: backend.Write},
	},
	Params:    []string{"rows", "tiles", "total"},
	Axes:      scanAxes,
	Constants: []backend.Constant{workgroup, items(16)},
	Run: func(call *backend.Call, group uint32) {
		scanOf(call.Config, scanTiles[uint32, uint32], scanTiles[uint32, uint64], scanTiles[uint64, uint64])(call, group)
	},
}

// scanOf chooses among the variants of the scan kernels.
func scanOf(c backend.Config, from32to32, from32to64, from64to64 func(*backend.Call, uint32)) func(*backend.Call, uint32) {
	switch [2]uint32{c["in_bits"], c["sum_bits"]} {
	case [2]uint32{32, 32}:
		return from32to32
	case [2]uint32{32, 64}:
		return from32to64
	case [2]uint32{64, 64}:
		return from64to64
	}
	panic(fmt.Sprintf("kernel: a scan has no variant %v", c))
}

func scanTiles[V, S word](call *backend.Call, group uint32) {
	rows, count, total := call.Params[0], call.Params[1], call.Params[2]
	prefix, all := view[S](call.Args[1]), view[S](call.Args[2])
	for t := range tiles(call, group, count, rows) {
		var sum S
		if len(prefix) > 0 {
			sum = prefix[t.index]
		}
		values := view[V](call.Args[0])[t.first:t.end]
		sums := all[t.first:t.end]
		for i, v := range values {
			sums[i] = sum
			sum += S(v)
		}
		if total == 1 && t.index+1 == int(count) {
			all[rows] = sum
		}
	}
}
