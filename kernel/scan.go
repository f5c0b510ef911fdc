package kernel

import (
	"github.com/spirjoin/spirjoin/backend"
)

// ScanTilesArgs are the arguments of [ScanTiles].
type ScanTilesArgs = ScanTilesArgsOf[backend.Range]

// ScanTilesArgsOf are the same with buffers of type B.
type ScanTilesArgsOf[B any] struct {
	Values     B `access:"read"`
	TilePrefix B `access:"read"`
	Sums       B `access:"write"`
	Rows       uint32
	Tiles      uint32
	Total      uint32
}

// ScanTilesConfig configures [ScanTiles].
type ScanTilesConfig struct {
	InBits  uint32 `axis:"32,64"`
	SumBits uint32 `axis:"32,64"`
	ShapedTile
	Shared uint32 `axis:"0,1"` // 1: the wide shape without subgroup operations
}

// ScanTiles is the last step of an exclusive scan: sums[i] = tile_prefix[tile] + the sum of the values of i's tile
// before i, modulo 2^sum_bits. An absent tile_prefix stands for zeros. With total=1 sums has rows+1 entries, and the
// last one is the sum of all values; without rows, this takes a dispatch of one empty tile.
var ScanTiles = define[ScanTilesArgs](entry[ScanTilesArgsOf[[]byte], ScanTilesConfig]{
	Name:        "scan_tiles",
	Defaults:    ScanTilesConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: 16}},
	SerialItems: 4112,
	SharedBytes: func(config *ScanTilesConfig) uint32 {
		return config.scanBytes(config.Shared, config.SumBits/8, config.SumBits/8)
	},
	Run: func(args *ScanTilesArgsOf[[]byte], config *ScanTilesConfig, group uint32) {
		bySums(config.InBits, config.SumBits, scanTiles[uint32, uint32], scanTiles[uint32, uint64],
			scanTiles[uint64, uint64])(args, config, group)
	},
})

// scanBytes is what the scan of a tile takes of shared memory: an element for each subgroup or, with shared=1, four for
// each invocation.
func (t ShapedTile) scanBytes(shared, subgroupBytes, invocationBytes uint32) uint32 {
	switch {
	case t.Serial == 1:
		return 0
	case shared == 1:
		return 4 * t.Workgroup * invocationBytes
	}
	return subgroupsBytes(t.Workgroup, subgroupBytes)
}

// bySums chooses among the variants of a reference by the widths of values and sums; the latter are not narrower.
func bySums[F any](inBits, sumBits uint32, from32to32, from32to64, from64to64 F) F {
	switch {
	case inBits == 64:
		return from64to64
	case sumBits == 64:
		return from32to64
	}
	return from32to32
}

func scanTiles[V, S word](args *ScanTilesArgsOf[[]byte], config *ScanTilesConfig, group uint32) {
	rows, count, total := args.Rows, args.Tiles, args.Total
	prefix, all := view[S](args.TilePrefix), view[S](args.Sums)
	for t := range tiles(config, group, count, rows) {
		var sum S
		if len(prefix) > 0 {
			sum = prefix[t.index]
		}
		values := view[V](args.Values)[t.first:t.end]
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
