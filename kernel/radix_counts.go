package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// RadixCounts counts all digits that a sort will need in one read of the keys: it adds to counts[256*pass + digit] the number
// of rows whose digit of that pass is digit. Pass p takes its shift from byte p%4 of shifts_0, or from pass 4 on of shifts_1,
// and its number of bits, 1 to 8, from the same byte of bits_0 and bits_1; digits are those of [RadixHistogram]. The constant
// counters is the number of counters that a workgroup has in shared memory, at least 256*passes: with more, neighbours count
// in different copies.
var RadixCounts = &backend.KernelSpec{
	Name: "radix_counts",
	Args: []backend.ArgSpec{
		{Name: "keys", Access: backend.Read},
		{Name: "counts", Access: backend.Accumulate},
		{Name: "high", Access: backend.ReadWrite},
	},
	Params:      []string{"rows", "passes", "shifts_0", "shifts_1", "bits_0", "bits_1", "seed"},
	Axes:        []backend.Axis{bits("key_bits", 32, 64)},
	Constants:   []backend.Constant{workgroup, items(32), mixedDigits, {Name: "counters", Default: 4096}, narrowKeys},
	SharedBytes: func(c backend.Config) uint32 { return 4 * c["counters"] },
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			radixCounts[uint64](call, group)
		} else {
			radixCounts[uint32](call, group)
		}
	},
}

func radixCounts[K word](call *backend.Call, group uint32) {
	rows, passes, seed := call.Params[0], call.Params[1], call.Params[6]
	keys, counts := keysOf[K](call, 0), backend.Words(call.Args[1])
	for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
		keys.check(call.Args[2], t.first, t.end)
		for pass := range passes {
			shift := call.Params[2+pass/4] >> (pass % 4 * 8) & 255
			width := call.Params[4+pass/4] >> (pass % 4 * 8) & 255
			histogram := digitHistogram(keys, t.first, t.end, newDigit(call.Config, shift, width, seed))
			for digit, n := range histogram {
				if n > 0 {
					atomic.AddUint32(&counts[pass*maxDigits+uint32(digit)], n)
				}
			}
		}
	}
}
