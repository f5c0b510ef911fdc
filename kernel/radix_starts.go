package kernel

import "github.com/spirjoin/spirjoin/backend"

// RadixStarts tells where the partitions of a radix partition begin: starts[digit] = offsets[digit*tiles], of the offsets that
// [RadixScatter] takes, and starts[digits] = end, where the last one ends.
var RadixStarts = &backend.KernelSpec{
	Name: "radix_starts",
	Args: []backend.ArgSpec{
		{Name: "offsets", Access: backend.Read},
		{Name: "starts", Access: backend.Write},
	},
	Params:    []string{"digits", "tiles", "end"},
	Constants: []backend.Constant{workgroup, items(1)},
	Run: func(call *backend.Call, group uint32) {
		digits, count, end := call.Params[0], call.Params[1], call.Params[2]
		offsets, starts := backend.Words(call.Args[0]), backend.Words(call.Args[1])
		for t := range tiles(call, group, Tiles(call.Config, uint64(digits)+1), digits+1) {
			for digit := t.first; digit < t.end; digit++ {
				starts[digit] = end
				if digit < int(digits) {
					starts[digit] = offsets[digit*int(count)]
				}
			}
		}
	},
}
