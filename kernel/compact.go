package kernel

import (
	bitops "math/bits"

	"github.com/spirjoin/spirjoin/backend"
)

// CompactCountArgs are the arguments of [CompactCount].
type CompactCountArgs = CompactCountArgsOf[backend.Range]

// CompactCountArgsOf are the same with buffers of type B.
type CompactCountArgsOf[B any] struct {
	Bits   B `access:"read"`
	Counts B `access:"write"`
	Rows   uint32
	Tiles  uint32
}

// CompactCountConfig configures [CompactCount].
type CompactCountConfig struct {
	ShapedTile
	Shared   uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Inverted uint32
}

// CompactCount counts the set bits of each tile of a bitmap: counts[tile] is the number of rows of the tile whose bit
// is set, or with inverted is not set; bits after the last row may have any value. The exclusive scan of counts is the
// argument offsets of [Compact]. In the wide shape of both, workgroup*items is a multiple of 32.
var CompactCount = define[CompactCountArgs](entry[CompactCountArgsOf[[]byte], CompactCountConfig]{
	Name:        "compact_count",
	Defaults:    CompactCountConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: 16}},
	SerialItems: 4112,
	Run: func(args *CompactCountArgsOf[[]byte], config *CompactCountConfig, group uint32) {
		rows, count := args.Rows, args.Tiles
		for t := range tiles(config, group, count, rows) {
			sum := 0
			for row := t.first; row < t.end; {
				word, next := bitsFrom(backend.Words(args.Bits), row, t.end, config.Inverted)
				sum += bitops.OnesCount32(word)
				row = next
			}
			backend.Words(args.Counts)[t.index] = uint32(sum)
		}
	},
})

// CompactArgs are the arguments of [Compact].
type CompactArgs = CompactArgsOf[backend.Range]

// CompactArgsOf are the same with buffers of type B.
type CompactArgsOf[B any] struct {
	Bits    B `access:"read"`
	Offsets B `access:"read"`
	Values  B `access:"read"`
	Kept    B `access:"write"`
	Rows    uint32
	Tiles   uint32
	Seed    uint32
}

// CompactConfig configures [Compact].
type CompactConfig struct {
	ValueBits uint32 `axis:"32,64"`
	ShapedTile
	Shared   uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Inverted uint32
	Mixed    uint32
}

// Compact keeps the rows whose bit is set, or with inverted is not set, in their order: a row goes to offsets[tile] +
// the number of kept rows before it in the tile. offsets are 64-bit numbers below 2^32. Absent values stand for 32-bit
// row numbers. With mixed=1 values are keys that were mixed with seed, and are unmixed ([Unmix]). In the wide shape
// items is at most MaxCompactItems.
var Compact = define[CompactArgs](entry[CompactArgsOf[[]byte], CompactConfig]{
	Name:        "compact",
	Defaults:    CompactConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: 16}},
	SerialItems: 4112,
	Run: func(args *CompactArgsOf[[]byte], config *CompactConfig, group uint32) {
		if config.ValueBits == 64 {
			compact[uint64](args, config, group)
		} else {
			compact[uint32](args, config, group)
		}
	},
})

// MaxCompactItems is the maximum of items in the wide shape of [Compact].
const MaxCompactItems = 32

func compact[V word](args *CompactArgsOf[[]byte], config *CompactConfig, group uint32) {
	rows, count := args.Rows, args.Tiles
	values, kept := view[V](args.Values), view[V](args.Kept)
	for t := range tiles(config, group, count, rows) {
		first := backend.Longs(args.Offsets)[t.index]
		to := first
		for row := t.first; row < t.end; {
			word, next := bitsFrom(backend.Words(args.Bits), row, t.end, config.Inverted)
			for ; word != 0; word &= word - 1 {
				i := row + bitops.TrailingZeros32(word)
				if len(values) > 0 {
					kept[to] = values[i]
				} else {
					kept[to] = V(i)
				}
				to++
			}
			row = next
		}
		if config.Mixed == 1 {
			unmixAll(kept[first:to], args.Seed)
		}
	}
}

// bitsFrom returns the bits of the rows from row on that lie in its word and before end, turned over if inverted is 1,
// and the row behind them.
func bitsFrom(bitmap []uint32, row, end int, inverted uint32) (word uint32, next int) {
	next = min(row&^31+32, end)
	return (bitmap[row/32] ^ -inverted) >> (row % 32) & (1<<(next-row) - 1), next
}
