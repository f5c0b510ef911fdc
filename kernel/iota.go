package kernel

import "github.com/spirjoin/spirjoin/backend"

// IotaArgs are the arguments of [Iota].
type IotaArgs = IotaArgsOf[backend.Range]

// IotaArgsOf are the same with buffers of type B.
type IotaArgsOf[B any] struct {
	Values B `access:"write"`
	Rows   uint32
	First  uint32
}

// IotaConfig configures [Iota].
type IotaConfig struct {
	Tile
}

// Iota numbers rows: values[i] = first + i, modulo 2^32.
var Iota = define[IotaArgs](entry[IotaArgsOf[[]byte], IotaConfig]{
	Name:     "iota",
	Defaults: IotaConfig{Tile: Tile{256, 8}},
	Run: func(args *IotaArgsOf[[]byte], config *IotaConfig, group uint32) {
		rows, first := args.Rows, args.First
		for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
			values := backend.Words(args.Values)[t.first:t.end]
			for i := range values {
				values[i] = first + uint32(t.first+i)
			}
		}
	},
})
