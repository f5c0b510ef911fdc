package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// CascadeDecodeArgs are the arguments of [CascadeDecode].
type CascadeDecodeArgs = CascadeDecodeArgsOf[backend.Range]

// CascadeDecodeArgsOf are the same with buffers of type B.
type CascadeDecodeArgsOf[B any] struct {
	Payload      B `access:"read"`
	Directory    B `access:"read"`
	Parts        B `access:"read"`
	Values       B `access:"write"`
	Status       B `access:"accumulate"`
	PartCount    uint32
	FirstBlock   uint32
	PayloadWords uint32
}

// CascadeDecodeConfig configures [CascadeDecode].
type CascadeDecodeConfig struct {
	CascadeConfig
}

// CascadeDecode decodes blocks of all parts in one dispatch: workgroup g decodes block b = first_block + g, which lies
// in words directory[b] to directory[b+1]-1 of payload. Payload and directory are untrusted: a block that does not
// follow the format leaves its rows as they are, and status[0] becomes the greatest of these b+1, if it was less. Parts
// are the receiver's own.
var CascadeDecode = define[CascadeDecodeArgs](entry[CascadeDecodeArgsOf[[]byte], CascadeDecodeConfig]{
	Name:     "cascade_decode",
	Defaults: CascadeDecodeConfig{CascadeConfig{Tile: Tile{256, 4}}},
	SharedBytes: func(config *CascadeDecodeConfig) uint32 {
		const grains = CascadeBlock / 32
		return config.blockBytes() + grains*(config.ValueBits/8+4) + 4
	},
	Run: func(args *CascadeDecodeArgsOf[[]byte], config *CascadeDecodeConfig, group uint32) {
		if config.ValueBits == 64 {
			cascadeDecode[uint64](args, args.FirstBlock+group)
		} else {
			cascadeDecode[uint32](args, args.FirstBlock+group)
		}
	},
})

func cascadeDecode[V word](args *CascadeDecodeArgsOf[[]byte], block uint32) {
	first, rows := CascadeRows(backend.Words(args.Parts)[:2*args.PartCount+2], block)
	directory := backend.Words(args.Directory)
	begin, end := directory[block], directory[block+1]
	if begin <= end && end <= args.PayloadWords &&
		DecodeCascade(view[V](args.Values)[first:first+rows], backend.Words(args.Payload)[begin:end]) {
		return
	}
	status := &backend.Words(args.Status)[0]
	for {
		if old := atomic.LoadUint32(status); old > block || atomic.CompareAndSwapUint32(status, old, block+1) {
			return
		}
	}
}

// DecodeCascade decodes a block of as many values as values has, 1 to [CascadeBlock]. It returns false, and writes
// nothing, for words that are no such block.
func DecodeCascade[V word](values []V, from []uint32) bool {
	if len(from) == 0 {
		return false
	}
	h := cascadeHeaderOf(from[0])
	count := uint32(len(values))
	if !h.valid(count, valueWords[V](), uint32(len(from))) {
		return false
	}
	if h.scheme == 0 {
		copy(backend.Words(backend.AsBytes(values)), from[1:])
		return true
	}
	layout := h.layout(count, valueWords[V]())
	if h.scheme&CascadeRLE == 0 {
		decodeEntries(&h, values, from, layout)
		return true
	}
	var stage cascadeStage[V]
	entries, lengths := stage.entry[:h.runs], stage.length[:h.runs]
	unpackBits(lengths, from[layout.lengths:], 1+h.leastRun, h.lengthWidth)
	total := uint32(0)
	for _, length := range lengths {
		total += length
	}
	if total != count {
		return false
	}
	decodeEntries(&h, entries, from, layout)
	for i, length := range lengths {
		v := entries[i]
		if len(values) >= 4 { // most runs are short: the rest is overwritten by the next
			values[0], values[1], values[2], values[3] = v, v, v, v
		}
		run := values[:length]
		for j := min(4*(len(values)/4), 4, len(run)); j < len(run); j++ {
			run[j] = v
		}
		values = values[length:]
	}
	return true
}

// decodeEntries undoes packing and differences.
func decodeEntries[V word](h *cascadeHeader, entries []V, from []uint32, layout cascadeLayout) {
	packed, reference := entries, V(0)
	if h.scheme&CascadePack != 0 {
		reference = wordOf[V](from[layout.reference:])
	}
	if h.scheme&CascadeDelta != 0 {
		entries[0], packed = wordOf[V](from[1:]), entries[1:]
	}
	unpackBits(packed, from[layout.values:layout.lengths], reference, h.width)
	if h.scheme&CascadeDelta != 0 {
		sum := entries[0]
		for i, difference := range packed {
			sum += difference
			packed[i] = sum
		}
	}
}
