package deliver

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// countBytes is the size of the counts of set bits of one shared word.
const countBytes = backend.PlanAlignment

// RepackBytes is the device memory to bring a piece of rows rows into Arrow's format. It holds the unpacked columns of
// all shared words, for one download, and then, one after the other, columns whose values have several words.
//
//	counts of each shared word | columns of the first one | columns of the second one | ...
//	values of a wide column
func RepackBytes(words [2]*relation.Words, rows uint64) uint64 {
	_, sizeBytes := layFields(words, [2]bool{true, true}, uint32(rows))
	for _, w := range words {
		for i := range w.Columns {
			if c := &w.Columns[i]; c.Count > 1 {
				sizeBytes = max(sizeBytes, c.ValueBytes(rows))
			}
		}
	}
	return sizeBytes
}

// fieldColumns says where the unpacked columns of a shared word are in that memory, in bytes.
type fieldColumns struct {
	word                     int // index of the payload column
	of                       *relation.SharedWord
	counts, begin, sizeBytes uint64
}

// layFields lays out the unpacked shared words of the sides that have rows.
func layFields(words [2]*relation.Words, of [2]bool, rows uint32) (fields [2][]fieldColumns, sizeBytes uint64) {
	for side, w := range words {
		if of[side] {
			for n := range w.Shared {
				fields[side] = append(fields[side],
					fieldColumns{word: w.SharedFrom() + n, of: &w.Shared[n], counts: sizeBytes})
				sizeBytes += countBytes
			}
		}
	}
	for side := range fields {
		for n := range fields[side] {
			f := &fields[side][n]
			f.begin, f.sizeBytes = sizeBytes, f.of.UnpackedOffset(f.of.Count(), rows)
			sizeBytes += backend.Aligned(f.sizeBytes)
		}
	}
	return fields, sizeBytes
}

// unpacked holds the unpacked shared words of a piece on the host; it is zero if there are none.
type unpacked struct {
	*memory.Buffer
	fields [2][]fieldColumns
	rows   uint32
}

// unpack unpacks the shared words of a piece on the device, and adds the columns to the downloads.
func (r *Rows) unpack(ctx context.Context, w *windowRows, down *downloads) (u unpacked, err error) {
	if r.repacked == nil {
		r.repacked = r.Lane.Memory.New(RepackBytes(r.Words, r.PieceRows), "output in Arrow's form")
		if err := r.Lane.Memory.Err(); err != nil {
			return u, err
		}
	}
	fields, sizeBytes := layFields(r.Words, w.Of, w.rows)
	if sizeBytes == 0 {
		return u, nil
	}
	to := r.repacked
	list := r.Lane.List("unpack")
	list.Fill(to.Range(0, uint64(len(fields[0])+len(fields[1]))*countBytes), 0)
	for side := range fields {
		for _, f := range fields[side] {
			if err := r.Lane.UnpackWords(list, f.of.Fields, w.word(side, f.word, 4), to.Range(f.begin, f.sizeBytes),
				to.Range(f.counts, countBytes)); err != nil {
				return u, err
			}
		}
	}
	if err := r.Lane.Submit(ctx, list); err != nil {
		return u, err
	}
	return unpacked{down.add(to.Range(0, sizeBytes)), fields, w.rows}, nil
}

// field returns the column of a field with this number of bits per row and, for single bits, how many are set. The
// caller releases the column.
func (u *unpacked) field(side int, f *relation.SharedField, bits int) (column *memory.Buffer, set int) {
	of := &u.fields[side][f.Word]
	begin := of.begin + of.of.UnpackedOffset(f.Field, u.rows)
	if bits == 1 {
		set = int(backend.Words(u.Bytes()[of.counts:][:countBytes])[of.of.BitOf(f.Field)])
	}
	return memory.SliceBuffer(u.Buffer, int(begin), (int(u.rows)*bits+7)/8), set
}

// column makes a column of a piece, of which a single word is downloaded; the caller releases it.
func (r *Rows) column(ctx context.Context, w *windowRows, fields unpacked, side int, c *relation.WordColumn,
	single *memory.Buffer) (_ arrow.Array, err error) {
	values, validity := single, (*memory.Buffer)(nil)
	if c.Count != 1 {
		if c.Count == 0 {
			values, _ = fields.field(side, c.Value, relation.WordBits(c.Type))
		} else if values, err = r.merge(ctx, w, side, c); err != nil {
			return nil, err
		}
		defer values.Release()
	}
	nulls := 0
	if c.Valid != nil {
		bits, set := fields.field(side, c.Valid, 1)
		defer bits.Release()
		if nulls = int(w.rows) - set; nulls > 0 {
			validity = bits
		}
	}
	return c.Array(int(w.rows), values, validity, nulls), nil
}

// merge joins the words of values of several words on the device, and downloads the values. The caller releases them.
func (r *Rows) merge(ctx context.Context, w *windowRows, side int, c *relation.WordColumn) (*memory.Buffer, error) {
	to := r.repacked.Range(0, c.ValueBytes(uint64(w.rows)))
	list := r.Lane.List("unpack")
	for i := range c.Count {
		if err := r.Lane.CopyStrided(list, primitive.Strided{Words: to, First: uint32(i), Stride: uint32(c.Count)},
			primitive.Strided{Words: w.word(side, c.First+i, 8), Stride: 1}, uint64(w.rows)); err != nil {
			return nil, err
		}
	}
	if err := r.Lane.Submit(ctx, list); err != nil {
		return nil, err
	}
	return relation.Fetch(ctx, r.Lane.Device(), to, r.Allocator)
}
