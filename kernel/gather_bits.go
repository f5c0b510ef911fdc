package kernel

import "github.com/spirjoin/spirjoin/backend"

// GatherBits fetches bits by row id, as for validity bitmaps: bit i of gathered is bit first_bit + ids[i] of bits. Bitmaps
// are little-endian: bit i is bit i%32 of word i/32. The unused bits of the last word become 0. workgroup*items is a multiple
// of 32, so that no two workgroups share a word.
var GatherBits = &backend.KernelSpec{
	Name: "gather_bits",
	Args: []backend.ArgSpec{
		{Name: "bits", Access: backend.Read},
		{Name: "ids", Access: backend.Read},
		{Name: "gathered", Access: backend.Write},
	},
	Params:    []string{"rows", "first_bit"},
	Constants: []backend.Constant{workgroup, items(32)},
	Run: func(call *backend.Call, group uint32) {
		rows, firstBit := call.Params[0], uint64(call.Params[1])
		bits, gathered := backend.Words(call.Args[0]), backend.Words(call.Args[2])
		for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
			ids := backend.Words(call.Args[1])[t.first:t.end]
			for to := t.first / 32; len(ids) > 0; to++ {
				n := min(32, len(ids))
				var word uint32
				for i, id := range ids[:n] {
					bit := firstBit + uint64(id)
					word |= bits[bit/32] >> (bit % 32) & 1 << i
				}
				gathered[to] = word
				ids = ids[n:]
			}
		}
	},
}
