package kernel

import "github.com/spirjoin/spirjoin/backend"

// SplitPairsArgs are the arguments of [SplitPairs].
type SplitPairsArgs = SplitPairsArgsOf[backend.Range]

// SplitPairsArgsOf are the same with buffers of type B.
type SplitPairsArgsOf[B any] struct {
	Pairs B `access:"read"`
	Left  B `access:"write"`
	Right B `access:"write"`
	Rows  uint32
}

// SplitPairsConfig configures [SplitPairs].
type SplitPairsConfig struct {
	Tile
}

// SplitPairs makes two columns of pairs of 32-bit words: left[i] and right[i] are the first and the second word of
// pairs[i].
var SplitPairs = define[SplitPairsArgs](entry[SplitPairsArgsOf[[]byte], SplitPairsConfig]{
	Name:     "split_pairs",
	Defaults: SplitPairsConfig{Tile: Tile{256, 8}},
	Run: func(args *SplitPairsArgsOf[[]byte], config *SplitPairsConfig, group uint32) {
		pairs, left, right := backend.Longs(args.Pairs), backend.Words(args.Left), backend.Words(args.Right)
		for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
			for row := t.first; row < t.end; row++ {
				left[row], right[row] = uint32(pairs[row]), uint32(pairs[row]>>32)
			}
		}
	},
})
