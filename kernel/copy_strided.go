package kernel

import "github.com/spirjoin/spirjoin/backend"

// CopyStridedArgs are the arguments of [CopyStrided].
type CopyStridedArgs = CopyStridedArgsOf[backend.Range]

// CopyStridedArgsOf are the same with buffers of type B.
type CopyStridedArgsOf[B any] struct {
	Source            B `access:"read"`
	Destination       B `access:"readwrite"`
	Rows              uint32
	SourceFirst       uint32
	SourceStride      uint32
	DestinationFirst  uint32
	DestinationStride uint32
}

// CopyStridedConfig configures [CopyStrided].
type CopyStridedConfig struct {
	Tile
}

// CopyStrided copies 64-bit words between strided positions: destination[destination_first + i*destination_stride] =
// source[source_first + i*source_stride] for rows words. It splits values of several words into columns of words, and
// joins them again.
var CopyStrided = define[CopyStridedArgs](entry[CopyStridedArgsOf[[]byte], CopyStridedConfig]{
	Name:     "copy_strided",
	Defaults: CopyStridedConfig{Tile: Tile{256, 8}},
	Run: func(args *CopyStridedArgsOf[[]byte], config *CopyStridedConfig, group uint32) {
		rows, source, destination := args.Rows, backend.Longs(args.Source), backend.Longs(args.Destination)
		from, to := int(args.SourceStride), int(args.DestinationStride)
		for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
			for row := t.first; row < t.end; row++ {
				destination[int(args.DestinationFirst)+row*to] = source[int(args.SourceFirst)+row*from]
			}
		}
	},
})
