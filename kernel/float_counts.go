package kernel

import (
	"math"

	"github.com/spirjoin/spirjoin/backend"
)

// FloatCountsArgs are the arguments of [FloatCounts].
type FloatCountsArgs = FloatCountsArgsOf[backend.Range]

// FloatCountsArgsOf are the same with buffers of type B.
type FloatCountsArgsOf[B any] struct {
	Floats B `access:"read"`
	Counts B `access:"write"`
	Rows   uint32
}

// FloatCountsConfig configures [FloatCounts].
type FloatCountsConfig struct {
	Tile
}

// FloatCounts turns counts that were blended as floats into integers: counts[i] = floats[i], which is a whole number
// from 0 to 2^24.
var FloatCounts = define[FloatCountsArgs](entry[FloatCountsArgsOf[[]byte], FloatCountsConfig]{
	Name:     "float_counts",
	Defaults: FloatCountsConfig{Tile: Tile{256, 8}},
	Run: func(args *FloatCountsArgsOf[[]byte], config *FloatCountsConfig, group uint32) {
		floats, counts := backend.Words(args.Floats), backend.Words(args.Counts)
		for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
			for row := t.first; row < t.end; row++ {
				counts[row] = uint32(math.Float32frombits(floats[row]))
			}
		}
	},
})
