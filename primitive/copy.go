package primitive

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// copyPieceBytes is the most that one dispatch copies, so that words are counted in 32 bits.
const copyPieceBytes = 1 << 31

// Copy records a copy of src to dst. The ranges have equal sizes and do not overlap; sizes and offsets are multiples of
// four bytes. It runs a kernel, because the copy engines of GPUs are several times slower. The setting engine=1 of the
// table "copy" selects the device's copy command instead.
func (o *Ops) Copy(list *backend.List, dst, src backend.Range) error {
	if dst.SizeBytes != src.SizeBytes || (dst.SizeBytes|dst.OffsetBytes|src.OffsetBytes)%4 != 0 || overlap(dst, src) {
		return &backend.OpError{Op: "copy", Device: o.device.Info().Name, Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("%d bytes at %d to %d bytes at %d, overlapping: %t", src.SizeBytes, src.OffsetBytes,
				dst.SizeBytes, dst.OffsetBytes, overlap(dst, src))}
	}
	if o.copyByEngine {
		list.Copy(dst, src)
		return nil
	}
	k, err := kernel.Copy.On(o.device, o.copy)
	if err != nil {
		return err
	}
	for at := uint64(0); at < src.SizeBytes; at += copyPieceBytes {
		sizeBytes := min(copyPieceBytes, src.SizeBytes-at)
		from, fromWord := alignedView(src.Part(at, sizeBytes))
		to, toWord := alignedView(dst.Part(at, sizeBytes))
		k.Dispatch(list, kernel.Groups(o.copy, sizeBytes/4), kernel.CopyArgs{
			Source: from, Destination: to, Rows: uint32(sizeBytes / 4), SourceFirst: fromWord, DestinationFirst: toWord,
		})
	}
	return nil
}

// alignedView extends a range downward to the alignment of kernel arguments and returns the word at which the range
// begins in the view.
func alignedView(r backend.Range) (view backend.Range, firstWord uint32) {
	before := r.OffsetBytes % backend.PlanAlignment
	return backend.Range{Buffer: r.Buffer, OffsetBytes: r.OffsetBytes - before, SizeBytes: r.SizeBytes + before},
		uint32(before / 4)
}
