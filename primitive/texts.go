package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Texts is a column of texts on a device: text i is bytes Starts[i] to Starts[i+1], which are 32-bit, or if Starts is
// absent the Width bytes from Width*i on. [kernel.TextPadding] bytes follow the last text.
type Texts struct {
	Bytes, Starts backend.Range
	Width         uint32
	Coded         bool   // texts are codes of 8 bytes, which are used as hashes
	Longest       uint64 // bytes of the longest text, or more
}

// InPieces reports whether texts take more than one dispatch, which pass states to one another.
func (t *Texts) InPieces() bool { return t.Longest > kernel.TextPiece }

// TextHashes says where [Ops.HashTexts] writes hashes, which have 64 bits, and how it makes them.
type TextHashes struct {
	Hashes backend.Range
	// States has the same size, and is needed for texts that take several dispatches ([Texts.InPieces]).
	States backend.Range
	Folded bool   // the column is folded into the hashes of the preceding ones, 0 for the first
	Kept   uint64 // bits of hashes that are not cleared
}

// HashTexts records the hashing of rows texts ([kernel.HashText]). It takes one dispatch for each piece of the longest
// text.
func (o *Ops) HashTexts(list *backend.List, t *Texts, to TextHashes, rows uint64) error {
	k, err := kernel.HashTexts.On(o.device, o.hashTexts)
	if err != nil {
		return err
	}
	for begin := uint64(0); begin == 0 || begin < t.Longest; begin += uint64(o.hashTexts.Piece) {
		k.Dispatch(list, kernel.Groups(o.hashTexts, rows), kernel.HashTextsArgs{
			Texts: t.Bytes, Starts: t.Starts, States: to.States, Hashes: to.Hashes, Rows: uint32(rows), Width: t.Width,
			Begin: uint32(begin), Coded: flag(t.Coded), Folded: flag(to.Folded),
			Kept: [2]uint32{uint32(to.Kept), uint32(to.Kept >> 32)},
		})
	}
	return nil
}

// TextRows are rows of a column of texts, given by 32-bit row numbers; First is the number of the first text.
type TextRows struct {
	*Texts
	IDs   backend.Range
	First uint32
}

// CompareTexts records the comparison of rows pairs: bit i%32 of word i/32 of keep is cleared if the texts of pair i
// differ; other bits are unchanged. It takes one dispatch for each piece of the longest text.
func (o *Ops) CompareTexts(list *backend.List, left, right TextRows, keep backend.Range, rows uint64) error {
	k, err := kernel.CompareTexts.On(o.device, o.compareTexts)
	if err != nil {
		return err
	}
	longest := min(left.Longest, right.Longest)
	for begin := uint64(0); begin == 0 || begin < longest; begin += uint64(o.compareTexts.Piece) {
		k.Dispatch(list, kernel.Groups(o.compareTexts, rows), kernel.CompareTextsArgs{
			LeftTexts: left.Bytes, LeftStarts: left.Starts, LeftIDs: left.IDs, LeftWidth: left.Width, LeftFirst: left.First,
			RightTexts: right.Bytes, RightStarts: right.Starts, RightIDs: right.IDs, RightWidth: right.Width,
			RightFirst: right.First, Keep: keep, Rows: uint32(rows), Begin: uint32(begin),
		})
	}
	return nil
}

// MarkKept records the setting of bit ids[i] of the bitmap marks, for each of rows 32-bit ids whose bit in the bitmap
// keep is set. Bits that are already set stay set.
func (o *Ops) MarkKept(list *backend.List, keep, ids, marks backend.Range, rows uint64) error {
	k, err := kernel.MarkKept.On(o.device, o.markKept)
	if err != nil {
		return err
	}
	k.Dispatch(list, kernel.Groups(o.markKept, rows),
		kernel.MarkKeptArgs{Keep: keep, IDs: ids, Marks: marks, Rows: uint32(rows)})
	return nil
}
