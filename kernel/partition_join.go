package kernel

import "github.com/spirjoin/spirjoin/backend"

// PartitionJoinArgs are the arguments of [PartitionJoin].
type PartitionJoinArgs = PartitionJoinArgsOf[backend.Range]

// PartitionJoinArgsOf are the same with buffers of type B.
type PartitionJoinArgsOf[B any] struct {
	Units B `access:"read"`
	JoinColumns[B]
	JoinRows
	Shift uint32
	High  uint32
}

// PartitionWalkConfig configures [PartitionWalk].
type PartitionWalkConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Paged   uint32 `axis:"0,1"`
	Tile
	Mixed  uint32
	Table  uint32
	Heads  uint32
	Unique uint32
	Seed   uint32
	OutputConfig
	PageRows uint32
	Widened  uint32
	Decided  uint32
}

// PartitionJoinConfig configures [PartitionJoin].
type PartitionJoinConfig struct {
	PartitionWalkConfig
	Marked uint32 `axis:"0,1"` // not with paged=1
	Shared uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Sides  uint32
}

// PartitionJoin joins the units of a partitioned hash join that [PartitionPieces] lists, a workgroup a unit: the left
// rows of a unit, at most the constant table of them, are chained in a hash table in shared memory by bits of their
// keys, and the right rows are looked up in it. Every pair of rows with equal keys is an output row: keys_out receives
// the key, left_out and right_out a payload value of 32*left_words and 32*right_words bits, left_out_2 and right_out_2
// one of a second column, if left_words_2 and right_words_2 are not 0. An absent payload column stands for the row
// numbers; an absent output is not written.
//
// The constant placing says where output rows go. AtOffsets: places holds, in 64 bits, the first output row of each
// unit, counted from first_row. Reserving: a workgroup takes the next free rows of the out_rows from first_row on (RT
// 3.2.2, with a chunk as long as needed); places is a cursor of three words, initially zero: the rows reserved, and the
// 64-bit number of all rows. If the two differ, or exceed out_rows, rows are missing.
//
// With paged=1, whatever placing is, each invocation takes pages of page_rows rows and fills one before it takes the
// next (RT 3.2.2), so that rows at the ends of last pages stay empty. The cursor counts the rows taken; if they exceed
// out_rows, rows are missing. In a bitmap of all output rows, from word BitmapWord of places on and initially all set,
// the bits of empty rows are cleared.
//
// With mixed=1 keys come from a mixed partition with this seed and shift bits, at most 16, and keys_out receives the
// original keys; with mixed=0 keys are arbitrary. With widened=1 keys_out receives 64-bit words with high in the high
// half. unique=1 promises that no two left rows of a unit have the same key; the output rows of a unit are then in the
// order of its right rows, otherwise in no particular order.
//
// decided=1 promises that mixed is 1, keys have 32 bits and heads<<shift is at least 2^16, so that the 16 bits of a key
// that the table keeps and its position in the table determine a match.
//
// With marked=1, and Reserving, rows with a match are also marked, as by [PartitionMark], on the sides that the
// constant sides names. The bitmaps are in places, after the cursor: word [MarksWord] of places is the index of the
// first word of the bitmap of left rows, the next word the index for right rows.
//
// [PartitionWalk] does the same on CPU cores, except marking.
var PartitionJoin = define[PartitionJoinArgs](entry[PartitionJoinArgsOf[[]byte], PartitionJoinConfig]{
	Name:     "partition_join",
	Defaults: PartitionJoinConfig{PartitionWalkConfig: partitionJoinDefaults},
	Compare:  backend.Multiset,
	SharedBytes: func(config *PartitionJoinConfig) uint32 {
		bytes := unitTableBytes(config.Table, config.Heads) + joinRowsBytes(config.Tile, config.Shared, config.Paged)
		if config.Marked == 1 {
			bytes += leftMarksBytes(config.Table, config.Sides)
		}
		return bytes
	},
	Run: func(args *PartitionJoinArgsOf[[]byte], config *PartitionJoinConfig, group uint32) {
		runPartitionJoin(args, &config.PartitionWalkConfig, config.Marked*config.Sides, group)
	},
})

var partitionJoinDefaults = PartitionWalkConfig{
	Tile: Tile{256, 4}, Table: 1536, Heads: 1024, OutputConfig: defaultOutput, PageRows: 1}

func runPartitionJoin(args *PartitionJoinArgsOf[[]byte], config *PartitionWalkConfig, sides, group uint32) {
	if config.KeyBits == 64 {
		partitionJoin[uint64](args, config, sides, group)
	} else {
		partitionJoin[uint32](args, config, sides, group)
	}
}

func partitionJoin[K word](args *PartitionJoinArgsOf[[]byte], config *PartitionWalkConfig, sides, group uint32) {
	unit := backend.Words(args.Units)[4*group:][:4]
	left, right := view[K](args.LeftKeys)[unit[0]:unit[1]], view[K](args.RightKeys)
	unmixed := digit{mixed: config.Mixed == 0}
	t := newUnitTable(left, unmixed, args.Shift, config.Heads)
	defer unitTables[config.KeyBits/64].Put(t)
	out := &joinOutput[K]{leftFirst: unit[0], JoinColumns: args.JoinColumns, JoinRows: args.JoinRows,
		OutputConfig: config.OutputConfig, unit: group, pageSize: config.Paged * config.PageRows,
		mixed: config.Mixed == 1, seed: config.Seed, keys: keyOutputOf[K](args.KeysOut, config.Widened, args.High),
		sides: sides}
	var buffer [pairRows]K
	for first := unit[2]; first < unit[3]; first += pairRows {
		out.rightFirst = first
		t.probe(source(right[first:min(first+pairRows, unit[3])], buffer[:], unmixed), out)
	}
	out.end()
}

// oneIf is 1 where a condition holds, and 0, without a branch.
func oneIf(condition bool) (n uint) {
	if condition {
		n = 1
	}
	return n
}
