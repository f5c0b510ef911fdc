package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// A partitioned hash join processes its partitions in units: a unit joins a piece of at most left_rows rows of the left
// partition with a piece of at most right_rows rows of the right one; every left piece meets every right piece. A
// partition whose left side has more than most_left rows has no units: it is oversized, and joined in another way.
// PartitionUnitsArgs are the arguments of [PartitionUnits].
type PartitionUnitsArgs = PartitionUnitsArgsOf[backend.Range]

// PartitionUnitsArgsOf are the same with buffers of type B.
type PartitionUnitsArgsOf[B any] struct {
	LeftStarts  B `access:"read"`
	RightStarts B `access:"read"`
	Counts      B `access:"write"`
	Oversized   B `access:"accumulate"`
	Partitions  uint32
	LeftRows    uint32
	RightRows   uint32
	MostLeft    uint32
}

// PartitionUnitsConfig configures [PartitionUnits].
type PartitionUnitsConfig struct {
	Tile
}

// PartitionUnits counts the units of each partition. Its input is where the partitions of both sides begin. It adds the
// number of partitions with rows on both sides and more than most_left rows on the left to oversized.
var PartitionUnits = define[PartitionUnitsArgs](entry[PartitionUnitsArgsOf[[]byte], PartitionUnitsConfig]{
	Name:     "partition_units",
	Defaults: PartitionUnitsConfig{Tile: Tile{256, 1}},
	Run: func(args *PartitionUnitsArgsOf[[]byte], config *PartitionUnitsConfig, group uint32) {
		left, right, counts := backend.Words(args.LeftStarts), backend.Words(args.RightStarts),
			backend.Words(args.Counts)
		partitions, leftRows, rightRows, mostLeft := args.Partitions, args.LeftRows, args.RightRows, args.MostLeft
		for t := range tiles(config, group, Tiles(config, uint64(partitions)), partitions) {
			for p := t.first; p < t.end; p++ {
				leftSize, rightSize := left[p+1]-left[p], right[p+1]-right[p]
				counts[p] = pieces(leftSize, leftRows) * pieces(rightSize, rightRows)
				if leftSize > mostLeft && rightSize > 0 {
					counts[p] = 0
					atomic.AddUint32(&backend.Words(args.Oversized)[0], 1)
				}
			}
		}
	},
})

func pieces(rows, most uint32) uint32 {
	return uint32((uint64(rows) + uint64(most) - 1) / uint64(most))
}

// PartitionPiecesArgs are the arguments of [PartitionPieces].
type PartitionPiecesArgs = PartitionPiecesArgsOf[backend.Range]

// PartitionPiecesArgsOf are the same with buffers of type B.
type PartitionPiecesArgsOf[B any] struct {
	Offsets     B `access:"read"`
	LeftStarts  B `access:"read"`
	RightStarts B `access:"read"`
	Units       B `access:"write"`
	Count       uint32
	Partitions  uint32
	LeftRows    uint32
	RightRows   uint32
	Stride      uint32
}

// PartitionPiecesConfig configures [PartitionPieces].
type PartitionPiecesConfig struct {
	Tile
}

// PartitionPieces lists the rows that each unit joins: unit u takes the left rows units[4u] to units[4u+1]-1 and the
// right rows units[4u+2] to units[4u+3]-1. offsets, with partitions + 1 entries, is the exclusive scan of the counts of
// [PartitionUnits], followed by the total. Partition p lies between starts[stride*p] and starts[stride*p+1] of both
// sides: with stride=1 it ends where the next one begins, with stride=2 each has its own end ([MergeUnits]). The right
// pieces of a partition change fastest.
var PartitionPieces = define[PartitionPiecesArgs](entry[PartitionPiecesArgsOf[[]byte], PartitionPiecesConfig]{
	Name:     "partition_pieces",
	Defaults: PartitionPiecesConfig{Tile: Tile{256, 1}},
	Run: func(args *PartitionPiecesArgsOf[[]byte], config *PartitionPiecesConfig, group uint32) {
		offsets, left, right := backend.Words(args.Offsets), backend.Words(args.LeftStarts),
			backend.Words(args.RightStarts)
		count, partitions, leftRows, rightRows := args.Count, int(args.Partitions), args.LeftRows, args.RightRows
		stride, units := int(args.Stride), backend.Words(args.Units)
		for t := range tiles(config, group, Tiles(config, uint64(count)), count) {
			for u := t.first; u < t.end; u++ {
				p := partitionPoint(0, partitions, func(p int) bool { return offsets[p] <= uint32(u) }) - 1
				left, right := left[stride*p:][:2], right[stride*p:][:2]
				rightPieces := pieces(right[1]-right[0], rightRows)
				piece := uint32(u) - offsets[p]
				leftFirst, rightFirst := left[0]+piece/rightPieces*leftRows, right[0]+piece%rightPieces*rightRows
				units[4*u], units[4*u+1] = leftFirst, min(left[1]-leftFirst, leftRows)+leftFirst
				units[4*u+2], units[4*u+3] = rightFirst, min(right[1]-rightFirst, rightRows)+rightFirst
			}
		}
	},
})
