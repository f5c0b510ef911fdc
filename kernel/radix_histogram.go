package kernel

import "github.com/spirjoin/spirjoin/backend"

// RadixHistogram counts the digits of each tile: counts[digit*tiles + tile] is the number of rows of the tile whose digit,
// (key >> shift) & (1<<bits - 1), is digit; bits is 1 to 8 and shift less than key_bits. Every count of a digit below
// 1<<bits is written. Their exclusive scan is what [RadixScatter] takes as offsets.
var RadixHistogram = &backend.KernelSpec{
	Name: "radix_histogram",
	Args: []backend.ArgSpec{
		{Name: "keys", Access: backend.Read},
		{Name: "counts", Access: backend.Write},
	},
	Params:    []string{"rows", "tiles", "shift", "bits"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64), serial},
	Constants: []backend.Constant{workgroup, items(radixItems)},
	SharedBytes: func(c backend.Config) uint32 {
		if c["serial"] == 1 {
			return 4 * maxDigits * c["workgroup"]
		}
		return 4 * maxDigits * 4 // copies
	},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			radixHistogram[uint64](call, group)
		} else {
			radixHistogram[uint32](call, group)
		}
	},
}

func radixHistogram[K word](call *backend.Call, group uint32) {
	rows, count, shift, mask := call.Params[0], call.Params[1], call.Params[2], digitMask(call.Params[3])
	counts := backend.Words(call.Args[1])
	for t := range tiles(call, group, count, rows) {
		histogram := digitHistogram(view[K](call.Args[0])[t.first:t.end], shift, mask)
		for digit, at := 0, t.index; digit <= int(mask); digit, at = digit+1, at+int(count) {
			counts[at] = histogram[digit]
		}
	}
}

const (
	radixItems = 52 // rows per invocation of a wide tile; the two radix kernels cut rows into the same tiles
	maxDigits  = 256
)

func digitMask(bits uint32) uint8 { return uint8(1<<bits - 1) }

func digitOf[K word](key K, shift uint32, mask uint8) uint8 {
	return uint8(uint64(key)>>(shift&63)) & mask
}

// digitHistogram counts the digits of keys. It keeps four histograms, because an addition to one count waits for the
// addition before it.
func digitHistogram[K word](keys []K, shift uint32, mask uint8) (histogram [maxDigits]uint32) {
	var h [4][maxDigits]uint32
	for ; len(keys) >= 8; keys = keys[8:] {
		k := (*[8]K)(keys)
		h[0][digitOf(k[0], shift, mask)]++
		h[1][digitOf(k[1], shift, mask)]++
		h[2][digitOf(k[2], shift, mask)]++
		h[3][digitOf(k[3], shift, mask)]++
		h[0][digitOf(k[4], shift, mask)]++
		h[1][digitOf(k[5], shift, mask)]++
		h[2][digitOf(k[6], shift, mask)]++
		h[3][digitOf(k[7], shift, mask)]++
	}
	for _, key := range keys {
		h[0][digitOf(key, shift, mask)]++
	}
	for digit := range histogram {
		histogram[digit] = h[0][digit] + h[1][digit] + h[2][digit] + h[3][digit]
	}
	return histogram
}
