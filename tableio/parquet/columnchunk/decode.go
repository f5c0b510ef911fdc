package columnchunk

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// Decoder decodes column chunks, one at a time and in slices of rows. Its scratch memory is kept between chunks. The zero
// value is ready for use: Open, Next for each slice, Close.
//
// Pages are decoded straight into the buffers of the array: the values of a page are written without gaps after those
// of the previous page, then moved apart where there are nulls. A page that a slice ends in is kept, decompressed, for
// the next one, with its position in the values. Definition levels become bits of the validity bitmap; a slice without
// nulls has no bitmap. Values of a dictionary page are converted to their Arrow form once.
//
// Pages are not trusted: every index, length and count is checked. A slice takes from the allocator
//
//   - for values of a fixed width rows x width bytes, and rows/8 for the bitmap, each rounded up to 64 bytes;
//   - for text and binary (rows+1) offsets or rows views, and at most 8 times the bytes that its values have, 4 KiB at
//     least, while it grows; in the end at most twice these bytes and 8 KiB. SliceBytes bounds the bytes of the values:
//     a slice with more ends early. MaxBytes bounds the bytes of views into a dictionary, too, and makes them an error.
//
// On the Go heap a chunk takes the size of the largest decoded page, the dictionary page, and 64 KiB. A dictionary
// column that is stored in plain pages also needs a hash table of its distinct values.
type Decoder struct {
	// MaxBytes bounds the total bytes of the text and binary values of a slice; a slice with more is an error. With 0
	// the only bound is that of the offsets: 2 GiB for types with 32-bit offsets. It is needed because a few bytes of a
	// page can stand for many copies of a long value.
	MaxBytes int64

	// SliceBytes is where a slice ends early: before text and binary values of more bytes in all, unless it is the first
	// one. 0: at 1 GiB, and only if offsets have 32 bits.
	SliceBytes int64

	scratch scratch
	chunk   *chunkDecoder // between Open and Close
}

// scratch is memory that is used again.
type scratch struct {
	indices  []uint32 // a batch of dictionary indices
	entries  []byte   // of the dictionary, in Arrow's form; values of variable width without gaps
	offsets  []uint32 // of the entries
	plain    []byte   // values of a page in the PLAIN form, where it is in another one
	lengths  []int32  // of values, and their prefixes
	prefixes []int32
	levels   []byte // of a page, a bit for each row
	bits     []byte // booleans of a page from the first that is wanted
}

// batchIndices are decoded at once: few enough to stay in the first-level cache.
const batchIndices = 2048

// keptScratchBytes is the scratch memory that is kept from one chunk to the next, of each kind.
const keptScratchBytes = 8 << 20

// Open begins a chunk of a number of rows. pages are the pages of the chunk, from its start; they are read until Close,
// which does not close them. The caller must have checked that [Decodes] holds for the column. Errors name the column.
func (d *Decoder) Open(column Column, rows int64, pages file.PageReader) error {
	d.Close()
	chunk, err := d.open(column, rows, pages)
	if err != nil {
		return columnError(column, err)
	}
	d.chunk = chunk
	return nil
}

func columnError(column Column, err error) error {
	return fmt.Errorf("column %q: %w", column.Field.Name, err)
}

func (d *Decoder) open(column Column, rows int64, pages file.PageReader) (*chunkDecoder, error) {
	if rows < 0 || int64(int(rows)) != rows {
		return nil, fmt.Errorf("%d rows", rows)
	}
	if !Decodes(column.Field.Type, column.Leaf) {
		return nil, fmt.Errorf("a column of Parquet type %s cannot be read as %s", column.Leaf.PhysicalType(),
			column.Field.Type)
	}
	values, err := d.newSink(storageType(column.Field.Type), column.Leaf)
	if err != nil {
		return nil, err
	}
	return &chunkDecoder{
		scratch:  &d.scratch,
		column:   column,
		values:   values,
		physical: physicalOf(column.Leaf),
		optional: column.Leaf.MaxDefinitionLevel() > 0,
		pages:    pages,
		total:    int(rows),
		unopened: int(rows),
		most:     sliceBytes(column.Field.Type, d.SliceBytes),
	}, nil
}

// Next reads the next rows of the chunk into memory of the allocator; there must be as many. It reads fewer where the
// slice ends early, but at least one. The caller releases the array. The context is checked before each page.
//
// The caller must have checked that the number of rows is plausible, because memory for all of them is allocated at
// once, except for long values. Errors name the column; on error, no memory is left allocated, and the chunk can only
// be closed.
func (d *Decoder) Next(ctx context.Context, rows int64, mem memory.Allocator) (arrow.Array, error) {
	c := d.chunk
	if c == nil || rows < 0 || rows > int64(c.page.left+c.unopened) {
		return nil, fmt.Errorf("%d rows of a column chunk that has not as many more", rows)
	}
	out, err := c.slice(ctx, int(rows), mem)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, columnError(c.column, err)
	}
	return out, nil
}

// Close ends the chunk, wherever it is. It may be called again.
func (d *Decoder) Close() {
	if d.chunk != nil {
		d.chunk.values.close()
		d.chunk = nil
		d.scratch.trim()
	}
}

// chunkDecoder is the state of one chunk, and of one slice of it.
type chunkDecoder struct {
	*scratch
	column     Column
	values     sink
	physical   physical
	optional   bool
	dictionary bool // a dictionary page was there
	pages      file.PageReader
	page       openPage
	total      int   // rows of the chunk
	unopened   int   // rows behind the rows of page
	most       int64 // bytes of the values of a slice

	rows     int // of the slice
	at       int // of these, so far
	valid    int // of these
	validity *memory.Buffer
	mem      memory.Allocator
}

