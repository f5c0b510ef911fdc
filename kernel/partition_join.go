package kernel

import (
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// PartitionJoin joins the units of a partitioned hash join that [PartitionPieces] lists, a workgroup a unit: the left rows of a
// unit, at most the constant table of them, are chained in a hash table in shared memory by bits of their keys, and the right
// rows are looked up. Every pair of rows with equal keys is an output row: keys_out gets the key, left_out and right_out a
// payload value of 32*left_words and 32*right_words bits or, without payload, the row number, left_rows and right_rows the row
// numbers. What is absent is not written.
//
// The constant placing says where output rows go. Counting: places receives the number of output rows of each unit, 32 bits.
// AtOffsets: places holds 64-bit output rows of the units' first ones; of all rows those from first = first_hi<<32 | first_lo
// on are written, out_rows at most, so that an output may be made in parts. Reserving: a workgroup takes the next free rows of
// out_rows (RT 3.2.2, a chunk as long as needed); places is a cursor of three words, zero before: rows reserved, and the 64-bit
// number of all rows. Where the two differ, or pass out_rows, rows are missing.
//
// With mixed=1 keys are those of a mixed partition with that seed and shift, at most 16, bits, and keys_out gets the keys that
// were mixed; with mixed=0 they are any. unique=1 promises that no two left rows of a unit have the same key; the output rows of a
// unit are then in the order of its right rows, and otherwise in none.
var PartitionJoin = &backend.KernelSpec{
	Name:   "partition_join",
	Args:   joinArgs("units"),
	Params: []string{"first_lo", "first_hi", "out_rows", "shift", "seed"},
	Axes:   []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{
		workgroup, items(4), mixedDigits, {Name: "table", Default: 1536}, {Name: "heads", Default: 1024}, {Name: "placing", Default: AtOffsets},
		{Name: "unique", Default: 0}, {Name: "left_words", Default: 1}, {Name: "right_words", Default: 1},
	},
	Compare:     backend.Multiset,
	SharedBytes: func(c backend.Config) uint32 { return 4 * (c["heads"] + c["table"] + (c["workgroup"]+3)/4 + 3) },
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
		{Name: "places", Access: backend.ReadWrite},
		{Name: "keys_out", Access: backend.Write},
		{Name: "left_out", Access: backend.Write},
		{Name: "right_out", Access: backend.Write},
		{Name: "left_rows", Access: backend.Write},
		{Name: "right_rows", Access: backend.Write},
	}
}

// Values of the constant placing of [PartitionJoin].
const (
	Counting = iota
	AtOffsets
	Reserving
)

// chains is a hash table of the left rows of a unit.
type chains struct {
	heads, nodes []uint32 // 1 + a left row
}

var chainPool = sync.Pool{New: func() any { return new(chains) }}

func partitionJoin[K word](call *backend.Call, group uint32) {
	c := call.Config
	unit := backend.Words(call.Args[0])[4*group:][:4]
	left, right := view[K](call.Args[1])[unit[0]:unit[1]], view[K](call.Args[2])[unit[2]:unit[3]]
	shift, seed, mixed := call.Params[3], call.Params[4], c["mixed"] == 1
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
	joinOutput(call, group, mixed, seed, matches)
}

// joinOutput is what kernels that join make of their matches: counts, or output rows. matches calls do for each.
func joinOutput[K word](call *backend.Call, unit uint32, mixed bool, seed uint32, matches func(do func(key K, left, right uint32))) {
	c := call.Config
	var total uint32
	if c["placing"] != AtOffsets {
		matches(func(K, uint32, uint32) { total++ })
	}
	at, end := uint64(0), uint64(call.Params[2]) // relative to the first row that is written
	switch c["placing"] {
	case Counting:
		backend.Words(call.Args[5])[unit] = total
		return
	case AtOffsets:
		at = backend.Longs(call.Args[5])[unit] - (uint64(call.Params[0]) | uint64(call.Params[1])<<32)
	case Reserving:
		cursor := backend.Words(call.Args[5])
		if counted := atomic.AddUint32(&cursor[1], total); counted < total {
			atomic.AddUint32(&cursor[2], 1)
		}
		for reserved := atomic.LoadUint32(&cursor[0]); ; reserved = atomic.LoadUint32(&cursor[0]) {
			if at = uint64(reserved); at+uint64(total) > end {
				return
			}
			if atomic.CompareAndSwapUint32(&cursor[0], reserved, reserved+total) {
				break
			}
		}
	}
	keysOut := view[K](call.Args[6])
	matches(func(key K, left, right uint32) {
		if at < end {
			if mixed {
				key = Unmix(key, seed)
			}
			if keysOut != nil {
				keysOut[at] = key
			}
			copyPayload(call.Args[7], call.Args[3], c["left_words"], at, left)
			copyPayload(call.Args[8], call.Args[4], c["right_words"], at, right)
			copyPayload(call.Args[9], nil, 1, at, left)
			copyPayload(call.Args[10], nil, 1, at, right)
		}
		at++
	})
}

// copyPayload sets row at of out to that of a payload column or, without one, to its number; out may be absent.
func copyPayload(out, payload []byte, words uint32, at uint64, row uint32) {
	switch {
	case len(out) == 0:
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
