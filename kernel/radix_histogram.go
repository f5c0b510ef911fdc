package kernel

import "github.com/spirjoin/spirjoin/backend"

// RadixHistogramArgs are the arguments of [RadixHistogram].
type RadixHistogramArgs = RadixHistogramArgsOf[backend.Range]

// RadixHistogramArgsOf are the same with buffers of type B.
type RadixHistogramArgsOf[B any] struct {
	Keys   B `access:"read"`
	Counts B `access:"write"`
	High   B `access:"readwrite"`
	Rows   uint32
	Tiles  uint32
	Shift  uint32
	Bits   uint32
	Seed   uint32
}

// RadixHistogramConfig configures [RadixHistogram].
type RadixHistogramConfig struct {
	KeyBits uint32 `axis:"32,64"`
	ShapedTile
	Mixed uint32 // 1: digits of [Mix] of the key and the parameter seed, which depend on the whole key
	// 1: keys are the low words of 64-bit keys; high words are compared with word 0 of high, and word 1 becomes nonzero
	// if one differs
	Narrow uint32
	// capacity of the serial shape's shared memory in digits, a power of 2 from 256 on; the wide shape has 256
	Digits uint32
}

// RadixHistogram counts the digits of each tile: counts[digit*tiles + tile] is the number of rows of the tile whose
// digit, (key >> shift) & (1<<bits - 1) of the key or of its mix, is digit. bits is 1 to 8, or in the serial shape as
// many as the constant digits has room for; shift is less than key_bits, and a digit that begins in the low word of a
// 64-bit key must end in it. The counts of all digits below 1<<bits are written. Their exclusive scan is the argument
// offsets of [RadixScatter].
var RadixHistogram = define[RadixHistogramArgs](entry[RadixHistogramArgsOf[[]byte], RadixHistogramConfig]{
	Name:        "radix_histogram",
	Defaults:    RadixHistogramConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: radixItems}, Digits: 256},
	SerialItems: 4112,
	SharedBytes: func(config *RadixHistogramConfig) uint32 {
		const copies = 4
		if config.Serial == 1 {
			return config.Digits * config.Workgroup * 4
		}
		return maxDigits * copies * 4
	},
	Run: func(args *RadixHistogramArgsOf[[]byte], config *RadixHistogramConfig, group uint32) {
		if config.KeyBits == 64 {
			radixHistogram[uint64](args, config, group)
		} else {
			radixHistogram[uint32](args, config, group)
		}
	},
})

const radixItems = 7 // rows per invocation of a wide tile; the two radix kernels cut rows into the same tiles

func radixHistogram[K word](args *RadixHistogramArgsOf[[]byte], config *RadixHistogramConfig, group uint32) {
	rows, count := args.Rows, args.Tiles
	d := newDigit(config.Mixed, args.Shift, args.Bits, args.Seed)
	keys, counts := keysOf[K](args.Keys, config.Narrow), backend.Words(args.Counts)
	for t := range tiles(config, group, count, rows) {
		keys.check(args.High, t.first, t.end)
		if width := args.Bits; 1<<width > maxDigits {
			countWideDigits(keys, t, d, width, counts, int(count))
			continue
		}
		histogram := digitHistogram(keys, t.first, t.end, d)
		for digit, at := 0, t.index; digit <= int(d.mask); digit, at = digit+1, at+int(count) {
			counts[at] = histogram[digit]
		}
	}
}

// countWideDigits counts the digits of a tile, of width bits, which may have more than maxDigits values.
func countWideDigits[K word](keys keyColumn[K], t tile, d digit, width uint32, counts []uint32, tiles int) {
	for at := t.index; at < tiles<<width; at += tiles {
		counts[at] = 0
	}
	var buffer [1024]K
	for first := t.first; first < t.end; first += len(buffer) {
		for _, key := range keys.source(first, min(t.end, first+len(buffer)), buffer[:], d) {
			counts[wideDigitOf(key, d.shift, width)*tiles+t.index]++
		}
	}
}

// digitHistogram counts the digits of the keys of rows first to end-1.
func digitHistogram[K word](keys keyColumn[K], first, end int, d digit) (histogram [maxDigits]uint32) {
	if !d.mixed && keys.wide == nil {
		countDigits(keys.own[first:end], d, &histogram)
		return histogram
	}
	var buffer [1024]K
	for ; first < end; first += len(buffer) {
		countDigits(keys.source(first, min(end, first+len(buffer)), buffer[:], d), d, &histogram)
	}
	return histogram
}

// countDigits keeps four histograms, because an addition to one count waits for the addition before it.
func countDigits[K word](keys []K, d digit, histogram *[maxDigits]uint32) {
	var h [4][maxDigits]uint32
	shift, mask := d.shift, d.mask
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
		histogram[digit] += h[0][digit] + h[1][digit] + h[2][digit] + h[3][digit]
	}
}
