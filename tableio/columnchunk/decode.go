package columnchunk

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// Decoder decodes column chunks, one at a time. Its scratch memory is kept between chunks. The zero value is ready for
// use.
//
// Pages are decoded straight into the buffers of the array: the values of a page are written without gaps after those
// of the previous page, then moved apart where there are nulls. Definition levels become bits of the validity bitmap as
// they are read; a chunk without nulls has no bitmap. Values of a dictionary page are converted to their Arrow form
// once.
//
// Pages are not trusted: every index, length and count is checked. A chunk takes from the allocator
//
//   - for values of a fixed width rows x width bytes, and rows/8 for the bitmap, each rounded up to 64 bytes;
//   - for text and binary (rows+1) offsets or rows views, and at most 8 times the bytes that its values have, 4 KiB at
//     least, while it grows; in the end at most twice these bytes and 8 KiB. MaxBytes bounds the bytes of the values.
//
// On the Go heap it takes the size of the largest decoded page, the dictionary page, and 64 KiB. A dictionary column
// that is stored in plain pages also needs a hash table of its distinct values.
type Decoder struct {
	// MaxBytes bounds the total bytes of the text and binary values of a chunk; a chunk with more is an error. With 0
	// the only bound is that of the offsets: 2 GiB for types with 32-bit offsets. It is needed because a few bytes of a
	// page can stand for many copies of a long value.
	MaxBytes int64

	scratch scratch
}

// scratch is memory that is used again.
type scratch struct {
	indices  []uint32 // a batch of dictionary indices
	entries  []byte   // of the dictionary, in Arrow's form; those of variable width without gaps
	offsets  []uint32 // of the entries
	plain    []byte   // values of a page in the PLAIN form, where it is in another one
	lengths  []int32  // of values, and their prefixes
	prefixes []int32
}

// batchIndices are decoded at once: few enough to stay in the first-level cache.
const batchIndices = 2048

// keptScratchBytes is the scratch memory that is kept from one chunk to the next, of each kind.
const keptScratchBytes = 8 << 20

// Decode reads a chunk of a number of rows into memory of the allocator. The caller releases the array. pages are those
// of the chunk, from its start; Decode does not close them. The context is checked before each page.
//
// The caller must have checked that [Decodes] holds for the column and that the number of rows is plausible, because
// memory for all of them is allocated at once. Errors name the column; on error, no memory is left allocated.
func (d *Decoder) Decode(ctx context.Context, column Column, rows int64, pages file.PageReader,
	mem memory.Allocator) (arrow.Array, error) {
	out, err := d.decode(ctx, column, rows, pages, mem)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("column %q: %w", column.Field.Name, err)
	}
	return out, nil
}

func (d *Decoder) decode(ctx context.Context, column Column, rows int64, pages file.PageReader,
	mem memory.Allocator) (arrow.Array, error) {
	if rows < 0 || int64(int(rows)) != rows {
		return nil, fmt.Errorf("%d rows", rows)
	}
	if !Decodes(column.Field.Type, column.Leaf) {
		return nil, fmt.Errorf("a column of Parquet type %s cannot be read as %s", column.Leaf.PhysicalType(),
			column.Field.Type)
	}
	storage := storageType(column.Field.Type)
	values, err := d.newSink(storage, column.Leaf)
	if err != nil {
		return nil, err
	}
	c := &chunkDecoder{
		scratch:  &d.scratch,
		values:   values,
		physical: physicalOf(column.Leaf),
		optional: column.Leaf.MaxDefinitionLevel() > 0,
		rows:     int(rows),
		mem:      mem,
	}
	defer c.release() // what finish has not handed over
	values.reserve(mem, c.rows)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !pages.Next() {
			break
		}
		if err := c.page(pages.Page()); err != nil {
			return nil, err
		}
	}
	if err := pages.Err(); err != nil {
		return nil, err
	}
	if c.at != c.rows {
		return nil, fmt.Errorf("its pages have %d rows, the row group has %d", c.at, c.rows)
	}
	nulls := c.rows - c.valid
	if nulls > 0 && !column.Field.Nullable {
		return nil, fmt.Errorf("%d nulls in a column that allows none", nulls)
	}
	data, err := values.finish(storage, c.validity, nulls)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	out := array.MakeFromData(data)
	if extension, ok := column.Field.Type.(arrow.ExtensionType); ok {
		defer out.Release()
		return array.NewExtensionArrayWithStorage(extension, out), nil
	}
	return out, nil
}

// chunkDecoder is the state of one chunk.
type chunkDecoder struct {
	*scratch
	values     sink
	physical   physical
	optional   bool
	dictionary bool // a dictionary page was there
	rows       int
	at         int // rows so far
	valid      int // of them
	validity   *memory.Buffer
	mem        memory.Allocator
}

func (c *chunkDecoder) release() {
	c.values.release()
	if c.validity != nil {
		c.validity.Release()
	}
	c.scratch.trim()
}

