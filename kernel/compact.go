package kernel

import (
	bitops "math/bits"

	"github.com/spirjoin/spirjoin/backend"
)

// CompactCount counts the set bits of each tile of a bitmap: counts[tile] is the number of rows of the tile whose bit is set. Their
// exclusive scan is what [Compact] takes as offsets. In the wide shape of both, workgroup*items is a multiple of 32.
var CompactCount = &backend.KernelSpec{
	Name: "compact_count",
	Args: []backend.ArgSpec{
		{Name: "bits", Access: backend.Read},
		{Name: "counts", Access: backend.Write},
	},
	Params:    []string{"rows", "tiles"},
	Axes:      []backend.Axis{serial},
	Constants: []backend.Constant{workgroup, items(16)},
	Run: func(call *backend.Call, group uint32) {
		rows, count := call.Params[0], call.Params[1]
		for t := range tiles(call, group, count, rows) {
			sum := 0
			for row := t.first; row < t.end; {
				word, next := bitsFrom(backend.Words(call.Args[0]), row, t.end)
				sum += bitops.OnesCount32(word)
				row = next
			}
			backend.Words(call.Args[1])[t.index] = uint32(sum)
		}
	},
}

// Compact keeps the rows whose bit is set, in their order: a row goes to offsets[tile] + the number of set bits of the tile before
// it. offsets are 64-bit, below 2^32. Absent values are row numbers, 32-bit. In the wide shape items is at most MaxCompactItems.
var Compact = &backend.KernelSpec{
	Name: "compact",
	Args: []backend.ArgSpec{
		{Name: "bits", Access: backend.Read},
		{Name: "offsets", Access: backend.Read},
		{Name: "values", Access: backend.Read},
		{Name: "kept", Access: backend.Write},
	},
	Params:    []string{"rows", "tiles"},
	Axes:      []backend.Axis{valueBits, serial},
	Constants: []backend.Constant{workgroup, items(16)},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["value_bits"] == 64 {
			compact[uint64](call, group)
		} else {
			compact[uint32](call, group)
		}
	},
}

// MaxCompactItems is the most that items may be in the wide shape of [Compact].
const MaxCompactItems = 32

func compact[V word](call *backend.Call, group uint32) {
	rows, count := call.Params[0], call.Params[1]
	values, kept := view[V](call.Args[2]), view[V](call.Args[3])
	for t := range tiles(call, group, count, rows) {
		to := backend.Longs(call.Args[1])[t.index]
		for row := t.first; row < t.end; {
			word, next := bitsFrom(backend.Words(call.Args[0]), row, t.end)
			for ; word != 0; word &= word - 1 {
				i := row + bitops.TrailingZeros32(word)
				if len(values) > 0 {
					kept[to] = values[i]
				} else {
					kept[to] = V(i)
				}
				to++
			}
			row = next
		}
	}
}

// bitsFrom returns the bits of the rows from row on that lie in its word and before end, and the row behind them.
func bitsFrom(bitmap []uint32, row, end int) (word uint32, next int) {
	next = min(row&^31+32, end)
	return bitmap[row/32] >> (row % 32) & (1<<(next-row) - 1), next
}
