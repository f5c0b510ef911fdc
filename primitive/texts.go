package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Texts is a column of texts on a device: text i is the bytes from Starts[i] to Starts[i+1], which are 32-bit, or where
// Starts are absent the Width bytes from Width*i on. [kernel.TextPadding] bytes lie behind the last text.
type Texts struct {
	Bytes, Starts backend.Range
	Width         uint32
	Coded         bool   // texts of 8 bytes, which are codes: they stand for their hashes
	Longest       uint64 // bytes of a text, at most
}

// InPieces tells whether texts take more than one dispatch, which leave states to one another.
func (t *Texts) InPieces() bool { return t.Longest > kernel.TextPiece }

// TextHashes is how [Ops.HashTexts] makes hashes, which are 64-bit.
type TextHashes struct {
	Hashes backend.Range
	// States are as long, and needed for texts that take several dispatches ([Texts.InPieces]).
	States backend.Range
	Folded bool   // the column is folded into the hashes of those before it, 0 for the first
	Kept   uint64 // bits of hashes that are not cleared
}

// HashTexts records the hashes of rows texts ([kernel.HashText]). It takes a dispatch for each piece of the longest one.
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

// TextRows are rows of a column of texts by their 32-bit numbers, of which First is that of the first text.
type TextRows struct {
	*Texts
	IDs   backend.Range
	First uint32
}

// CompareTexts records for rows pairs that bit i%32 of word i/32 of keep is cleared where the texts differ; other bits
// stay. It takes a dispatch for each piece of the longest text.
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

// MarkKept records that bit ids[i] of the bitmap marks is set for each of rows 32-bit ids whose bit of the bitmap keep
// is. Bits that are set before stay.
func (o *Ops) MarkKept(list *backend.List, keep, ids, marks backend.Range, rows uint64) error {
	k, err := kernel.MarkKept.On(o.device, o.markKept)
	if err != nil {
		return err
	}
	k.Dispatch(list, kernel.Groups(o.markKept, rows),
		kernel.MarkKeptArgs{Keep: keep, IDs: ids, Marks: marks, Rows: uint32(rows)})
	return nil
}
