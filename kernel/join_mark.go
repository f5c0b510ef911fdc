package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// Values of the constant sides: the set of sides whose rows a kernel marks.
const (
	MarkRight = 1
	MarkLeft  = 2
)

// MaxMarkItems is the maximum of items in kernels that mark rows.
const MaxMarkItems = 24

// PartitionMarkArgs are the arguments of [PartitionMark].
type PartitionMarkArgs = PartitionMarkArgsOf[backend.Range]

// PartitionMarkArgsOf are the same with buffers of type B.
type PartitionMarkArgsOf[B any] struct {
	Units      B `access:"read"`
	LeftKeys   B `access:"read"`
	RightKeys  B `access:"read"`
	LeftMarks  B `access:"accumulate"`
	RightMarks B `access:"accumulate"`
	Shift      uint32
}

// PartitionMarkConfig configures [PartitionMark].
type PartitionMarkConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Shared  uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Tile
	Mixed   uint32
	Table   uint32
	Heads   uint32
	Decided uint32
	Sides   uint32
}

// PartitionMark sets, in bitmaps, the bits of the rows that have a match in a unit of a partitioned hash join: bit i%32
// of word i/32 of left_marks stands for row i of left_keys, and likewise on the right. The constant sides, [MarkRight],
// [MarkLeft] or both, says for which sides; the bitmap of the other side may be absent. Bits that are already set stay
// set, so several units may mark the same row. The rest is as for [PartitionJoin]; the lookup of a row ends at its
// first match, and the left rows of a key are marked once per unit.
var PartitionMark = define[PartitionMarkArgs](entry[PartitionMarkArgsOf[[]byte], PartitionMarkConfig]{
	Name:     "partition_mark",
	Defaults: PartitionMarkConfig{Tile: Tile{256, 4}, Table: 1536, Heads: 1024, Sides: MarkRight},
	SharedBytes: func(config *PartitionMarkConfig) uint32 {
		return unitTableBytes(config.Table, config.Heads) + leftMarksBytes(config.Table, config.Sides) +
			config.Shared*config.batchBitsBytes()
	},
	Run: func(args *PartitionMarkArgsOf[[]byte], config *PartitionMarkConfig, group uint32) {
		if config.KeyBits == 64 {
			partitionMark[uint64](args, config, group)
		} else {
			partitionMark[uint32](args, config, group)
		}
	},
})

func partitionMark[K word](args *PartitionMarkArgsOf[[]byte], config *PartitionMarkConfig, group uint32) {
	unit, unmixed := backend.Words(args.Units)[4*group:][:4], digit{mixed: config.Mixed == 0}
	leftMarks, rightMarks := marker(backend.Words(args.LeftMarks)), marker(backend.Words(args.RightMarks))
	left, right := view[K](args.LeftKeys)[unit[0]:unit[1]], view[K](args.RightKeys)
	t := newUnitTable(left, unmixed, args.Shift, config.Heads)
	defer unitTables[config.KeyBits/64].Put(t)
	marked := t.marked[:(len(left)+31)/32]
	clear(marked)
	var buffer [pairRows]K
	for first := unit[2]; first < unit[3]; first += pairRows {
		for i, key := range source(right[first:min(first+pairRows, unit[3])], buffer[:], unmixed) {
			at, end := t.first(key)
			if at == end {
				continue
			}
			if config.Sides&MarkRight != 0 {
				rightMarks.mark(first + uint32(i))
			}
			if row := t.rows[at]; config.Sides&MarkLeft != 0 && marked[row/32]>>(row%32)&1 == 0 {
				for ; at < end; at++ {
					if row := t.rows[at]; t.keys[at] == key {
						marked[row/32] |= 1 << (row % 32)
					}
				}
			}
		}
	}
	if config.Sides&MarkLeft != 0 {
		for i, word := range marked {
			leftMarks.or(unit[0]+32*uint32(i), word)
		}
	}
}

// leftMarksBytes is the shared memory that kernels take for marks of left rows.
func leftMarksBytes(table, sides uint32) uint32 {
	if sides&MarkLeft == 0 {
		return 4
	}
	return 4 * ((table + 62) / 32)
}

// MergeMarkArgs are the arguments of [MergeMark].
type MergeMarkArgs = MergeMarkArgsOf[backend.Range]

// MergeMarkArgsOf are the same with buffers of type B.
type MergeMarkArgsOf[B any] struct {
	Units      B `access:"read"`
	LeftKeys   B `access:"read"`
	RightKeys  B `access:"read"`
	LeftMarks  B `access:"accumulate"`
	RightMarks B `access:"accumulate"`
}

// MergeMarkConfig configures [MergeMark].
type MergeMarkConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Shared  uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Tile
	Table uint32
	Sides uint32
}

// MergeMark does what [PartitionMark] does, for the units of [MergeJoin].
var MergeMark = define[MergeMarkArgs](entry[MergeMarkArgsOf[[]byte], MergeMarkConfig]{
	Name:     "merge_mark",
	Defaults: MergeMarkConfig{Tile: Tile{256, 4}, Table: 1280, Sides: MarkRight},
	SharedBytes: func(config *MergeMarkConfig) uint32 {
		return config.KeyBits/8*config.Table + leftMarksBytes(config.Table, config.Sides) +
			config.Shared*config.batchBitsBytes()
	},
	Run: func(args *MergeMarkArgsOf[[]byte], config *MergeMarkConfig, group uint32) {
		leftMarks, rightMarks := marker(backend.Words(args.LeftMarks)), marker(backend.Words(args.RightMarks))
		each := func(left, leftEnd, right, rightEnd uint32) {
			if config.Sides&MarkLeft != 0 {
				leftMarks.markAll(left, leftEnd)
			}
			if config.Sides&MarkRight != 0 {
				rightMarks.markAll(right, rightEnd)
			}
		}
		unit := backend.Words(args.Units)[4*group:][:4]
		if config.KeyBits == 64 {
			sortedMatches[uint64](unit, args.LeftKeys, args.RightKeys, each)
		} else {
			sortedMatches[uint32](unit, args.LeftKeys, args.RightKeys, each)
		}
	},
})

// marker is a bitmap of rows, in which several groups mark theirs at a time.
type marker []uint32

func (m marker) mark(row uint32) { m.orWord(row/32, 1<<(row%32)) }

// markAll marks rows first to end-1.
func (m marker) markAll(first, end uint32) {
	for ; first < end; first = first&^31 + 32 {
		bits := ^uint32(0) << (first % 32)
		if left := end - first&^31; left < 32 {
			bits &= 1<<left - 1
		}
		m.orWord(first/32, bits)
	}
}

// or marks the rows from first on whose bits are set in bits.
func (m marker) or(first, bits uint32) {
	m.orWord(first/32, bits<<(first%32))
	m.orWord(first/32+1, bits>>(32-first%32))
}

func (m marker) orWord(word, bits uint32) {
	if bits != 0 && atomic.LoadUint32(&m[word])&bits != bits {
		atomic.OrUint32(&m[word], bits)
	}
}
