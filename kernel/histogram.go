package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// MaxHistogramBits is the widest digit that [Histogram] counts.
const MaxHistogramBits = 11

// HistogramArgs are the arguments of [Histogram].
type HistogramArgs = HistogramArgsOf[backend.Range]

// HistogramArgsOf are the same with buffers of type B.
type HistogramArgsOf[B any] struct {
	Keys   B `access:"read"`
	Counts B `access:"accumulate"`
	Rows   uint32
	Shift  uint32
	Bits   uint32
}

// HistogramConfig configures [Histogram].
type HistogramConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
}

// Histogram counts the digits of a column: the number of rows whose digit, (key >> shift) & (1<<bits - 1), is digit is
// added to counts[digit], 64 bits; bits is 1 to MaxHistogramBits and shift is less than key_bits. Only the low words
// change, so a count must stay below 2^32. workgroup is a multiple of 4.
var Histogram = define[HistogramArgs](entry[HistogramArgsOf[[]byte], HistogramConfig]{
	Name:     "histogram",
	Defaults: HistogramConfig{Tile: Tile{256, 128}},
	Run: func(args *HistogramArgsOf[[]byte], config *HistogramConfig, group uint32) {
		if config.KeyBits == 64 {
			histogram[uint64](args, config, group)
		} else {
			histogram[uint32](args, config, group)
		}
	},
})

func histogram[K word](args *HistogramArgsOf[[]byte], config *HistogramConfig, group uint32) {
	rows, shift, mask := args.Rows, args.Shift&63, uint64(1)<<args.Bits-1
	counts := backend.Words(args.Counts)
	for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
		var h [2][1 << MaxHistogramBits]uint32 // an addition to one count waits for the addition before it
		keys := view[K](args.Keys)[t.first:t.end]
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
