package deliver

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// countBytes is the size of the counts of set bits of one shared word, with padding.
const countBytes = backend.PlanAlignment

// RepackBytes is the device memory to bring pieces of rows rows into Arrow's format: the columns that kernels unpack
// from shared words or put together from several words. On a device with its own memory it is twice that, so that a
// piece is converted while another one is downloaded.
//
//	counts of each shared word | columns of the first one | ... | values of a wide column | ...
func RepackBytes(on *backend.DeviceInfo, words [2]*relation.Words, rows uint64) uint64 {
	sizeBytes := layRepacked(words, [2]bool{true, true}, uint32(rows)).sizeBytes
	if !on.InHostMemory() {
		sizeBytes *= 2
	}
	return sizeBytes
}

// repacked says where the columns of a piece are in that memory, in bytes from its beginning.
type repacked struct {
	rows      uint32
	shared    [2][]sharedColumns // by side
	unpacked  uint64             // the end of the shared words
	wide      [2][]wideColumn    // by side
	sizeBytes uint64
}

// wideColumn says where the values of a column of several words are.
type wideColumn struct {
	of    *relation.WordColumn
	begin uint64
}

// sharedColumns says where the unpacked columns of a shared word are.
type sharedColumns struct {
	word                     int // index of the payload column
	of                       *relation.SharedWord
	counts, begin, sizeBytes uint64
}

// layRepacked lays out a piece with rows of the sides of.
func layRepacked(words [2]*relation.Words, of [2]bool, rows uint32) *repacked {
	r := &repacked{rows: rows}
	for side, w := range words {
		if of[side] {
			for n := range w.Shared {
				r.shared[side] = append(r.shared[side],
					sharedColumns{word: w.SharedFrom() + n, of: &w.Shared[n], counts: r.sizeBytes})
				r.sizeBytes += countBytes
			}
		}
	}
	for side := range r.shared {
		for n := range r.shared[side] {
			f := &r.shared[side][n]
			f.begin, f.sizeBytes = r.sizeBytes, f.of.UnpackedOffset(f.of.Count(), rows)
			r.sizeBytes += backend.Aligned(f.sizeBytes)
		}
	}
	r.unpacked = r.sizeBytes
	for side, w := range words {
		for i := range w.Columns {
			if c := &w.Columns[i]; of[side] && c.Count > 1 {
				r.wide[side] = append(r.wide[side], wideColumn{c, r.sizeBytes})
				r.sizeBytes += backend.Aligned(c.ValueBytes(uint64(rows)))
			}
		}
	}
	return r
}

// record records the conversion of the rows of a window to this layout, at the beginning of a range.
func (r *repacked) record(lane *exec.Lane, list *backend.List, w *windowRows, to backend.Range) error {
	if counts := uint64(len(r.shared[0])+len(r.shared[1])) * countBytes; counts > 0 {
		list.Fill(to.Part(0, counts), 0)
	}
	for side := range r.shared {
		for _, f := range r.shared[side] {
			if err := lane.UnpackWords(list, f.of.Fields, w.word(side, f.word, 4), to.Part(f.begin, f.sizeBytes),
				to.Part(f.counts, countBytes)); err != nil {
				return err
			}
		}
		for _, wide := range r.wide[side] {
			c := wide.of
			values := to.Part(wide.begin, c.ValueBytes(uint64(r.rows)))
			for i := range c.Count {
				if err := lane.CopyStrided(list,
					primitive.Strided{Words: values, First: uint32(i), Stride: uint32(c.Count)},
					primitive.Strided{Words: w.word(side, c.First+i, 8), Stride: 1}, uint64(r.rows)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// wideValues returns the values of a column of several words of a side, which begin in a range.
func (r *repacked) wideValues(side int, c *relation.WordColumn, in backend.Range) backend.Range {
	i := slices.IndexFunc(r.wide[side], func(wide wideColumn) bool { return wide.of.First == c.First })
	return in.Part(r.wide[side][i].begin, c.ValueBytes(uint64(r.rows)))
}

// field returns the column of a field with this number of bits per row and, for single bits, how many are set, from the
// unpacked shared words. The caller releases the column.
func (r *repacked) field(unpacked *memory.Buffer, side int, f *relation.SharedField, bits int) (
	column *memory.Buffer, set int) {
	of := &r.shared[side][f.Word]
	begin := of.begin + of.of.UnpackedOffset(f.Field, r.rows)
	if bits == 1 {
		set = int(backend.Words(unpacked.Bytes()[of.counts:][:countBytes])[of.of.BitOf(f.Field)])
	}
	return memory.SliceBuffer(unpacked, int(begin), (int(r.rows)*bits+7)/8), set
}

// column makes a column of a side, which the caller releases, of its values or, if these are nil, of the unpacked shared
// words.
func (r *repacked) column(unpacked *memory.Buffer, side int, c *relation.WordColumn, values *memory.Buffer) arrow.Array {
	var validity *memory.Buffer
	if values == nil {
		values, _ = r.field(unpacked, side, c.Value, relation.WordBits(c.Type))
		defer values.Release()
	}
	nulls := 0
	if c.Valid != nil {
		bits, set := r.field(unpacked, side, c.Valid, 1)
		defer bits.Release()
		if nulls = int(r.rows) - set; nulls > 0 {
			validity = bits
		}
	}
	return c.Array(int(r.rows), values, validity, nulls)
}
