package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// PackWords records the packing of narrow columns into rows words of 4 bytes: words[i] holds value i of each column in
// its field. The column of field f begins in sources at the 4-byte word origins[f].x, whose bit origins[f].y is the
// lowest bit of value 0; origins are pairs of 32-bit words.
func (o *Ops) PackWords(list *backend.List, fields kernel.Fields, sources, origins, words backend.Range,
	rows uint64) error {
	k, err := kernel.PackWords.On(o.device, o.packWords)
	if err != nil {
		return err
	}
	k.Dispatch(list, kernel.Groups(o.packWords, rows), kernel.PackWordsArgs{
		Sources: sources, Origins: origins, Words: words, Rows: uint32(rows), Fields: fields,
	})
	return nil
}

// UnpackWords records the inverse: unpacked receives the columns in Arrow's layout, one after the other, each of
// [kernel.Field.ColumnWords], and counts[b] is increased by the number of rows whose single-bit field b is set. words
// may begin at any multiple of 4 bytes.
func (o *Ops) UnpackWords(list *backend.List, fields kernel.Fields, words, unpacked, counts backend.Range) error {
	k, err := kernel.UnpackWords.On(o.device, o.unpackWords)
	if err != nil {
		return err
	}
	rows := words.SizeBytes / 4
	from, first := alignedView(words)
	k.Dispatch(list, kernel.Groups(o.unpackWords, rows), kernel.UnpackWordsArgs{
		Words: from, Unpacked: unpacked, Counts: counts, Rows: uint32(rows), First: first, Fields: fields,
	})
	return nil
}

// Strided is a sequence of 8-byte words that are Stride words apart in a range, starting with word First. The range
// begins at a multiple of 8 bytes.
type Strided struct {
	Words         backend.Range
	First, Stride uint32
}

// CopyStrided records a copy of rows words; the words in between in to are unchanged.
func (o *Ops) CopyStrided(list *backend.List, to, from Strided, rows uint64) error {
	k, err := kernel.CopyStrided.On(o.device, o.copyStrided)
	if err != nil {
		return err
	}
	source, sourceWord := alignedView(from.Words)
	destination, destinationWord := alignedView(to.Words)
	k.Dispatch(list, kernel.Groups(o.copyStrided, rows), kernel.CopyStridedArgs{
		Source: source, Destination: destination, Rows: uint32(rows),
		SourceFirst: sourceWord/2 + from.First, SourceStride: from.Stride,
		DestinationFirst: destinationWord/2 + to.First, DestinationStride: to.Stride,
	})
	return nil
}
