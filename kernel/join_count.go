package kernel

import (
	"slices"

	"github.com/spirjoin/spirjoin/backend"
)

// PartitionCountArgs are the arguments of [PartitionCount].
type PartitionCountArgs = PartitionCountArgsOf[backend.Range]

// PartitionCountArgsOf are the same with buffers of type B.
type PartitionCountArgsOf[B any] struct {
	Units     B `access:"read"`
	LeftKeys  B `access:"read"`
	RightKeys B `access:"read"`
	Counts    B `access:"write"`
	Shift     uint32
}

// PartitionCountConfig configures [PartitionCount].
type PartitionCountConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Shared  uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Tile
	Mixed    uint32
	Table    uint32
	Heads    uint32
	Unique   uint32
	Decided  uint32
	Distinct uint32
}

// PartitionCount counts the output rows of each unit of a partitioned hash join: counts receives 64 bits per unit. The
// rest is as for [PartitionJoin]; payload is not accessed. With distinct=1 the left rows of a key are counted once, so
// that the time does not grow with the number of output rows; with distinct=0 each right row visits all of them, which
// is faster if left keys rarely repeat.
var PartitionCount = define[PartitionCountArgs](entry[PartitionCountArgsOf[[]byte], PartitionCountConfig]{
	Name:     "partition_count",
	Defaults: PartitionCountConfig{Tile: Tile{256, 4}, Table: 1536, Heads: 1024, Distinct: 1},
	SharedBytes: func(config *PartitionCountConfig) uint32 {
		repeats := (config.Table + 1) / 2
		if config.Unique >= config.Distinct { // rows are not counted by key
			repeats = 1
		}
		return unitTableBytes(config.Table, config.Heads) + 4*repeats + totalBytes(config.Tile, config.Shared)
	},
	Run: func(args *PartitionCountArgsOf[[]byte], config *PartitionCountConfig, group uint32) {
		if config.KeyBits == 64 {
			partitionCount[uint64](args, config, group)
		} else {
			partitionCount[uint32](args, config, group)
		}
	},
})

func partitionCount[K word](args *PartitionCountArgsOf[[]byte], config *PartitionCountConfig, group uint32) {
	unit, unmixed := backend.Words(args.Units)[4*group:][:4], digit{mixed: config.Mixed == 0}
	left, right := view[K](args.LeftKeys)[unit[0]:unit[1]], view[K](args.RightKeys)[unit[2]:unit[3]]
	t := newUnitTable(left, unmixed, args.Shift, config.Heads)
	defer unitTables[config.KeyBits/64].Put(t)
	clear(t.rows[:len(left)])
	count := uint64(0)
	var buffer [pairRows]K
	for batch := range slices.Chunk(right, pairRows) {
		for _, key := range source(batch, buffer[:], unmixed) {
			if config.Distinct == 1 {
				count += uint64(t.countOnce(key))
			} else {
				count += uint64(t.count(key))
			}
		}
	}
	backend.Longs(args.Counts)[group] = count
}

// totalBytes is the shared memory in which a workgroup adds up 64-bit counts.
func totalBytes(t Tile, shared uint32) uint32 {
	if shared == 1 {
		return 8
	}
	return subgroupsBytes(t.Workgroup, 8)
}

// MergeCountArgs are the arguments of [MergeCount].
type MergeCountArgs = MergeCountArgsOf[backend.Range]

// MergeCountArgsOf are the same with buffers of type B.
type MergeCountArgsOf[B any] struct {
	Units     B `access:"read"`
	LeftKeys  B `access:"read"`
	RightKeys B `access:"read"`
	Counts    B `access:"write"`
}

// MergeCountConfig configures [MergeCount].
type MergeCountConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Shared  uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Tile
	Table uint32
}

// MergeCount counts the output rows of each unit of a merge join: counts receives 64 bits per unit. The rest is as for
// [MergeJoin]; payload is not accessed.
var MergeCount = define[MergeCountArgs](entry[MergeCountArgsOf[[]byte], MergeCountConfig]{
	Name:     "merge_count",
	Defaults: MergeCountConfig{Tile: Tile{256, 4}, Table: 1280},
	SharedBytes: func(config *MergeCountConfig) uint32 {
		return config.KeyBits/8*config.Table + totalBytes(config.Tile, config.Shared)
	},
	Run: func(args *MergeCountArgsOf[[]byte], config *MergeCountConfig, group uint32) {
		count := uint64(0)
		each := func(left, leftEnd, right, rightEnd uint32) { count += uint64(leftEnd-left) * uint64(rightEnd-right) }
		unit := backend.Words(args.Units)[4*group:][:4]
		if config.KeyBits == 64 {
			sortedMatches[uint64](unit, args.LeftKeys, args.RightKeys, each)
		} else {
			sortedMatches[uint32](unit, args.LeftKeys, args.RightKeys, each)
		}
		backend.Longs(args.Counts)[group] = count
	},
})

// sortedMatches calls each for every key that both sides of a unit of a merge join have, with the rows of the columns
// that have it: left to leftEnd-1, and right to rightEnd-1.
func sortedMatches[K word](unit []uint32, leftKeys, rightKeys []byte,
	each func(left, leftEnd, right, rightEnd uint32)) {
	left, right := view[K](leftKeys)[:unit[1]], view[K](rightKeys)[:unit[3]]
	l, r := int(unit[0]), int(unit[2])
	for r < len(right) {
		key, rightFirst := right[r], r
		for r < len(right) && right[r] == key {
			r++
		}
		for stop := l + near; l < len(left) && left[l] < key; {
			if l++; l == stop {
				l = gallop(l, len(left), func(i int) bool { return left[i] < key })
				break
			}
		}
		leftFirst := l
		for l < len(left) && left[l] == key {
			l++
		}
		if leftFirst < l {
			each(uint32(leftFirst), uint32(l), uint32(rightFirst), uint32(r))
		}
	}
}
