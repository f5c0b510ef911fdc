package kernel

import "github.com/spirjoin/spirjoin/backend"

// GatherBitsArgs are the arguments of [GatherBits].
type GatherBitsArgs = GatherBitsArgsOf[backend.Range]

// GatherBitsArgsOf are the same with buffers of type B.
type GatherBitsArgsOf[B any] struct {
	Bits     B `access:"read"`
	IDs      B `access:"read"`
	Gathered B `access:"write"`
	Rows     uint32
	FirstBit uint32
}

// GatherBitsConfig configures [GatherBits].
type GatherBitsConfig struct {
	Tile
}

// GatherBits fetches bits by row id, as for validity bitmaps: bit i of gathered is bit first_bit + ids[i] of bits.
// Bitmaps are little-endian: bit i is bit i%32 of word i/32. The unused bits of the last word become 0. workgroup*items
// is a multiple of 32, so that no two workgroups share a word.
var GatherBits = define[GatherBitsArgs](entry[GatherBitsArgsOf[[]byte], GatherBitsConfig]{
	Name:     "gather_bits",
	Defaults: GatherBitsConfig{Tile: Tile{256, 32}},
	Run: func(args *GatherBitsArgsOf[[]byte], config *GatherBitsConfig, group uint32) {
		rows, firstBit := args.Rows, uint64(args.FirstBit)
		bits, gathered := backend.Words(args.Bits), backend.Words(args.Gathered)
		for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
			ids := backend.Words(args.IDs)[t.first:t.end]
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
})
