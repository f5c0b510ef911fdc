package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// PackWords records words[i] = value i of each of some narrow columns, in its field, for rows words of 4 bytes. Field f
// is in sources from the word of 4 bytes origins[f].x on, whose bit origins[f].y is the lowest of value 0; origins are
// pairs of 32-bit words.
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

// UnpackWords records the way back: columns as Arrow has them, one behind the other, each of
// [kernel.Field.ColumnWords], and counts[b] grows by the rows whose single bit b is set. words may begin at any
// multiple of 4 bytes.
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

// Strided is words of 8 bytes that lie Stride words apart in a range, from word First on. The range begins at a
// multiple of 8 bytes.
type Strided struct {
	Words         backend.Range
	First, Stride uint32
}

// CopyStrided records a copy of rows words; the words between those of to stay.
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
