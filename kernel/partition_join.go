package kernel

import (
	bitops "math/bits"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

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

// PartitionJoinConfig configures [PartitionJoin].
type PartitionJoinConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
	Mixed  uint32
	Table  uint32
	Heads  uint32
	Unique uint32
	Seed   uint32
	OutputConfig
	PageRows uint32
	Widened  uint32
	Kept     uint32
	Decided  uint32
}

// PartitionJoin joins the units of a partitioned hash join that [PartitionPieces] lists, a workgroup a unit: the left rows of a
// unit, at most the constant table of them, are chained in a hash table in shared memory by bits of their keys, and the right
// rows are looked up. Every pair of rows with equal keys is an output row: keys_out gets the key, left_out and right_out a
// payload value of 32*left_words and 32*right_words bits, left_out_2 and right_out_2 one of a second column, if left_words_2 and
// right_words_2 are not 0. A payload column that is absent is the row numbers; an output that is absent is not written.
//
// The constant placing says where output rows go. Counting: places receives the number of output rows of each unit, 32 bits.
// AtOffsets: places holds 64-bit output rows of the units' first ones, counted from first_row. Reserving: a workgroup takes the
// next free rows of the out_rows from first_row on (RT 3.2.2, a chunk as long as needed); places is a cursor of three words, zero
// before: rows reserved, and the 64-bit number of all rows. Where the two differ, or pass out_rows, rows are missing. Paging: each
// invocation takes pages of page_rows rows and fills one before it takes the next (RT 3.2.2), so that rows stay empty at the ends of
// last pages. The cursor counts rows taken; where they pass out_rows, rows are missing. A bitmap of all output rows, from word
// BitmapWord of places on and all set before, loses the bits of empty ones.
//
// With mixed=1 keys are those of a mixed partition with that seed and shift, at most 16, bits, and keys_out gets the keys that
// were mixed; with mixed=0 they are any. With widened=1 it gets them as 64-bit words with high in the high half. unique=1 promises
// that no two left rows of a unit have the same key; the output rows of a unit are then in the order of its right rows, and otherwise
// in none.
//
// decided=1 promises that mixed is 1, keys have 32 bits and heads<<shift is at least 2^16, so that the 16 bits of a key that the table keeps
// and its place there decide about a match.
//
// With kept=1 the shader keeps matches and payload of a batch of workgroup*items right rows in registers between counting and writing, for
// devices where neighbours write together; with kept=0, for CPU cores, matches of [WalkedRows] rows an invocation.
var PartitionJoin = define[PartitionJoinArgs](entry[PartitionJoinArgsOf[[]byte], PartitionJoinConfig]{
	Name:     "partition_join",
	Defaults: PartitionJoinConfig{Tile: Tile{256, 4}, Table: 1536, Heads: 1024, OutputConfig: defaultOutput, PageRows: 1, Kept: 1},
	Compare:  backend.Multiset,
	SharedBytes: func(config *PartitionJoinConfig) uint32 {
		return 4 * (config.Heads + config.Table + (config.Workgroup+3)/4 + 2)
	},
	Run: func(args *PartitionJoinArgsOf[[]byte], config *PartitionJoinConfig, group uint32) {
		if config.KeyBits == 64 {
			partitionJoin[uint64](args, config, group)
		} else {
			partitionJoin[uint32](args, config, group)
		}
	},
})

// WalkedRows is the number of right rows that an invocation of a kernel that joins takes at a time with kept=0.
const WalkedRows = 8

