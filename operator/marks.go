package operator

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
)

// Marks are bitmaps of the rows that have a partner.
type Marks struct {
	// Of are the bitmaps: bit i%32 of word i/32 is row i; absent if not needed.
	Of [2]backend.Range
	// Sides are the sides with a bitmap: [kernel.MarkLeft] is the build side, [kernel.MarkRight] the probe side.
	Sides uint32

	places backend.Range // the cursor of the output, then the bitmaps, as in [kernel.PartitionJoin] with marked=1
}

// NewMarks returns cleared bitmaps for the sides that need one, allocated from the lane. A kernel can set their bits
// while it writes pairs ([Units.Marks]).
func NewMarks(ctx context.Context, lane *exec.Lane, inputs [2]*Input, want *Want) (m Marks, err error) {
	first, sizeBytes := [2]uint64{}, uint64(kernel.BitmapWord*4)
	for side, in := range inputs {
		if want.Marks(side) {
			first[side] = sizeBytes
			sizeBytes += backend.Aligned((in.Rows + 31) / 32 * 4)
		}
	}
	places := lane.Memory.New(sizeBytes, "output cursor and marks")
	if err := lane.Memory.Err(); err != nil {
		return m, err
	}
	m.places, m.Sides = places.All(), want.Sides()
	list := lane.List("mark")
	list.Fill(m.places, 0)
	for side, in := range inputs {
		if want.Marks(side) {
			m.Of[side] = places.Range(first[side], (in.Rows+31)/32*4)
			list.Fill(places.Range(uint64(kernel.MarksWord+side)*4, 4), uint32(first[side]/4))
		}
	}
	return m, lane.Submit(ctx, list)
}

// NewBitmap returns a cleared bitmap for the rows of a side, allocated from the lane; absent if no bits are wanted.
func (w *Want) NewBitmap(ctx context.Context, lane *exec.Lane, side int, rows uint64) (backend.Range, error) {
	if !w.Marks(side) || rows == 0 {
		return backend.Range{}, nil
	}
	b := lane.Memory.New((rows+31)/32*4, "marks, "+sideNames[side])
	if err := lane.Memory.Err(); err != nil {
		return backend.Range{}, err
	}
	return b.All(), ClearBitmap(ctx, lane, b.All())
}

// ClearBitmap clears all bits of a bitmap, which may be absent.
func ClearBitmap(ctx context.Context, lane *exec.Lane, bits backend.Range) error {
	if bits.Buffer == nil {
		return nil
	}
	list := lane.List("mark")
	list.Fill(bits, 0)
	return lane.Submit(ctx, list)
}

// Sides returns the sides that need a bitmap of the rows with a partner, in the form that marking kernels take.
func (w *Want) Sides() (sides uint32) {
	if w.Marks(Build) {
		sides |= kernel.MarkLeft
	}
	if w.Marks(Probe) {
		sides |= kernel.MarkRight
	}
	return sides
}
