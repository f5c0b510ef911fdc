package kernel

import "github.com/spirjoin/spirjoin/backend"

// GatherArgs are the arguments of [Gather].
type GatherArgs = GatherArgsOf[backend.Range]

// GatherArgsOf are the same with buffers of type B.
type GatherArgsOf[B any] struct {
	Values   B `access:"read"`
	IDs      B `access:"read"`
	Gathered B `access:"write"`
	Rows     uint32
}

// GatherConfig configures [Gather].
type GatherConfig struct {
	ValueBits uint32 `axis:"32,64"`
	Tile
}

// Gather fetches values by row id: gathered[i] = values[ids[i]]. Ids may repeat and come in any order.
var Gather = define[GatherArgs](entry[GatherArgsOf[[]byte], GatherConfig]{
	Name:     "gather",
	Defaults: GatherConfig{Tile: Tile{256, 8}},
	Run: func(args *GatherArgsOf[[]byte], config *GatherConfig, group uint32) {
		if config.ValueBits == 64 {
			gather[uint64](args, config, group)
		} else {
			gather[uint32](args, config, group)
		}
	},
})

func gather[V word](args *GatherArgsOf[[]byte], config *GatherConfig, group uint32) {
	rows := args.Rows
	values := view[V](args.Values)
	for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
		ids := backend.Words(args.IDs)[t.first:t.end]
		gathered := view[V](args.Gathered)[t.first:t.end]
		for i, id := range ids {
			gathered[i] = values[id]
		}
	}
}
