package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// ReduceOp is the operation of a reduction: the constant op of [Reduce]. The result of no values is its identity.
type ReduceOp uint32

const (
	ReduceSum ReduceOp = iota // modulo 2^sum_bits; identity 0
	ReduceMin                 // unsigned; identity all ones
	ReduceMax                 // unsigned; identity 0
	ReduceAnd                 // bitwise; identity all ones
	ReduceOr                  // bitwise; identity 0
)

// ReduceArgs are the arguments of [Reduce].
type ReduceArgs = ReduceArgsOf[backend.Range]

// ReduceArgsOf are the same with buffers of type B.
type ReduceArgsOf[B any] struct {
	Values      B `access:"read"`
	TileResults B `access:"write"`
	Rows        uint32
	Tiles       uint32
}

// ReduceConfig configures [Reduce].
type ReduceConfig struct {
	InBits  uint32 `axis:"32,64"`
	SumBits uint32 `axis:"32,64"`
	ShapedTile
	Op ReduceOp
}

// Reduce reduces tiles, the first step of a reduction and of a scan: tile_results[tile] is the result of op over the
// values of a tile, widened to sum_bits. In the wide shape workgroup*items is a multiple of 4.
var Reduce = define[ReduceArgs](entry[ReduceArgsOf[[]byte], ReduceConfig]{
	Name:        "reduce",
	Defaults:    ReduceConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: 64}},
	SerialItems: 4112,
	Run: func(args *ReduceArgsOf[[]byte], config *ReduceConfig, group uint32) {
		bySums(config.InBits, config.SumBits, reduce[uint32, uint32], reduce[uint32, uint64],
			reduce[uint64, uint64])(args, config, group)
	},
})

// VaryingBitsArgs are the arguments of [VaryingBits].
type VaryingBitsArgs = VaryingBitsArgsOf[backend.Range]

// VaryingBitsArgsOf are the same with buffers of type B.
type VaryingBitsArgsOf[B any] struct {
	Keys  B `access:"read"`
	Bits  B `access:"accumulate"`
	Rows  uint32
	Tiles uint32
}

// VaryingBitsConfig configures [VaryingBits].
type VaryingBitsConfig struct {
	KeyBits uint32 `axis:"32,64"`
	ShapedTile
}

// VaryingBits finds which bits of a key column vary, and whether it is sorted: bits holds three words of key_bits. The
// first becomes the AND of itself and all keys, the second the OR; the number of keys that are less than their
// predecessor is added to the low 32 bits of the third. A bit varies if the first word lacks it and the second has it.
var VaryingBits = define[VaryingBitsArgs](entry[VaryingBitsArgsOf[[]byte], VaryingBitsConfig]{
	Name:        "varying_bits",
	Defaults:    VaryingBitsConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: 64}},
	SerialItems: 4112,
	SharedBytes: func(config *VaryingBitsConfig) uint32 {
		if config.Serial == 1 {
			return 0
		}
		return config.Workgroup * (2*config.KeyBits/8 + 4)
	},
	Run: func(args *VaryingBitsArgsOf[[]byte], config *VaryingBitsConfig, group uint32) {
		if config.KeyBits == 64 {
			and, or, descents := bitsOfTiles[uint64](args, config, group)
			bits := backend.Longs(args.Bits)
			atomic.AndUint64(&bits[0], and)
			atomic.OrUint64(&bits[1], or)
			atomic.AddUint32(&backend.Words(args.Bits)[4], uint32(descents))
		} else {
			and, or, descents := bitsOfTiles[uint32](args, config, group)
			bits := backend.Words(args.Bits)
			atomic.AndUint32(&bits[0], and)
			atomic.OrUint32(&bits[1], or)
			atomic.AddUint32(&bits[2], uint32(descents))
		}
	},
})

func bitsOfTiles[K word](args *VaryingBitsArgsOf[[]byte], config *VaryingBitsConfig,
	group uint32) (and, or K, descents uint) {
	and = ^K(0)
	for t := range tiles(config, group, args.Tiles, args.Rows) {
		column := view[K](args.Keys)
		keys, before := column[t.first:t.end], K(0)
		if t.first > 0 {
			before = column[t.first-1]
		}
		for ; len(keys) >= 4; keys = keys[4:] { // an operation waits for the one before it
			k := (*[4]K)(keys)
			and &= k[0] & k[1] & (k[2] & k[3])
			or |= k[0] | k[1] | (k[2] | k[3])
			descents += oneIf(k[0] < before) + oneIf(k[1] < k[0]) + (oneIf(k[2] < k[1]) + oneIf(k[3] < k[2]))
			before = k[3]
		}
		for _, key := range keys {
			and &= key
			or |= key
			descents += oneIf(key < before)
			before = key
		}
	}
	return and, or, descents
}

func reduce[V, S word](args *ReduceArgsOf[[]byte], config *ReduceConfig, group uint32) {
	rows, count, op := args.Rows, args.Tiles, config.Op
	results := view[S](args.TileResults)
	for t := range tiles(config, group, count, rows) {
		results[t.index] = reduceColumn[V, S](op, view[V](args.Values)[t.first:t.end])
	}
}

func reduceColumn[V, S word](op ReduceOp, values []V) (result S) {
	switch op {
	case ReduceMin:
		result = ^S(0)
		for _, v := range values {
			result = min(result, S(v))
		}
	case ReduceMax:
		for _, v := range values {
			result = max(result, S(v))
		}
	case ReduceAnd:
		result = ^S(0)
		for _, v := range values {
			result &= S(v)
		}
	case ReduceOr:
		for _, v := range values {
			result |= S(v)
		}
	default:
		for _, v := range values {
			result += S(v)
		}
	}
	return result
}
