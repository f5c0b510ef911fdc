package kernel

import (
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

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
// were mixed; with mixed=0 they are any. With widened=1 it gets them as 64-bit words with high in the high half. unique=1 promises that no two left rows of a unit have the same key; the output rows of a
// unit are then in the order of its right rows, and otherwise in none.
var PartitionJoin = &backend.KernelSpec{
	Name:   "partition_join",
	Args:   joinArgs("units"),
	Params: []string{"first_row", "out_rows", "shift", "high"},
	Axes:   []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{
		workgroup, items(4), mixedDigits, {Name: "table", Default: 1536}, {Name: "heads", Default: 1024}, {Name: "placing", Default: AtOffsets},
		{Name: "unique", Default: 0}, {Name: "seed", Default: 0}, leftWords, rightWords, leftWords2, rightWords2, pageRows, widenedKeys,
	},
	Compare:     backend.Multiset,
	SharedBytes: func(c backend.Config) uint32 { return 4 * (c["heads"] + c["table"] + (c["workgroup"]+3)/4 + 2) },
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			partitionJoin[uint64](call, group)
		} else {
			partitionJoin[uint32](call, group)
		}
	},
}

// joinArgs are the arguments of kernels that join: where they find their work, and what all have.
func joinArgs(first string) []backend.ArgSpec {
	return []backend.ArgSpec{
		{Name: first, Access: backend.Read},
		{Name: "left_keys", Access: backend.Read},
		{Name: "right_keys", Access: backend.Read},
		{Name: "left_payload", Access: backend.Read},
		{Name: "right_payload", Access: backend.Read},
		{Name: "left_payload_2", Access: backend.Read},
		{Name: "right_payload_2", Access: backend.Read},
		{Name: "places", Access: backend.ReadWrite},
		{Name: "keys_out", Access: backend.Write},
		{Name: "left_out", Access: backend.Write},
		{Name: "right_out", Access: backend.Write},
		{Name: "left_out_2", Access: backend.Write},
		{Name: "right_out_2", Access: backend.Write},
	}
}

// The 32-bit words of a value of the payload columns; 0 for no second column.
var (
	leftWords   = backend.Constant{Name: "left_words", Default: 1}
	rightWords  = backend.Constant{Name: "right_words", Default: 1}
	leftWords2  = backend.Constant{Name: "left_words_2", Default: 0}
	rightWords2 = backend.Constant{Name: "right_words_2", Default: 0}
	pageRows    = backend.Constant{Name: "page_rows", Default: 1}
)

// Values of the constant placing of [PartitionJoin].
const (
	Counting = iota
	AtOffsets
	Reserving
	Paging
)

// BitmapWord is the 32-bit word of places at which the bitmap of [Paging] begins.
const BitmapWord = 64

// chains is a hash table of the left rows of a unit.
type chains struct {
	heads, nodes []uint32 // 1 + a left row
}

var chainPool = sync.Pool{New: func() any { return new(chains) }}

func partitionJoin[K word](call *backend.Call, group uint32) {
	c := call.Config
	unit := backend.Words(call.Args[0])[4*group:][:4]
	left, right := view[K](call.Args[1])[unit[0]:unit[1]], view[K](call.Args[2])[unit[2]:unit[3]]
	shift, mixed := call.Params[2], c["mixed"] == 1
	chainOf := func(key K) uint32 {
		if !mixed {
			key = Mix(key, 0)
		}
		return uint32(key) >> shift & (c["heads"] - 1)
	}
	t := chainPool.Get().(*chains)
	defer chainPool.Put(t)
	t.heads = grown(t.heads, int(c["heads"]))
	t.nodes = grown(t.nodes, len(left))
	clear(t.heads)
	for i := len(left) - 1; i >= 0; i-- {
		head := &t.heads[chainOf(left[i])]
		t.nodes[i], *head = *head, uint32(i)+1
	}
	next := func(key K, node uint32) uint32 {
		for node > 0 && left[node-1] != key {
			node = t.nodes[node-1]
		}
		return node
	}
	matches := func(do func(key K, left, right uint32)) {
		for i, key := range right {
			for node := next(key, t.heads[chainOf(key)]); node > 0; node = next(key, t.nodes[node-1]) {
				do(key, unit[0]+node-1, unit[2]+uint32(i))
			}
		}
	}
	joinOutput(call, group, mixed, call.Params[3], matches)
}

// joinOutput is what kernels that join make of their matches: counts, or output rows. matches calls do for each.
func joinOutput[K word](call *backend.Call, unit uint32, mixed bool, high uint32, matches func(do func(key K, left, right uint32))) {
	c := call.Config
	var total uint32
	if c["placing"] != AtOffsets {
		matches(func(K, uint32, uint32) { total++ })
	}
	at, room := uint64(0), uint64(call.Params[1])
	switch c["placing"] {
	case Counting:
		backend.Words(call.Args[7])[unit] = total
		return
	case AtOffsets:
		at = backend.Longs(call.Args[7])[unit]
	case Reserving, Paging:
		cursor := backend.Words(call.Args[7])
		if counted := atomic.AddUint32(&cursor[1], total); counted < total {
			atomic.AddUint32(&cursor[2], 1)
		}
		if c["placing"] == Paging { // the pages of one invocation, all at once
			full := (total + c["page_rows"] - 1) / c["page_rows"] * c["page_rows"]
			at = uint64(atomic.AddUint32(&cursor[0], full) - full)
			if at+uint64(full) > room {
				return
			}
			for row := call.Params[0] + uint32(at) + total; row < call.Params[0]+uint32(at)+full; row++ {
				atomic.AndUint32(&cursor[BitmapWord+row/32], ^(1 << (row % 32)))
			}
			break
		}
		for reserved := atomic.LoadUint32(&cursor[0]); ; reserved = atomic.LoadUint32(&cursor[0]) {
			if at = uint64(reserved); at+uint64(total) > room {
				return
			}
			if atomic.CompareAndSwapUint32(&cursor[0], reserved, reserved+total) {
				break
			}
		}
	}
	at += uint64(call.Params[0])
	keysOut := keyOutputOf[K](call, call.Args[8], high)
	matches(func(key K, left, right uint32) {
		if mixed {
			key = Unmix(key, c["seed"])
		}
		keysOut.put(at, key)
		copyPayload(call.Args[9], call.Args[3], c["left_words"], at, left)
		copyPayload(call.Args[10], call.Args[4], c["right_words"], at, right)
		copyPayload(call.Args[11], call.Args[5], c["left_words_2"], at, left)
		copyPayload(call.Args[12], call.Args[6], c["right_words_2"], at, right)
		at++
	})
}

// copyPayload sets row at of out to that of a payload column or, without one, to its number; out may be absent.
func copyPayload(out, payload []byte, words uint32, at uint64, row uint32) {
	switch {
	case len(out) == 0 || words == 0:
	case words == 2 && len(payload) == 0:
		backend.Longs(out)[at] = uint64(row)
	case words == 2:
		backend.Longs(out)[at] = backend.Longs(payload)[row]
	case len(payload) == 0:
		backend.Words(out)[at] = row
	default:
		backend.Words(out)[at] = backend.Words(payload)[row]
	}
}

func grown(words []uint32, n int) []uint32 {
	if cap(words) < n {
		return make([]uint32, n)
	}
	return words[:n]
}
