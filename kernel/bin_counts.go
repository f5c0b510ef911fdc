package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// BinCountsArgs are the arguments of [BinCounts].
type BinCountsArgs = BinCountsArgsOf[backend.Range]

// BinCountsArgsOf are the same with buffers of type B.
type BinCountsArgsOf[B any] struct {
	Values B `access:"read"`
	Counts B `access:"accumulate"`
	Rows   uint32
	Bins   uint32
}

// BinCountsConfig configures [BinCounts].
type BinCountsConfig struct {
	Tile
}

// BinCounts counts values by atomic additions to device memory, for histograms of more bins than shared memory holds:
// counts[value], 32 bits, grows by the number of rows with that value. Values of at least bins are left out.
var BinCounts = define[BinCountsArgs](entry[BinCountsArgsOf[[]byte], BinCountsConfig]{
	Name:     "bin_counts",
	Defaults: BinCountsConfig{Tile: Tile{256, 8}},
	Run: func(args *BinCountsArgsOf[[]byte], config *BinCountsConfig, group uint32) {
		counts := backend.Words(args.Counts)
		for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
			for _, value := range backend.Words(args.Values)[t.first:t.end] {
				if value < args.Bins {
					atomic.AddUint32(&counts[value], 1)
				}
			}
		}
	},
})
