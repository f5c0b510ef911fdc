package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// RadixCountsArgs are the arguments of [RadixCounts].
type RadixCountsArgs = RadixCountsArgsOf[backend.Range]

// RadixCountsArgsOf are the same with buffers of type B.
type RadixCountsArgsOf[B any] struct {
	Keys    B `access:"read"`
	Counts  B `access:"accumulate"`
	High    B `access:"readwrite"`
	Offsets B `access:"write"`
	Rows    uint32
	Passes  uint32
	Shifts0 uint32
	Shifts1 uint32
	Bits0   uint32
	Bits1   uint32
	Seed    uint32
}

// RadixCountsConfig configures [RadixCounts].
type RadixCountsConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
	Mixed    uint32
	Counters uint32
	Narrow   uint32
}

// RadixCounts counts all digits that a sort will need in one read of the keys: it adds the number of rows whose digit
// in that pass is digit to counts[256*pass + digit]. Pass p takes its shift from byte p%4 of shifts_0, or from pass 4
// on of shifts_1, and its number of bits, 1 to 8, from the same byte of bits_0 or bits_1. Digits are as in
// [RadixHistogram]. The constant counters is the number of counters of a workgroup in shared memory, at least
// 256*passes; with more, neighbours count in different copies.
//
// The workgroup that finishes last writes the exclusive scan of the counts of each pass to offsets, the argument of
// [RadixScatter]. counts[256*passes] numbers the workgroups as they finish: it is 0 before, and their number afterwards.
var RadixCounts = define[RadixCountsArgs](entry[RadixCountsArgsOf[[]byte], RadixCountsConfig]{
	Name:        "radix_counts",
	Defaults:    RadixCountsConfig{Tile: Tile{256, 32}, Counters: 4096},
	SharedBytes: func(config *RadixCountsConfig) uint32 { return 4 * config.Counters },
	Run: func(args *RadixCountsArgsOf[[]byte], config *RadixCountsConfig, group uint32) {
		if config.KeyBits == 64 {
			radixCounts[uint64](args, config, group)
		} else {
			radixCounts[uint32](args, config, group)
		}
	},
})

func radixCounts[K word](args *RadixCountsArgsOf[[]byte], config *RadixCountsConfig, group uint32) {
	rows, passes, seed := args.Rows, args.Passes, args.Seed
	keys, counts, offsets := keysOf[K](args.Keys, config.Narrow), backend.Words(args.Counts), backend.Words(args.Offsets)
	all := Tiles(config, uint64(rows))
	for t := range tiles(config, group, all, rows) {
		keys.check(args.High, t.first, t.end)
		for pass := range passes {
			shift := [2]uint32{args.Shifts0, args.Shifts1}[pass/4] >> (pass % 4 * 8) & 255
			width := [2]uint32{args.Bits0, args.Bits1}[pass/4] >> (pass % 4 * 8) & 255
			histogram := digitHistogram(keys, t.first, t.end, newDigit(config.Mixed, shift, width, seed))
			for digit, n := range histogram {
				if n > 0 {
					atomic.AddUint32(&counts[pass*maxDigits+uint32(digit)], n)
				}
			}
		}
		if atomic.AddUint32(&counts[passes*maxDigits], 1) < all {
			continue
		}
		var sum uint32
		for i := range passes * maxDigits {
			if i%maxDigits == 0 {
				sum = 0
			}
			offsets[i] = sum
			sum += atomic.LoadUint32(&counts[i])
		}
	}
}
