package kernel

import (
	"sort"

	"github.com/spirjoin/spirjoin/backend"
)

// PartitionStartsArgs are the arguments of [PartitionStarts].
type PartitionStartsArgs = PartitionStartsArgsOf[backend.Range]

// PartitionStartsArgsOf are the same with buffers of type B.
type PartitionStartsArgsOf[B any] struct {
	Keys   B `access:"read"`
	Starts B `access:"write"`
	Digits uint32
	Rows   uint32
	Shift  uint32
	Bits   uint32
}

// PartitionStartsConfig configures [PartitionStarts].
type PartitionStartsConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
}

// PartitionStarts finds where partitions begin among rows in the order of their digits: starts[digit] is the first row
// whose digit is not less, or rows if there is none. Each row of its dispatch is a digit; there may be 2^bits + 1 of
// them, the last being the end of the last partition. The digit of a key is as in [RadixHistogram], except that bits is
// 1 to 32.
//
// Each invocation finds its digit by binary search, which reads only a few pages of the keys.
var PartitionStarts = define[PartitionStartsArgs](entry[PartitionStartsArgsOf[[]byte], PartitionStartsConfig]{
	Name:     "partition_starts",
	Defaults: PartitionStartsConfig{Tile: Tile{256, 1}},
	Run: func(args *PartitionStartsArgsOf[[]byte], config *PartitionStartsConfig, group uint32) {
		if config.KeyBits == 64 {
			partitionStarts[uint64](args, config, group)
		} else {
			partitionStarts[uint32](args, config, group)
		}
	},
})

func partitionStarts[K word](args *PartitionStartsArgsOf[[]byte], config *PartitionStartsConfig, group uint32) {
	digits, rows, shift, width := args.Digits, args.Rows, args.Shift, args.Bits
	keys, starts := view[K](args.Keys), backend.Words(args.Starts)
	for t := range tiles(config, group, Tiles(config, uint64(digits)), digits) {
		for digit := t.first; digit < t.end; digit++ {
			starts[digit] = uint32(sort.Search(int(rows), func(row int) bool {
				return uint64(keys[row])>>shift&(1<<width-1) >= uint64(digit)
			}))
		}
	}
}
