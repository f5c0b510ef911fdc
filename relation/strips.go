package relation

import (
	"context"
	"iter"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
)

// StripRows is the maximum number of rows of a strip. Their codes stay in the first-level cache, and processors fetch
// columns ahead: with half of them, SGO1 took a tenth longer.
const StripRows = stripRows

// Strips makes the packed codes, of 4 bytes, of all rows of the left side strip by strip, on all cores, and hands their
// products with a factor, which fit too, to work. Each call of start begins a block of strips that one core works on;
// work then gets the first row of each of them and the products, which it must not keep. Every row must have a code,
// unless the range of the key was guessed.
//
// Errors wrap backend.ErrCancelled or backend.ErrTimedOut, or ErrGuess, where a key is outside the range.
func (p *KeyPlan) Strips(ctx context.Context, factor uint32,
	start func() (work func(row int, scaled []uint32), end func())) error {
	side := &p.sides[Left]
	return forBlocks(ctx, side.rows, func(s *scratch, from, to int) error {
		work, end := start()
		defer end()
		for ; from < to; from += StripRows {
			codes := s.packed32[:min(StripRows, to-from)]
			if p.guessed[Left] {
				if !p.scaleGuessed(side, s, from, codes, factor) {
					return ErrGuess
				}
			} else {
				packStrip(p, side, s, from, from+len(codes), codes)
				for i := range codes {
					codes[i] *= factor
				}
			}
			work(from, codes)
		}
		return nil
	})
}

// scaleGuessed writes the products of a factor and the codes of a key whose range was guessed, and reports whether all
// are in the range.
func (p *KeyPlan) scaleGuessed(side *keySide, s *scratch, from int, out []uint32, factor uint32) bool {
	key, all := &p.keys[0], uint64(0)
	for part := range side.columns[0].segments(from, from+len(out)) {
		into := out[part.at:][:part.n]
		if r, ok := part.reader.(wholeReader); ok && r.whole() {
			all |= r.scale(into, part.from, key.extent.min, factor)
			continue
		}
		for i, code := range part.codes(s.codes[:], part.from, part.n) {
			into[i] = uint32(code-key.extent.min) * factor
			all |= code - key.extent.min
		}
	}
	return all>>key.bits == 0
}

// ColumnRows finds the rows of a column of fixed-width values in its chunks.
type ColumnRows struct{ parts []ColumnPart }

// ColumnPart is a chunk of a column, or some of its rows.
type ColumnPart struct {
	Row, Rows int    // first row in the column, or among the requested ones, and number of rows
	Values    []byte // from the first of them on; of values of less than a byte nil
	Validity  []byte // bitmap; nil if no row is NULL
	First     int    // bit of the first row in Validity
}

// NewColumnRows prepares a column of a type with [WordBits]. Errors wrap backend.ErrInvalidInput (corrupt buffers).
func NewColumnRows(column *arrow.Chunked) (*ColumnRows, error) {
	c := new(ColumnRows)
	bytes := WordBits(column.DataType()) / 8
	for part := range rowsOf(column, 0, column.Len()) {
		if err := part.check(); err != nil {
			return nil, err
		}
		p := ColumnPart{Row: part.at, Rows: part.rows, First: part.first}
		if MayHaveNulls(part.data) && part.data.NullN() != 0 {
			p.Validity = BufferBytes(part.data, 0)
		}
		if bytes > 0 {
			p.Values = BufferBytes(part.data, 1)[part.first*bytes:][:part.rows*bytes]
		}
		c.parts = append(c.parts, p)
	}
	return c, nil
}

// Parts yields the rows [from, from+rows) chunk by chunk.
func (c *ColumnRows) Parts(from, rows int) iter.Seq[ColumnPart] {
	return func(yield func(ColumnPart) bool) {
		i := sort.Search(len(c.parts), func(i int) bool { return c.parts[i].Row+c.parts[i].Rows > from })
		for at := 0; at < rows; i++ {
			chunk := c.parts[i]
			first := from + at - chunk.Row
			n := min(rows-at, chunk.Rows-first)
			part := ColumnPart{Row: at, Rows: n, Validity: chunk.Validity, First: chunk.First + first}
			if chunk.Values != nil {
				bytes := len(chunk.Values) / chunk.Rows
				part.Values = chunk.Values[first*bytes:][:n*bytes]
			}
			if !yield(part) {
				return
			}
			at += n
		}
	}
}
