package kernel

import (
	"sort"

	"github.com/spirjoin/spirjoin/backend"
)

// PartitionStarts tells where partitions begin in rows that lie in the order of their digits: starts[digit] is the first row
// whose digit is not less, rows if there is none. A row of its dispatch is a digit; there may be 2^bits + 1 of them, the last of
// which is where the last partition ends. The digit of a key is that of [RadixHistogram], but for its width: bits is 1 to 32.
//
// Each invocation searches its digit by halving, which reads a few pages of the keys; reading them all takes longer.
var PartitionStarts = &backend.KernelSpec{
	Name: "partition_starts",
	Args: []backend.ArgSpec{
		{Name: "keys", Access: backend.Read},
		{Name: "starts", Access: backend.Write},
	},
	Params:    []string{"digits", "rows", "shift", "bits"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{workgroup, items(1)},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			partitionStarts[uint64](call, group)
		} else {
			partitionStarts[uint32](call, group)
		}
	},
}

func partitionStarts[K word](call *backend.Call, group uint32) {
	digits, rows, shift, width := call.Params[0], call.Params[1], call.Params[2], call.Params[3]
	keys, starts := view[K](call.Args[0]), backend.Words(call.Args[1])
	for t := range tiles(call, group, Tiles(call.Config, uint64(digits)), digits) {
		for digit := t.first; digit < t.end; digit++ {
			starts[digit] = uint32(sort.Search(int(rows), func(row int) bool {
				return uint64(keys[row])>>shift&(1<<width-1) >= uint64(digit)
			}))
		}
	}
}
