package kernel

import "github.com/spirjoin/spirjoin/backend"

// MarkKeptArgs are the arguments of [MarkKept].
type MarkKeptArgs = MarkKeptArgsOf[backend.Range]

// MarkKeptArgsOf are the same with buffers of type B.
type MarkKeptArgsOf[B any] struct {
	Keep  B `access:"read"`
	IDs   B `access:"read"`
	Marks B `access:"accumulate"`
	Rows  uint32
}

// MarkKeptConfig configures [MarkKept].
type MarkKeptConfig struct {
	Tile
}

// MarkKept marks the rows of pairs that are kept: it sets bit ids[i] of the bitmap marks where bit i of the bitmap keep
// is set. Ids may repeat; bits that are set before stay.
var MarkKept = define[MarkKeptArgs](entry[MarkKeptArgsOf[[]byte], MarkKeptConfig]{
	Name:     "mark_kept",
	Defaults: MarkKeptConfig{Tile: Tile{256, 8}},
	Run: func(args *MarkKeptArgsOf[[]byte], config *MarkKeptConfig, group uint32) {
		keep, ids, marks := backend.Words(args.Keep), backend.Words(args.IDs), marker(backend.Words(args.Marks))
		for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
			for i := t.first; i < t.end; i++ {
				if keep[i/32]>>(i%32)&1 != 0 {
					marks.mark(ids[i])
				}
			}
		}
	},
})
