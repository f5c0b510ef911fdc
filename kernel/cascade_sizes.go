package kernel

import (
	bitops "math/bits"

	"github.com/spirjoin/spirjoin/backend"
)

// CascadeSizesArgs are the arguments of [CascadeSizes].
type CascadeSizesArgs = CascadeSizesArgsOf[backend.Range]

// CascadeSizesArgsOf are the same with buffers of type B.
type CascadeSizesArgsOf[B any] struct {
	Values B `access:"read"`
	Blocks B `access:"read"`
	Bytes  B `access:"write"`
}

// CascadeSizesConfig configures [CascadeSizes].
type CascadeSizesConfig struct {
	CascadeConfig
}

// CascadeSizes computes how many bytes blocks take in each scheme, without encoding them: words 2*g and 2*g+1 of blocks
// are the first row of block g and its number of rows, 1 to [CascadeBlock]; bytes[8*g + scheme] is its size as
// [CascadeEncode] makes it.
var CascadeSizes = define[CascadeSizesArgs](entry[CascadeSizesArgsOf[[]byte], CascadeSizesConfig]{
	Name:        "cascade_sizes",
	Defaults:    CascadeSizesConfig{CascadeConfig{Tile: Tile{256, 4}}},
	SharedBytes: func(config *CascadeSizesConfig) uint32 { return config.sharedBytes(3) },
	Run: func(args *CascadeSizesArgsOf[[]byte], config *CascadeSizesConfig, group uint32) {
		if config.ValueBits == 64 {
			cascadeSizes[uint64](args, group)
		} else {
			cascadeSizes[uint32](args, group)
		}
	},
})

func cascadeSizes[V word](args *CascadeSizesArgsOf[[]byte], group uint32) {
	block := backend.Words(args.Blocks)[2*group:]
	sizes := SizeCascade(view[V](args.Values)[block[0] : block[0]+block[1]])
	copy(backend.Words(args.Bytes)[CascadeSchemes*group:], sizes[:])
}

// SizeCascade returns the size in bytes of a block of 1 to [CascadeBlock] values in each scheme.
func SizeCascade[V word](values []V) (sizes [CascadeSchemes]uint32) {
	var stage cascadeStage[V]
	runs, least, greatest := stage.runsOf(values)
	all := rangeOf(values)
	differences(stage.entry[:runs])
	jumps := rangeOf(stage.entry[1:runs])
	copy(stage.entry[:], values)
	differences(stage.entry[:len(values)])
	steps := rangeOf(stage.entry[1:len(values)])
	count := uint32(len(values))
	for s := range sizes {
		scheme := CascadeScheme(s)
		h := runHeader(scheme, runs, least, greatest)
		switch {
		case scheme&CascadePack == 0:
			h.width = uint32(bitops.Len64(uint64(^V(0))))
		case scheme&CascadeDelta == 0:
			h.width = all.width
		case scheme&CascadeRLE == 0:
			h.width = steps.width
		default:
			h.width = jumps.width
		}
		sizes[s] = 4 * CascadeBlockWords(count, 4*valueWords[V]())
		if scheme != 0 {
			sizes[s] = min(sizes[s], 4*h.layout(count, valueWords[V]()).end)
		}
	}
	return sizes
}
