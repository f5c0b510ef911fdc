package kernel

import "github.com/spirjoin/spirjoin/backend"

// CascadeEncodeArgs are the arguments of [CascadeEncode].
type CascadeEncodeArgs = CascadeEncodeArgsOf[backend.Range]

// CascadeEncodeArgsOf are the same with buffers of type B.
type CascadeEncodeArgsOf[B any] struct {
	Values     B `access:"read"`
	Parts      B `access:"read"`
	Slots      B `access:"write"`
	Sizes      B `access:"write"`
	PartCount  uint32
	FirstBlock uint32
}

// CascadeConfig configures the kernels of the cascaded codec. Workgroups have any size; items is the number of values
// of an invocation whose loads overlap.
type CascadeConfig struct {
	ValueBits uint32 `axis:"32,64"`
	Tile
	Shared uint32 `axis:"0,1"` // as in [ScanTilesConfig]
}

// MaxCascadeItems is the maximum of items: further loads would take registers, and a block has no more.
const MaxCascadeItems = 32

// CascadeEncodeConfig configures [CascadeEncode].
type CascadeEncodeConfig struct {
	CascadeConfig
	Scheme uint32 // a [CascadeScheme]
}

// blockBytes is what a workgroup keeps of a block in shared memory: its values, the first rows of its runs, and a
// bitmap of these with counts. sharedBytes adds the words of a number of ranges.
func (c *CascadeConfig) blockBytes() uint32 {
	return CascadeBlock*(c.ValueBits/8+4) + CascadeBlock/32*8 + 4
}

func (c *CascadeConfig) sharedBytes(ranges uint32) uint32 { return c.blockBytes() + 16*ranges + 8 }

// CascadeEncode encodes a column block by block, all parts in one dispatch: workgroup g encodes block first_block + g
// of the column into slot g, which has [CascadeSlotWords], and writes its size in words to sizes[g]. Words of a slot
// behind that are not written. A block that the scheme does not make smaller is stored as it is. [CascadePlace] then
// moves blocks to their places. docs/codec.md has the format.
//
// Source: "Scaling Joins to a Thousand GPUs", section 4: all layers and all buffers in one kernel.
var CascadeEncode = define[CascadeEncodeArgs](entry[CascadeEncodeArgsOf[[]byte], CascadeEncodeConfig]{
	Name: "cascade_encode",
	Defaults: CascadeEncodeConfig{CascadeConfig: CascadeConfig{Tile: Tile{256, 4}},
		Scheme: uint32(CascadeRLE | CascadeDelta | CascadePack)},
	SharedBytes: func(config *CascadeEncodeConfig) uint32 { return config.sharedBytes(1) },
	Run: func(args *CascadeEncodeArgsOf[[]byte], config *CascadeEncodeConfig, group uint32) {
		if config.ValueBits == 64 {
			cascadeEncode[uint64](args, CascadeScheme(config.Scheme), group)
		} else {
			cascadeEncode[uint32](args, CascadeScheme(config.Scheme), group)
		}
	},
})

func cascadeEncode[V word](args *CascadeEncodeArgsOf[[]byte], scheme CascadeScheme, group uint32) {
	first, rows := CascadeRows(backend.Words(args.Parts)[:2*args.PartCount+2], args.FirstBlock+group)
	slotWords := uint64(CascadeSlotWords(4 * valueWords[V]()))
	slot := backend.Words(args.Slots)[uint64(group)*slotWords:]
	backend.Words(args.Sizes)[group] = uint32(EncodeCascade(slot, view[V](args.Values)[first:first+rows], scheme))
}

// EncodeCascade encodes 1 to [CascadeBlock] values, and returns the number of words written to the begin of to, which
// has room for [CascadeBlockWords].
func EncodeCascade[V word](to []uint32, values []V, scheme CascadeScheme) int {
	raw := int(CascadeBlockWords(uint32(len(values)), 4*valueWords[V]()))
	if scheme&(CascadeRLE|CascadePack) == 0 { // differences alone are no smaller
		return storeRaw(to[:raw], values)
	}
	var stage cascadeStage[V]
	var h cascadeHeader
	entries := stage.entry[:len(values)]
	if scheme&CascadeRLE != 0 {
		runs, least, greatest := stage.runsOf(values)
		h, entries = runHeader(scheme, runs, least, greatest), entries[:runs]
	} else {
		h = runHeader(scheme, 1, 1, 1)
		copy(entries, values)
	}
	packed := entries
	if scheme&CascadeDelta != 0 {
		differences(entries)
		packed = entries[1:]
	}
	h.width = 32 * valueWords[V]()
	reference := V(0)
	if scheme&CascadePack != 0 {
		all := rangeOf(packed)
		h.width, reference = all.width, all.least
	}
	layout := h.layout(uint32(len(values)), valueWords[V]())
	if int(layout.end) >= raw {
		return storeRaw(to[:raw], values)
	}
	to = to[:layout.end]
	to[0] = h.word()
	if scheme&CascadeDelta != 0 {
		putWord(to[1:], entries[0])
	}
	if scheme&CascadePack != 0 {
		putWord(to[layout.reference:], reference)
	}
	packBits(to[layout.values:], packed, reference, h.width)
	packBits(to[layout.lengths:], stage.length[:h.runs], 1+h.leastRun, h.lengthWidth)
	return int(layout.end)
}

// storeRaw stores values as they are.
func storeRaw[V word](to []uint32, values []V) int {
	h := cascadeHeader{runs: 1, width: 32 * valueWords[V]()}
	to[0] = h.word()
	copy(to[1:], backend.Words(backend.AsBytes(values)))
	return len(to)
}

func putWord[V word](to []uint32, v V) {
	to[0] = uint32(v)
	if valueWords[V]() == 2 {
		to[1] = uint32(uint64(v) >> 32)
	}
}

func wordOf[V word](from []uint32) V {
	if valueWords[V]() == 2 {
		return V(uint64(from[0]) | uint64(from[1])<<32)
	}
	return V(from[0])
}
