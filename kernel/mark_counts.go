package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// MarkCountsArgs are the arguments of [MarkCounts].
type MarkCountsArgs = MarkCountsArgsOf[backend.Range]

// MarkCountsArgsOf are the same with buffers of type B.
type MarkCountsArgsOf[B any] struct {
	Counts B `access:"read"`
	IDs    B `access:"read"`
	Marks  B `access:"accumulate"`
	Rows   uint32
}

// MarkCountsConfig configures [MarkCounts].
type MarkCountsConfig struct {
	Tile
}

// MarkCounts marks the rows whose count is not 0: it sets bit ids[i] of the bitmap marks, or bit i if ids is absent, if
// counts[i] > 0. Bits that are already set stay set. workgroup*items is a multiple of 32, so that without ids no two
// workgroups share a word.
var MarkCounts = define[MarkCountsArgs](entry[MarkCountsArgsOf[[]byte], MarkCountsConfig]{
	Name:     "mark_counts",
	Defaults: MarkCountsConfig{Tile: Tile{256, 8}},
	Run: func(args *MarkCountsArgsOf[[]byte], config *MarkCountsConfig, group uint32) {
		marks := backend.Words(args.Marks)
		for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
			counts := backend.Words(args.Counts)[t.first:t.end]
			if args.IDs != nil {
				for i, id := range backend.Words(args.IDs)[t.first:t.end] {
					if counts[i] > 0 {
						atomic.OrUint32(&marks[id/32], 1<<(id%32))
					}
				}
				continue
			}
			for to := t.first / 32; len(counts) > 0; to++ {
				n, word := min(32, len(counts)), uint32(0)
				for i, count := range counts[:n] {
					word |= min(count, 1) << i
				}
				marks[to] |= word
				counts = counts[n:]
			}
		}
	},
})
