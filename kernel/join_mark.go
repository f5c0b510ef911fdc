package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// PartitionMarkArgs are the arguments of [PartitionMark].
type PartitionMarkArgs = PartitionMarkArgsOf[backend.Range]

// PartitionMarkArgsOf are the same with buffers of type B.
type PartitionMarkArgsOf[B any] struct {
	Units     B `access:"read"`
	LeftKeys  B `access:"read"`
	RightKeys B `access:"read"`
	Marks     B `access:"accumulate"`
	Shift     uint32
}

// PartitionMarkConfig configures [PartitionMark].
type PartitionMarkConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
	Mixed   uint32
	Table   uint32
	Heads   uint32
	Decided uint32
}

// PartitionMark sets, in the bitmap marks, the bits of the right rows that have a match in a unit of a partitioned hash
// join: bit i%32 of word i/32 is row i of right_keys. Bits that are set before stay, so that the units of a row may
// each mark it. The rest is as for [PartitionJoin]; a row with many matches is looked up no longer than to the first.
var PartitionMark = define[PartitionMarkArgs](entry[PartitionMarkArgsOf[[]byte], PartitionMarkConfig]{
	Name:        "partition_mark",
	Defaults:    PartitionMarkConfig{Tile: Tile{256, 4}, Table: 1536, Heads: 1024},
	SharedBytes: func(config *PartitionMarkConfig) uint32 { return unitTableBytes(config.Table, config.Heads) },
	Run: func(args *PartitionMarkArgsOf[[]byte], config *PartitionMarkConfig, group uint32) {
		mark := marker(backend.Words(args.Marks)).mark
		unit, unmixed := backend.Words(args.Units)[4*group:][:4], digit{mixed: config.Mixed == 0}
		if config.KeyBits == 64 {
			unitMatches[uint64](unit, args.LeftKeys, args.RightKeys, unmixed, args.Shift, config.Heads, true, mark)
		} else {
			unitMatches[uint32](unit, args.LeftKeys, args.RightKeys, unmixed, args.Shift, config.Heads, true, mark)
		}
	},
})

// MergeMarkArgs are the arguments of [MergeMark].
type MergeMarkArgs = MergeMarkArgsOf[backend.Range]

// MergeMarkArgsOf are the same with buffers of type B.
type MergeMarkArgsOf[B any] struct {
	Units     B `access:"read"`
	LeftKeys  B `access:"read"`
	RightKeys B `access:"read"`
	Marks     B `access:"accumulate"`
}

// MergeMark does what [PartitionMark] does, for the units of [MergeJoin].
var MergeMark = define[MergeMarkArgs](entry[MergeMarkArgsOf[[]byte], MergeLookupConfig]{
	Name:        "merge_mark",
	Defaults:    MergeLookupConfig{Tile: Tile{256, 4}, Table: 1280},
	SharedBytes: func(config *MergeLookupConfig) uint32 { return config.KeyBits / 8 * config.Table },
	Run: func(args *MergeMarkArgsOf[[]byte], config *MergeLookupConfig, group uint32) {
		m := marker(backend.Words(args.Marks))
		unit := backend.Words(args.Units)[4*group:][:4]
		if config.KeyBits == 64 {
			sortedMatches[uint64](unit, args.LeftKeys, args.RightKeys, m.mark)
		} else {
			sortedMatches[uint32](unit, args.LeftKeys, args.RightKeys, m.mark)
		}
	},
})

// marker is a bitmap of rows.
type marker []uint32

func (m marker) mark(row, matches uint32) {
	if bit := uint32(1) << (row % 32); matches > 0 && atomic.LoadUint32(&m[row/32])&bit == 0 {
		atomic.OrUint32(&m[row/32], bit)
	}
}
