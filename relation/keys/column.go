package keys

import (
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// keyColumn is one key column of one side: the chunks of a table's column, in row order, without empty ones.
type keyColumn struct {
	chunks     []keyChunk
	nullsEqual bool    // NULL is a value like any other
	bounds     *extent // codes outside match nothing; nil if there are no bounds
	relation.Locator
	texts   func(out []string, rows []uint32) // gathers texts; nil if codes are exact
	numbers func(out []uint64, rows []uint32) // gathers codes; nil if they are read one by one

	numbered *textTable // of texts whose codes are numbers; otherwise nil
}

// keyChunk is a chunk of a key column and its reader.
type keyChunk struct {
	reader
	values      arrow.Array
	start, rows int    // first row in the table, and number of rows
	validity    []byte // nil if no row is null
	offset      int    // index of the first row's bit in validity
}

// segment is a run of rows within one chunk.
type segment struct {
	*keyChunk
	from int // first row, relative to the chunk
	at   int // first row, relative to the requested range
	n    int
}

// newKeyColumn prepares the readers of the chunks of a column. Errors wrap backend.ErrInvalidInput (corrupt buffers).
func newKeyColumn(name string, data *arrow.Chunked, c coding, nullsEqual bool) (*keyColumn, error) {
	column := &keyColumn{nullsEqual: nullsEqual}
	start := 0
	var rows []int
	for i, array := range data.Chunks() {
		if array.Len() == 0 {
			continue
		}
		chunk, err := newKeyChunk(array, c)
		if err != nil {
			return nil, fmt.Errorf("%w: chunk %d of column %q: %s", backend.ErrInvalidInput, i, name, err)
		}
		chunk.start = start
		column.chunks, rows = append(column.chunks, chunk), append(rows, chunk.rows)
		start += chunk.rows
	}
	column.Locator = relation.NewLocator(rows)
	if c.method == methodText {
		column.texts = gatherTexts(column.chunks, &column.Locator)
	} else if len(column.chunks) > 0 {
		column.numbers = column.gatherNumbers()
	}
	return column, nil
}

func newKeyChunk(chunk arrow.Array, c coding) (keyChunk, error) {
	if c.method == methodNever {
		none := make([]byte, (chunk.Len()+7)/8)
		return keyChunk{reader: never{}, values: chunk, rows: chunk.Len(), validity: none}, nil
	}
	k, err := keyChunk{values: chunk, rows: chunk.Len()}, error(nil)
	dictionary, ok := chunk.(*array.Dictionary)
	var source texts
	if c.isText() && !ok {
		source, err = newTexts(chunk, c)
	} else {
		err = relation.CheckBuffers(chunk.Data(), bitWidth(chunk))
	}
	if err != nil {
		return k, err
	}
	if relation.MayHaveNulls(chunk.Data()) && chunk.NullN() > 0 {
		k.validity, k.offset = chunk.NullBitmapBytes(), chunk.Data().Offset()
	}
	switch {
	case ok:
		return k, k.readDictionary(dictionary, c)
	case c.method == methodText:
		k.reader = source
	case c.method == methodShort:
		k.reader = &short{source, c.width}
	default:
		k.reader = newReader(chunk, c)
	}
	return k, nil
}

func bitWidth(chunk arrow.Array) int { return chunk.DataType().(arrow.FixedWidthDataType).BitWidth() }

func (c *keyColumn) rows() int {
	if len(c.chunks) == 0 {
		return 0
	}
	last := c.chunks[len(c.chunks)-1]
	return last.start + last.rows
}

// filters reports whether some row of the column may be left out.
func (c *keyColumn) filters() bool {
	if c.bounds != nil {
		return true
	}
	for i := range c.chunks {
		if c.chunks[i].validity != nil && !c.nullsEqual || c.chunks[i].filters() {
			return true
		}
	}
	return false
}

// hasNulls reports whether some row of the column is NULL.
func (c *keyColumn) hasNulls() bool {
	return slices.ContainsFunc(c.chunks, func(chunk keyChunk) bool { return chunk.validity != nil })
}

// clearNulls clears the bits of the rows [from, to) that are NULL; bit 0 of words is row from.
func (c *keyColumn) clearNulls(words []uint64, from, to int) {
	for part := range c.segments(from, to) {
		if part.validity != nil {
			andBits(words, part.at, part.validity, part.offset+part.from, part.n)
		}
	}
}

// segments yields the runs of rows [from, to), in order.
func (c *keyColumn) segments(from, to int) iter.Seq[segment] {
	return func(yield func(segment) bool) {
		k := sort.Search(len(c.chunks), func(k int) bool { return c.chunks[k].start+c.chunks[k].rows > from })
		for row := from; row < to; k++ {
			chunk := &c.chunks[k]
			n := min(to, chunk.start+chunk.rows) - row
			if !yield(segment{keyChunk: chunk, from: row - chunk.start, at: row - from, n: n}) {
				return
			}
			row += n
		}
	}
}

// isNull reports whether a row is NULL.
func (c *keyColumn) isNull(row uint32) bool {
	chunk, i := c.Find(row)
	part := &c.chunks[chunk]
	return part.validity != nil && part.validity[(part.offset+i)>>3]>>((part.offset+i)&7)&1 == 0
}

// gatherTexts reads the texts of the given rows into out. It reads nothing if the column has no values.
func (c *keyColumn) gatherTexts(out []string, rows []uint32) {
	if c.texts != nil {
		c.texts(out, rows)
	}
}

// gatherCodes reads the codes of the given rows into out.
func (c *keyColumn) gatherCodes(out []uint64, rows []uint32) {
	if c.numbers != nil {
		c.numbers(out, rows)
		return
	}
	for i, id := range rows {
		chunk, row := c.Find(id)
		out[i] = c.chunks[chunk].codes(out[i:i+1], row, 1)[0]
	}
}

// gatherNumbers returns a function that gathers codes of integers of 4 and 8 bytes without a call per row; nil for
// other types.
func (c *keyColumn) gatherNumbers() func(out []uint64, rows []uint32) {
	switch c.chunks[0].reader.(type) {
	case *scaled[int32]:
		return gatherScaled[int32](c)
	case *scaled[int64]:
		return gatherScaled[int64](c)
	case *scaled[uint32]:
		return gatherScaled[uint32](c)
	case *scaled[uint64]:
		return gatherScaled[uint64](c)
	}
	return nil
}

func gatherScaled[T integer](c *keyColumn) func(out []uint64, rows []uint32) {
	sources, factor := make([][]T, len(c.chunks)), uint64(0)
	for i, chunk := range c.chunks {
		r := chunk.reader.(*scaled[T])
		sources[i], factor = r.values, r.factor
	}
	return func(out []uint64, rows []uint32) {
		var places [relation.FetchRows]*T
		for i, id := range rows {
			chunk, row := c.Find(id)
			places[i] = &sources[chunk][row]
		}
		var values [relation.FetchRows]T
		relation.Fetch(values[:], places[:len(rows)])
		for i, value := range values[:len(rows)] {
			out[i] = uint64(value) * factor
		}
	}
}

// codes reads the codes of rows [from, to), at most StripRows, into scratch.
func (c *keyColumn) codes(s *scratch, from, to int) []uint64 {
	for part := range c.segments(from, to) {
		copy(s.codes[part.at:], part.codes(s.codes[part.at:], part.from, part.n))
	}
	return s.codes[:to-from]
}