func partitionJoin[K word](args *PartitionJoinArgsOf[[]byte], config *PartitionJoinConfig, group uint32) {
	unit := backend.Words(args.Units)[4*group:][:4]
	left, right := view[K](args.LeftKeys)[unit[0]:unit[1]], view[K](args.RightKeys)
	unmixed := digit{mixed: config.Mixed == 0}
	pool := &unitTables[config.KeyBits/64]
	t, _ := pool.Get().(*unitTable[K])
	if t == nil {
		t = new(unitTable[K])
	}
	defer pool.Put(t)
	t.build(left, unmixed, args.Shift, config.Heads)
	out := &joinOutput[K]{leftFirst: unit[0], JoinColumns: args.JoinColumns, JoinRows: args.JoinRows, OutputConfig: config.OutputConfig, unit: group,
		pageSize: config.PageRows, mixed: config.Mixed == 1, seed: config.Seed, keys: keyOutputOf[K](args.KeysOut, config.Widened, args.High)}
	var buffer [pairRows]K
	for first := unit[2]; first < unit[3]; first += pairRows {
		out.rightFirst = first
		t.probe(source(right[first:min(first+pairRows, unit[3])], buffer[:], unmixed), out)
	}
	out.end()
}

// unitTable holds the mixed keys of a unit's left rows bucket by bucket: one more partition, by further bits of the mix, that stays
// in the second-level cache. A lookup reads two neighbouring starts and then the keys between them, so that no load waits for more
// than one other, and rows with the same key lie side by side.
type unitTable[K word] struct {
	shift, mask uint32
	starts      [1<<16 + 2]uint16 // of the buckets, and where the last one ends
	keys        [1<<16 + 2]K
	rows        [1<<16 + 2]uint16 // whose keys these are, counted within the unit
}

var unitTables [2]sync.Pool // by the width of keys

func (t *unitTable[K]) bucket(key K) uint16 { return uint16(uint32(key) >> (t.shift & 31) & t.mask) }

// build sorts the rows of a unit into about as many buckets as there are rows, most at most.
func (t *unitTable[K]) build(left []K, d digit, shift, most uint32) {
	buckets := min(uint32(1)<<bitops.Len(uint(len(left))), most)
	t.shift, t.mask = shift, buckets-1
	clear(t.starts[:buckets+2])
	var buffer [pairRows]K
	batches := func(do func(first int, keys []K)) {
		for first := 0; first < len(left); first += pairRows {
			do(first, source(left[first:min(first+pairRows, len(left))], buffer[:], d))
		}
	}
	next := t.starts[1:] // by bucket: where its next row goes; in the end that is where the bucket behind it begins
	batches(func(_ int, keys []K) {
		for _, key := range keys {
			next[uint32(t.bucket(key))+1]++
		}
	})
	for b := range buckets {
		next[b+1] += next[b]
	}
	batches(func(first int, keys []K) {
		for i, key := range keys {
			at := &next[t.bucket(key)]
			t.keys[*at], t.rows[*at] = key, uint16(first+i)
			*at++
		}
	})
}

// probe finds the matches of mixed keys. Hardly any bucket has more than two rows, and those are compared without a branch.
func (t *unitTable[K]) probe(keys []K, out *joinOutput[K]) {
	left, right := &out.left, &out.right
	n := uint(0)
	for i := 0; i < len(keys); {
		var at, end uint32
		for at+2 >= end && i < len(keys) && n <= pairRows-2 {
			key := keys[i]
			b := uint32(t.bucket(key))
			at, end = uint32(t.starts[b]), uint32(t.starts[b+1])
			left[n], right[n] = uint32(t.rows[at]), uint32(i)
			n += oneIf(t.keys[at] == key) & oneIf(at < end)
			left[n%pairRows], right[n%pairRows] = uint32(t.rows[at+1]), uint32(i)
			n += oneIf(t.keys[at+1] == key) & oneIf(at+1 < end)
			i++
		}
		for at += 2; at < end; at++ {
			if t.keys[at] == keys[i-1] {
				if n == pairRows {
					out.write(n)
					n = 0
				}
				left[n], right[n] = uint32(t.rows[at]), uint32(i-1)
				n++
			}
		}
		if n > pairRows-2 {
			out.write(n)
			n = 0
		}
	}
	out.write(n)
}

// oneIf is 1 where a condition holds, and 0, without a branch.
func oneIf(condition bool) (n uint) {
	if condition {
		n = 1
	}
	return n
}
