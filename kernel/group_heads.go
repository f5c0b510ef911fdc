package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// GroupHeadsArgs are the arguments of [GroupHeads].
type GroupHeadsArgs = GroupHeadsArgsOf[backend.Range]

// GroupHeadsArgsOf are the same with buffers of type B.
type GroupHeadsArgsOf[B any] struct {
	Keys   B `access:"read"`
	Heads  B `access:"write"`
	Groups B `access:"accumulate"`
	Rows   uint32
	Cut    uint32
}

// GroupHeadsConfig configures [GroupHeads].
type GroupHeadsConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
}

// GroupHeads marks where the segments of sorted keys begin: bit i%32 of heads[i/32] is 1 if keys[i] differs from
// keys[i-1], or i is a multiple of cut, a power of 2, so that no segment is longer than cut. It adds the number of rows
// whose key differs from the one before to groups[0]. workgroup*items is a multiple of 32.
var GroupHeads = define[GroupHeadsArgs](entry[GroupHeadsArgsOf[[]byte], GroupHeadsConfig]{
	Name:     "group_heads",
	Defaults: GroupHeadsConfig{Tile: Tile{256, 8}},
	SharedBytes: func(config *GroupHeadsConfig) uint32 {
		return config.Workgroup*config.Items/8 + 4
	},
	Run: func(args *GroupHeadsArgsOf[[]byte], config *GroupHeadsConfig, group uint32) {
		if config.KeyBits == 64 {
			groupHeads[uint64](args, config, group)
		} else {
			groupHeads[uint32](args, config, group)
		}
	},
})

func groupHeads[K word](args *GroupHeadsArgsOf[[]byte], config *GroupHeadsConfig, group uint32) {
	keys, heads, groups := view[K](args.Keys), backend.Words(args.Heads), uint32(0)
	for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
		for first := t.first; first < t.end; first += 32 {
			word := uint32(0)
			for i, key := range keys[first:min(first+32, t.end)] {
				row := first + i
				differs := uint32(1)
				if row > 0 && keys[row-1] == key {
					differs = 0
				}
				groups += differs
				if uint32(row)&(args.Cut-1) == 0 {
					differs = 1
				}
				word |= differs << i
			}
			heads[first/32] = word
		}
	}
	atomic.AddUint32(&backend.Words(args.Groups)[0], groups)
}
