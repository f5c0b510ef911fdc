package kernel

import "github.com/spirjoin/spirjoin/backend"

// RadixStartsArgs are the arguments of [RadixStarts].
type RadixStartsArgs = RadixStartsArgsOf[backend.Range]

// RadixStartsArgsOf are the same with buffers of type B.
type RadixStartsArgsOf[B any] struct {
	Offsets B `access:"read"`
	Starts  B `access:"write"`
	Digits  uint32
	Tiles   uint32
	End     uint32
}

// RadixStartsConfig configures [RadixStarts].
type RadixStartsConfig struct {
	Tile
}

// RadixStarts extracts where the partitions of a radix partition begin: starts[digit] = offsets[digit*tiles], from the
// offsets that [RadixScatter] takes, and starts[digits] = end, where the last one ends.
var RadixStarts = define[RadixStartsArgs](entry[RadixStartsArgsOf[[]byte], RadixStartsConfig]{
	Name:     "radix_starts",
	Defaults: RadixStartsConfig{Tile: Tile{256, 1}},
	Run: func(args *RadixStartsArgsOf[[]byte], config *RadixStartsConfig, group uint32) {
		digits, count, end := args.Digits, args.Tiles, args.End
		offsets, starts := backend.Words(args.Offsets), backend.Words(args.Starts)
		for t := range tiles(config, group, Tiles(config, uint64(digits)+1), digits+1) {
			for digit := t.first; digit < t.end; digit++ {
				starts[digit] = end
				if digit < int(digits) {
					starts[digit] = offsets[digit*int(count)]
				}
			}
		}
	},
})
