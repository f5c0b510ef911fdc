package kernel

import "github.com/spirjoin/spirjoin/backend"

// CopyArgs are the arguments of [Copy].
type CopyArgs = CopyArgsOf[backend.Range]

// CopyArgsOf are the same with buffers of type B.
type CopyArgsOf[B any] struct {
	Source           B `access:"read"`
	Destination      B `access:"write"`
	Rows             uint32
	SourceFirst      uint32
	DestinationFirst uint32
}

// CopyConfig configures [Copy].
type CopyConfig struct {
	Tile
}

// Copy copies 32-bit words: destination[destination_first + i] = source[source_first + i] for rows words. The two must
// not overlap. workgroup is a multiple of 4.
var Copy = define[CopyArgs](entry[CopyArgsOf[[]byte], CopyConfig]{
	Name:     "copy",
	Defaults: CopyConfig{Tile: Tile{256, 32}},
	Run: func(args *CopyArgsOf[[]byte], config *CopyConfig, group uint32) {
		rows := args.Rows
		source, destination := backend.Words(args.Source)[args.SourceFirst:],
			backend.Words(args.Destination)[args.DestinationFirst:]
		for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
			copy(destination[t.first:t.end], source[t.first:t.end])
		}
	},
})
