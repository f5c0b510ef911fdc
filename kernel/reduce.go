package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// ReduceOp is what a reduction makes of its values: the constant op of [Reduce].
type ReduceOp uint32

const (
	ReduceSum ReduceOp = iota // modulo 2^sum_bits; of no values 0
	ReduceMin                 // unsigned; of no values all ones
	ReduceMax                 // unsigned; of no values 0
	ReduceAnd                 // bit by bit; of no values all ones
	ReduceOr                  // bit by bit; of no values 0
)

// Reduce reduces tiles, the first step of a reduction and of a scan: tile_results[tile] is the result of op over the values of
// a tile, widened to sum_bits. In the wide shape workgroup*items is a multiple of 4.
var Reduce = &backend.KernelSpec{
	Name: "reduce",
	Args: []backend.ArgSpec{
		{Name: "values", Access: backend.Read},
		{Name: "tile_results", Access: backend.Write},
	},
	Params:    []string{"rows", "tiles"},
	Axes:      scanAxes,
	Constants: []backend.Constant{workgroup, items(64), {Name: "op", Default: uint32(ReduceSum)}},
	Run: func(call *backend.Call, group uint32) {
		scanOf(call.Config, reduce[uint32, uint32], reduce[uint32, uint64], reduce[uint64, uint64])(call, group)
	},
}

// VaryingBits finds which bits of a key column vary, and whether it is sorted: bits holds three words of key_bits, and the first
// becomes the AND of itself and all keys, the second the OR; the number of keys that are less than the one before them is added to
// the low 32 bits of the third. A bit varies if the first word lacks it and the second has it.
var VaryingBits = &backend.KernelSpec{
	Name: "varying_bits",
	Args: []backend.ArgSpec{
		{Name: "keys", Access: backend.Read},
		{Name: "bits", Access: backend.Accumulate},
	},
	Params:    []string{"rows", "tiles"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64), serial},
	Constants: []backend.Constant{workgroup, items(64)},
	SharedBytes: func(c backend.Config) uint32 {
		if c["serial"] == 1 {
			return 0
		}
		return c["workgroup"] * (2*c["key_bits"]/8 + 4)
	},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			and, or, descents := bitsOfTiles[uint64](call, group)
			bits := backend.Longs(call.Args[1])
			atomic.AndUint64(&bits[0], and)
			atomic.OrUint64(&bits[1], or)
			atomic.AddUint32(&backend.Words(call.Args[1])[4], uint32(descents))
		} else {
			and, or, descents := bitsOfTiles[uint32](call, group)
			bits := backend.Words(call.Args[1])
			atomic.AndUint32(&bits[0], and)
			atomic.OrUint32(&bits[1], or)
			atomic.AddUint32(&bits[2], uint32(descents))
		}
	},
}

func bitsOfTiles[K word](call *backend.Call, group uint32) (and, or K, descents uint) {
	and = ^K(0)
	for t := range tiles(call, group, call.Params[1], call.Params[0]) {
		column := view[K](call.Args[0])
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

func reduce[V, S word](call *backend.Call, group uint32) {
	rows, count, op := call.Params[0], call.Params[1], ReduceOp(call.Config["op"])
	results := view[S](call.Args[1])
	for t := range tiles(call, group, count, rows) {
		results[t.index] = reduceColumn[V, S](op, view[V](call.Args[0])[t.first:t.end])
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
