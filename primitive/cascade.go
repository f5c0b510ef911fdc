package primitive

import (
	"cmp"
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// CascadeEncodePlan encodes a column in the cascaded format (docs/codec.md), part by part: a part is what one
// destination gets. Blocks are encoded into slots, as many as there are slots at a time; a scan of their sizes gives
// their places, and they are moved there. The column is read once.
//
//	values ──cascade_encode──► slots, sizes ──scan──► ends ──cascade_place──► payload, directory
type CascadeEncodePlan struct {
	ValueBytes     int
	Scheme         kernel.CascadeScheme
	Parts          []uint32 // contents of the argument of this name
	Blocks         uint32
	DirectoryBytes uint64 // Blocks+1 words
	PayloadBytes   uint64 // room for blocks that are stored as they are
	ScratchBytes   uint64

	encode  kernel.CascadeEncodeConfig
	place   kernel.CascadePlaceConfig
	slots   uint32 // encoded at a time
	scan    ScanPlan
	offsets struct{ sizes, ends, scan uint64 } // in the scratch buffer; slots are at 0
}

// mostSlots is the number of slots where no table says another: 128 MiB of 64-bit values.
const mostSlots = 1 << 14

// CascadeBuffers are the arguments of a plan. To encode: Values and Parts are read, and Directory, Payload and Scratch
// are written. To decode: Values and Status are written.
type CascadeBuffers struct {
	Values    backend.Range
	Parts     backend.Range // what the plan says
	Directory backend.Range // for each block its first word of Payload, and the word behind the last one
	Payload   backend.Range // the blocks of all parts, one behind the other
	Scratch   backend.Range
	// Status is a word: 0, or 1 + the number of a block, the last one that does not follow the format.
	Status backend.Range
}

// PlanCascadeEncode plans the encoding of a column of valueBytes, 4 or 8. Part i has rows starts[i] to starts[i+1]-1;
// starts is ascending, and ends with the number of rows. The error is backend.ErrLimit for a column of 16 GiB or more.
func PlanCascadeEncode(t Tuning, starts []uint32, valueBytes int,
	scheme kernel.CascadeScheme) (CascadeEncodePlan, error) {
	p := CascadeEncodePlan{ValueBytes: valueBytes, Scheme: scheme, Parts: kernel.CascadeParts(starts)}
	p.Blocks = kernel.CascadeBlocks(p.Parts)
	rows := uint64(starts[len(starts)-1] - starts[0])
	p.DirectoryBytes, p.PayloadBytes = 4*(uint64(p.Blocks)+1), rows*uint64(valueBytes)+4*uint64(p.Blocks)
	if err := checkCascade(p.PayloadBytes / 4); err != nil {
		return p, err
	}
	tuned := t.Config("cascade", backend.Config{"value_bits": uint32(8 * valueBytes)})
	p.encode, p.place = kernel.CascadeEncode.With(tuned), kernel.CascadePlace.With(tuned)
	p.encode.ValueBits, p.encode.Scheme, p.place.ValueBits = uint32(8*valueBytes), uint32(scheme), uint32(8*valueBytes)
	p.slots = min(cmp.Or(tuned["slots"], mostSlots), p.Blocks)
	var err error
	if p.scan, err = PlanScan(t, uint64(p.slots), 32, 32, true); err != nil {
		return p, err
	}
	p.offsets.sizes = backend.Aligned(uint64(p.slots) * 4 * uint64(kernel.CascadeSlotWords(uint32(valueBytes))))
	p.offsets.ends = p.offsets.sizes + backend.Aligned(4*uint64(p.slots))
	p.offsets.scan = p.offsets.ends + backend.Aligned(4*uint64(p.slots)+4)
	p.ScratchBytes = p.offsets.scan + p.scan.ScratchBytes
	return p, nil
}

// checkCascade checks that words of a payload have numbers.
func checkCascade(words uint64) error {
	if words > math.MaxUint32 {
		return &backend.OpError{Op: "compress a column", Err: backend.ErrLimit, Detail: fmt.Sprintf(
			"%d words, the limit is %d; encode or decode fewer rows at a time", words, uint32(math.MaxUint32))}
	}
	return nil
}

// CascadeEncode records a plan. Afterwards part i is the words Directory[b] to Directory[c]-1 of Payload, where b and c
// are Parts[2*i+1] and Parts[2*i+3], its first block and the one behind its last.
func (o *Ops) CascadeEncode(list *backend.List, p *CascadeEncodePlan, b *CascadeBuffers) error {
	encode, err := kernel.CascadeEncode.On(o.device, p.encode)
	if err != nil {
		return err
	}
	place, err := kernel.CascadePlace.On(o.device, p.place)
	if err != nil {
		return err
	}
	list.Fill(b.Directory.Part(0, 4), 0)
	slots := b.Scratch.Part(0, p.offsets.sizes)
	for first := uint32(0); first < p.Blocks; first += p.slots {
		count := min(p.slots, p.Blocks-first)
		scan := p.scan
		if count < p.slots {
			if scan, err = PlanScan(o.tuning, uint64(count), 32, 32, true); err != nil {
				return err
			}
		}
		sizes := b.Scratch.Part(p.offsets.sizes, 4*uint64(count))
		ends := b.Scratch.Part(p.offsets.ends, 4*uint64(count)+4)
		encode.Dispatch(list, count, kernel.CascadeEncodeArgs{Values: b.Values, Parts: b.Parts, Slots: slots,
			Sizes: sizes, PartCount: uint32(len(p.Parts)/2 - 1), FirstBlock: first})
		if err := o.Scan(list, scan, sizes, ends, b.Scratch.Part(p.offsets.scan, scan.ScratchBytes)); err != nil {
			return err
		}
		place.Dispatch(list, count, kernel.CascadePlaceArgs{Slots: slots, Ends: ends, Directory: b.Directory,
			Payload: b.Payload, FirstBlock: first})
	}
	return nil
}

// CascadeDecodePlan decodes a column from the payloads of several senders, which lie one behind the other. It needs no
// scratch memory.
type CascadeDecodePlan struct {
	ValueBytes int
	Parts      []uint32 // contents of the argument of this name
	Blocks     uint32

	words  uint32
	decode kernel.CascadeDecodeConfig
}

// PlanCascadeDecode plans the decoding of a column of valueBytes, 4 or 8, from payloadBytes. The rows of sender i are
// starts[i] to starts[i+1]-1. The error is backend.ErrLimit for 16 GiB or more.
func PlanCascadeDecode(t Tuning, starts []uint32, valueBytes int, payloadBytes uint64) (CascadeDecodePlan, error) {
	p := CascadeDecodePlan{ValueBytes: valueBytes, Parts: kernel.CascadeParts(starts), words: uint32(payloadBytes / 4)}
	p.Blocks = kernel.CascadeBlocks(p.Parts)
	p.decode = kernel.CascadeDecode.With(t.Config("cascade", backend.Config{"value_bits": uint32(8 * valueBytes)}))
	p.decode.ValueBits = uint32(8 * valueBytes)
	return p, checkCascade(payloadBytes / 4)
}

// CascadeDecode records a plan. Payload and Directory are untrusted. A block that does not follow the format leaves its
// rows as they are, and is reported in Status.
func (o *Ops) CascadeDecode(list *backend.List, p *CascadeDecodePlan, b *CascadeBuffers) error {
	list.Fill(b.Status.Part(0, 4), 0)
	return kernel.CascadeDecode.Record(list, o.device, p.decode, p.Blocks, kernel.CascadeDecodeArgs{Payload: b.Payload,
		Directory: b.Directory, Parts: b.Parts, Values: b.Values, Status: b.Status,
		PartCount: uint32(len(p.Parts)/2 - 1), PayloadWords: p.words})
}

// CascadeSizes records the computation of the sizes of some blocks of a column of valueBytes, 4 or 8: blocks has two
// words for each of count blocks, the first row and the number of rows, and bytes receives 8 words for each, its size
// by scheme ([kernel.CascadeSizes]).
func (o *Ops) CascadeSizes(list *backend.List, valueBytes int, values, blocks, bytes backend.Range,
	count uint32) error {
	tuned := o.tuning.Config("cascade", backend.Config{"value_bits": uint32(8 * valueBytes)})
	config := kernel.CascadeSizes.With(tuned)
	config.ValueBits = uint32(8 * valueBytes)
	return kernel.CascadeSizes.Record(list, o.device, config, count,
		kernel.CascadeSizesArgs{Values: values, Blocks: blocks, Bytes: bytes})
}
