package kernel

import "github.com/spirjoin/spirjoin/backend"

// SegmentedScanArgs are the arguments of [SegmentedScan].
type SegmentedScanArgs = SegmentedScanArgsOf[backend.Range]

// SegmentedScanArgsOf are the same with buffers of type B.
type SegmentedScanArgsOf[B any] struct {
	Values      B `access:"read"`
	Heads       B `access:"read"`
	TileCarries B `access:"read"`
	Sums        B `access:"write"`
	TileSums    B `access:"write"`
	TileHeads   B `access:"write"`
	Rows        uint32
	Tiles       uint32
	Carries     uint32
}

// SegmentedScanConfig configures [SegmentedScan].
type SegmentedScanConfig struct {
	InBits  uint32 `axis:"32,64"`
	SumBits uint32 `axis:"32,64"`
	ShapedTile
	Shared uint32 `axis:"0,1"` // as in [ScanTilesConfig]
}

// SegmentedScan scans the tiles of a column that is divided into segments: sums[i] is the sum of the values of i's
// segment before i, modulo 2^sum_bits; bit i of the bitmap heads says that row i begins a segment. tile_carries[tile]
// is the sum that enters a tile, since the last head before it; 0 if absent. A tile passes on tile_sums[tile], the sum
// since its last head or, without a head, its carry plus the sum of the whole tile, and tile_heads[tile], 1 if it has a
// head and otherwise 0. sums is absent if only these two are wanted; tile_sums and tile_heads are absent if they are
// not.
//
// With carries=1 each row is a tile of the level below: heads holds a word for each, and a head takes effect after its
// row, so that sums are the carries of those tiles.
var SegmentedScan = define[SegmentedScanArgs](entry[SegmentedScanArgsOf[[]byte], SegmentedScanConfig]{
	Name:        "segmented_scan",
	Defaults:    SegmentedScanConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: 16}},
	SerialItems: 4112,
	SharedBytes: func(config *SegmentedScanConfig) uint32 {
		return config.scanBytes(config.Shared, 2*config.SumBits/8+4, config.SumBits/8+4)
	},
	Run: func(args *SegmentedScanArgsOf[[]byte], config *SegmentedScanConfig, group uint32) {
		bySums(config.InBits, config.SumBits, segmentedScan[uint32, uint32], segmentedScan[uint32, uint64],
			segmentedScan[uint64, uint64])(args, config, group)
	},
})

func segmentedScan[V, S word](args *SegmentedScanArgsOf[[]byte], config *SegmentedScanConfig, group uint32) {
	rows, count, behind := args.Rows, args.Tiles, args.Carries == 1
	values, heads, carries := view[V](args.Values), backend.Words(args.Heads), view[S](args.TileCarries)
	sums, tileSums, tileHeads := view[S](args.Sums), view[S](args.TileSums), backend.Words(args.TileHeads)
	for t := range tiles(config, group, count, rows) {
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
