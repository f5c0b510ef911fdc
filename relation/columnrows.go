package relation

import (
	"iter"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
)

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
