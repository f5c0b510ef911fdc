package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// MaxHistogramBits is the widest digit that [Histogram] counts.
const MaxHistogramBits = 11

// Histogram counts the digits of a column: counts[digit], 64 bits, grows by the number of rows whose digit, (key >> shift) &
// (1<<bits - 1), is digit; bits is 1 to MaxHistogramBits and shift less than key_bits. Only the low words change, so a count
// stays below 2^32. workgroup is a multiple of 4.
var Histogram = &backend.KernelSpec{
	Name: "histogram",
	Args: []backend.ArgSpec{
		{Name: "keys", Access: backend.Read},
		{Name: "counts", Access: backend.Accumulate},
	},
	Params:    []string{"rows", "shift", "bits"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{workgroup, items(128)},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			histogram[uint64](call, group)
		} else {
			histogram[uint32](call, group)
		}
	},
}

func histogram[K word](call *backend.Call, group uint32) {
	rows, shift, mask := call.Params[0], call.Params[1]&63, uint64(1)<<call.Params[2]-1
	counts := backend.Words(call.Args[1])
	for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
		var h [2][1 << MaxHistogramBits]uint32 // an addition to one count waits for the addition before it
		keys := view[K](call.Args[0])[t.first:t.end]
		for i, key := range keys {
			h[i&1][uint64(key)>>shift&mask&(1<<MaxHistogramBits-1)]++
		}
		for digit := range mask + 1 {
			if n := h[0][digit] + h[1][digit]; n > 0 {
				atomic.AddUint32(&counts[2*digit], n)
			}
		}
	}
}
