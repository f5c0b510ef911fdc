package kernel

import "github.com/spirjoin/spirjoin/backend"

// ScatterArgs are the arguments of [Scatter].
type ScatterArgs = ScatterArgsOf[backend.Range]

// ScatterArgsOf are the same with buffers of type B.
type ScatterArgsOf[B any] struct {
	Values    B `access:"read"`
	IDs       B `access:"read"`
	Scattered B `access:"write"`
	Rows      uint32
}

// ScatterConfig configures [Scatter].
type ScatterConfig struct {
	ValueBits uint32 `axis:"32,64"`
	Tile
}

// Scatter writes values to the positions that row ids name: scattered[ids[i]] = values[i]. Ids are distinct; values
// that no id names are unchanged.
var Scatter = define[ScatterArgs](entry[ScatterArgsOf[[]byte], ScatterConfig]{
	Name:     "scatter",
	Defaults: ScatterConfig{Tile: Tile{256, 8}},
	Run: func(args *ScatterArgsOf[[]byte], config *ScatterConfig, group uint32) {
		if config.ValueBits == 64 {
			scatter[uint64](args, config, group)
		} else {
			scatter[uint32](args, config, group)
		}
	},
})

func scatter[V word](args *ScatterArgsOf[[]byte], config *ScatterConfig, group uint32) {
	rows := args.Rows
	scattered := view[V](args.Scattered)
	for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
		ids := backend.Words(args.IDs)[t.first:t.end]
		values := view[V](args.Values)[t.first:t.end]
		for i, id := range ids {
			scattered[id] = values[i]
		}
	}
}