// slice decodes rows, of which there are as many. With the last of the chunk it reads on to the end of the pages, where
// there may be no more.
func (c *chunkDecoder) slice(ctx context.Context, rows int, mem memory.Allocator) (arrow.Array, error) {
	c.rows, c.at, c.valid, c.mem = rows, 0, 0, mem
	defer c.release() // what finish has not handed over
	c.values.reserve(mem, rows)
	for {
		full, err := c.take(min(c.page.left, c.rows-c.at))
		if err != nil {
			return nil, err
		}
		if full || c.at == c.rows && c.page.left+c.unopened > 0 {
			rows = c.at
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !c.pages.Next() {
			if err := c.pages.Err(); err != nil {
				return nil, err
			}
			break
		}
		if err := c.open(c.pages.Page()); err != nil {
			return nil, err
		}
	}
	if c.at < rows {
		return nil, fmt.Errorf("its pages have %d rows, the row group has %d", c.total-c.unopened, c.total)
	}
	if c.validity != nil && rows < c.rows {
		c.validity.Resize((rows + 7) / 8)
	}
	nulls := rows - c.valid
	if nulls > 0 && !c.column.Field.Nullable {
		return nil, fmt.Errorf("%d nulls in a column that allows none", nulls)
	}
	data, err := c.values.finish(storageType(c.column.Field.Type), c.validity, nulls)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	out := array.MakeFromData(data)
	if extension, ok := c.column.Field.Type.(arrow.ExtensionType); ok {
		defer out.Release()
		return array.NewExtensionArrayWithStorage(extension, out), nil
	}
	return out, nil
}

// take appends rows of the open page, which has as many, or those that the slice has room for.
func (c *chunkDecoder) take(rows int) (full bool, err error) {
	if rows == 0 {
		return false, nil
	}
	page := &c.page
	valid := rows
	if page.levels != nil {
		valid = bitutil.CountSetBits(page.levels, page.at, rows)
	}
	if valid > 0 {
		taken, err := page.values(valid)
		if err != nil {
			return false, fmt.Errorf("page with encoding %s: %w", page.encoding, err)
		}
		if full = taken < valid; full {
			if rows = taken; page.levels != nil {
				rows = positionOfBit(page.levels, page.at, taken)
			}
			valid = taken
		}
	}
	if valid < rows {
		c.needValidity()
	}
	if c.validity != nil {
		if page.levels != nil {
			bitutil.CopyBitmap(page.levels, page.at, rows, c.validity.Bytes(), c.at)
		} else {
			bitutil.SetBitsTo(c.validity.Bytes(), int64(c.at), int64(rows), true)
		}
	}
	if valid < rows {
		c.values.spread(rows, valid, c.validity.Bytes())
	}
	page.at += rows
	page.left -= rows
	c.at += rows
	c.valid += valid
	return full, nil
}

// positionOfBit is the distance from a bit to the set bit that has n set ones before it, of which there is one.
func positionOfBit(bits []byte, from, n int) (distance int) {
	for ; n > 0 || !bitutil.BitIsSet(bits, from+distance); distance++ {
		if bitutil.BitIsSet(bits, from+distance) {
			n--
		}
	}
	return distance
}

// offsetBytes is how many bytes of values 32-bit offsets are used for.
const offsetBytes = 1 << 30

// sliceBytes is how many bytes the values of a slice may have, other than the first one.
func sliceBytes(dt arrow.DataType, most int64) int64 {
	if most == 0 {
		most = math.MaxInt64
	}
	switch storageType(dt).ID() {
	case arrow.STRING, arrow.BINARY:
		return min(most, offsetBytes)
	}
	return most
}

// room is how many more bytes the values of the slice may have.
func (c *chunkDecoder) room() int64 { return c.most - c.values.bytes() }

// fit is how many of the next n values, of a length each, the slice has room for.
func (c *chunkDecoder) fit(n int, length func(i int) int64) int {
	room, first := c.room(), c.values.bytes() == 0
	for i := range n {
		if room -= length(i); room < 0 && (i > 0 || !first) {
			return i
		}
	}
	return n
}

// needValidity makes the bitmap of the slice, whose rows so far are all valid.
func (c *chunkDecoder) needValidity() {
	if c.validity != nil {
		return
	}
	c.validity = memory.NewResizableBuffer(c.mem)
	c.validity.Resize((c.rows + 7) / 8)
	clear(c.validity.Buf())
	bitutil.SetBitsTo(c.validity.Bytes(), 0, int64(c.at), true)
}

func (c *chunkDecoder) release() {
	c.values.release()
	if c.validity != nil {
		c.validity.Release()
		c.validity = nil
	}
}

// grown gives a slice of n elements that may have been used before.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// trim gives back scratch that is larger than is worth keeping.
func (s *scratch) trim() {
	s.entries = kept(s.entries, 1)
	s.offsets = kept(s.offsets, 4)
	s.plain = kept(s.plain, 1)
	s.lengths = kept(s.lengths, 4)
	s.prefixes = kept(s.prefixes, 4)
	s.levels = kept(s.levels, 1)
	s.bits = kept(s.bits, 1)
}

func kept[T any](s []T, width int) []T {
	if cap(s) > keptScratchBytes/width {
		return nil
	}
	return s[:0]
}