func (c *chunkDecoder) page(page file.Page) error {
	switch page := page.(type) {
	case *file.DictionaryPage:
		return c.dictionaryPage(page)
	case *file.DataPageV1:
		rows, err := c.pageRows(page.NumValues())
		if err != nil {
			return err
		}
		data, valid := page.Data(), rows
		if c.optional {
			var levels []byte
			switch encoding := page.DefinitionLevelEncoding(); encoding {
			case parquet.Encodings.RLE:
				if levels, data, err = cutPrefixed(data); err != nil {
					return fmt.Errorf("definition levels: %w", err)
				}
				valid, err = c.levels(levels, rows)
			case parquet.Encodings.BitPacked: //nolint:staticcheck // written by old programs
				if levels, data, err = cut(data, (rows+7)/8); err != nil {
					return fmt.Errorf("definition levels: %w", err)
				}
				valid, err = c.packedLevels(levels, rows)
			default:
				return fmt.Errorf("definition levels with encoding %s", encoding)
			}
			if err != nil {
				return fmt.Errorf("definition levels: %w", err)
			}
		}
		return c.dataPage(parquet.Encoding(page.Encoding()), data, rows, valid)
	case *file.DataPageV2:
		rows, err := c.pageRows(page.NumValues())
		if err != nil {
			return err
		}
		if page.NumRows() != page.NumValues() {
			return fmt.Errorf("a page of %d values claims %d rows", page.NumValues(), page.NumRows())
		}
		_, data, err := cut(page.Data(), int(page.RepetitionLevelByteLen()))
		if err != nil {
			return fmt.Errorf("repetition levels: %w", err)
		}
		levels, data, err := cut(data, int(page.DefinitionLevelByteLen()))
		if err != nil {
			return fmt.Errorf("definition levels: %w", err)
		}
		valid := rows
		if c.optional {
			if valid, err = c.levels(levels, rows); err != nil {
				return fmt.Errorf("definition levels: %w", err)
			}
		}
		return c.dataPage(parquet.Encoding(page.Encoding()), data, rows, valid)
	}
	return fmt.Errorf("a page of unknown type %T", page)
}

func (c *chunkDecoder) pageRows(values int32) (int, error) {
	if values < 0 || int(values) > c.rows-c.at {
		return 0, fmt.Errorf("a page has %d values, the row group has %d more rows", values, c.rows-c.at)
	}
	return int(values), nil
}

func (c *chunkDecoder) dictionaryPage(page *file.DictionaryPage) error {
	if c.dictionary || c.at > 0 {
		return errors.New("a dictionary page that is not the first page")
	}
	c.dictionary = true
	switch encoding := parquet.Encoding(page.Encoding()); encoding {
	case parquet.Encodings.Plain, parquet.Encodings.PlainDict:
	default:
		return fmt.Errorf("a dictionary page with encoding %s", encoding)
	}
	if page.NumValues() < 0 {
		return fmt.Errorf("a dictionary of %d values", page.NumValues())
	}
	if err := c.values.setDictionary(page.Data(), int(page.NumValues())); err != nil {
		return fmt.Errorf("dictionary page: %w", err)
	}
	return nil
}

// dataPage appends a page whose levels have been read.
func (c *chunkDecoder) dataPage(encoding parquet.Encoding, data []byte, rows, valid int) error {
	if valid > 0 {
		if err := c.appendValues(encoding, data, valid); err != nil {
			return fmt.Errorf("page with encoding %s: %w", encoding, err)
		}
	}
	if valid < rows {
		c.values.spread(rows, valid, c.validity.Bytes())
	}
	c.at += rows
	c.valid += valid
	return nil
}

// appendValues appends the n values of a page.
func (c *chunkDecoder) appendValues(encoding parquet.Encoding, data []byte, n int) error {
	switch encoding {
	case parquet.Encodings.Plain:
		_, err := c.values.appendPlain(data, n)
		return err
	case parquet.Encodings.RLEDict, parquet.Encodings.PlainDict:
		return c.appendIndices(data, n)
	}
	return c.appendEncoded(encoding, data, n)
}

func (c *chunkDecoder) appendIndices(data []byte, n int) error {
	if !c.dictionary {
		return errors.New("there is no dictionary page")
	}
	if len(data) == 0 {
		return errShort
	}
	indices, err := newHybrid(data[1:], int(data[0]))
	if err != nil {
		return err
	}
	c.indices = grown(c.indices, batchIndices)
	for n > 0 {
		batch := c.indices[:min(n, batchIndices)]
		if err := indices.read(batch); err != nil {
			return err
		}
		if err := c.values.appendIndices(batch); err != nil {
			return err
		}
		n -= len(batch)
	}
	return nil
}

// errShort says that a page ends before its values do.
var errShort = errors.New("the page ends before its values do")

// cut splits off the first n bytes.
func cut(data []byte, n int) (head, rest []byte, err error) {
	if n < 0 || n > len(data) {
		return nil, nil, errShort
	}
	return data[:n], data[n:], nil
}

// cutPrefixed splits off bytes whose number stands before them.
func cutPrefixed(data []byte) (head, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errShort
	}
	n := load32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, nil, errShort
	}
	return data[4 : 4+n], data[4+n:], nil
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
}

func kept[T any](s []T, width int) []T {
	if cap(s) > keptScratchBytes/width {
		return nil
	}
	return s[:0]
}
