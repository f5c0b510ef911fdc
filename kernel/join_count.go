package kernel

import (
	"unsafe"

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
	Tile
	Mixed   uint32
	Table   uint32
	Heads   uint32
	Unique  uint32
	Decided uint32
}

// PartitionCount counts the output rows of each unit of a partitioned hash join: counts receives 32 bits a unit. The
// rest is as for [PartitionJoin]; no payload is touched.
var PartitionCount = define[PartitionCountArgs](entry[PartitionCountArgsOf[[]byte], PartitionCountConfig]{
	Name:     "partition_count",
	Defaults: PartitionCountConfig{Tile: Tile{256, 4}, Table: 1536, Heads: 1024},
	SharedBytes: func(config *PartitionCountConfig) uint32 {
		return unitTableBytes(config.Table, config.Heads) + 4*((config.Workgroup+3)/4)
	},
	Run: func(args *PartitionCountArgsOf[[]byte], config *PartitionCountConfig, group uint32) {
		count := uint32(0)
		each := func(_, matches uint32) { count += matches }
		unit, unmixed := backend.Words(args.Units)[4*group:][:4], digit{mixed: config.Mixed == 0}
		if config.KeyBits == 64 {
			unitMatches[uint64](unit, args.LeftKeys, args.RightKeys, unmixed, args.Shift, config.Heads, false, each)
		} else {
			unitMatches[uint32](unit, args.LeftKeys, args.RightKeys, unmixed, args.Shift, config.Heads, false, each)
		}
		backend.Words(args.Counts)[group] = count
	},
})

// MergeCountArgs are the arguments of [MergeCount].
type MergeCountArgs = MergeCountArgsOf[backend.Range]

// MergeCountArgsOf are the same with buffers of type B.
type MergeCountArgsOf[B any] struct {
	Units     B `access:"read"`
	LeftKeys  B `access:"read"`
	RightKeys B `access:"read"`
	Counts    B `access:"write"`
}

// MergeLookupConfig configures [MergeCount] and [MergeMark].
type MergeLookupConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
	Table uint32
}

// MergeCount counts the output rows of each unit of a merge join: counts receives 32 bits a unit. The rest is as for
// [MergeJoin]; no payload is touched.
var MergeCount = define[MergeCountArgs](entry[MergeCountArgsOf[[]byte], MergeLookupConfig]{
	Name:     "merge_count",
	Defaults: MergeLookupConfig{Tile: Tile{256, 4}, Table: 1280},
	SharedBytes: func(config *MergeLookupConfig) uint32 {
		return config.KeyBits/8*config.Table + 4*((config.Workgroup+3)/4)
	},
	Run: func(args *MergeCountArgsOf[[]byte], config *MergeLookupConfig, group uint32) {
		count := uint32(0)
		each := func(_, matches uint32) { count += matches }
		unit := backend.Words(args.Units)[4*group:][:4]
		if config.KeyBits == 64 {
			sortedMatches[uint64](unit, args.LeftKeys, args.RightKeys, each)
		} else {
			sortedMatches[uint32](unit, args.LeftKeys, args.RightKeys, each)
		}
		backend.Words(args.Counts)[group] = count
	},
})

// unitMatches calls each for every right row of a unit of a partitioned join, with the number of its matches, all of
// them or any.
func unitMatches[K word](unit []uint32, leftKeys, rightKeys []byte, unmixed digit, shift, heads uint32, any bool,
	each func(row, matches uint32)) {
	t := newUnitTable(view[K](leftKeys)[unit[0]:unit[1]], unmixed, shift, heads)
	defer unitTables[unsafe.Sizeof(*new(K))/8].Put(t)
	var buffer [pairRows]K
	for first := unit[2]; first < unit[3]; first += pairRows {
		for i, key := range source(view[K](rightKeys)[first:min(first+pairRows, unit[3])], buffer[:], unmixed) {
			each(first+uint32(i), t.matches(key, any))
		}
	}
}

// sortedMatches does the same for a unit of a merge join.
func sortedMatches[K word](unit []uint32, leftKeys, rightKeys []byte, each func(row, matches uint32)) {
	left, right := view[K](leftKeys)[unit[0]:unit[1]], view[K](rightKeys)[unit[2]:unit[3]]
	first, end := 0, 0 // of the left rows with the key
	for i, key := range right {
		if i == 0 || key != right[i-1] {
			first = end
			for stop := first + near; first < len(left) && left[first] < key; {
				if first++; first == stop {
					first = gallop(first, len(left), func(i int) bool { return left[i] < key })
					break
				}
			}
			for end = first; end < len(left) && left[end] == key; end++ {
			}
		}
		each(unit[2]+uint32(i), uint32(end-first))
	}
}
