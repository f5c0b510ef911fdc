package columnchunk

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// openPage is a data page and how far it was read.
type openPage struct {
	left     int    // rows that were not read
	at       int    // rows that were
	levels   []byte // a bit for each row; nil: all are valid
	encoding parquet.Encoding
	values   valueReader // nil: there are none
}

// valueReader appends the next n values of a page to the sink, or those that the slice has room for. The page may have
// fewer, which is an error.
type valueReader func(n int) (taken int, err error)

// open opens a page. Its predecessor was read to its end.
func (c *chunkDecoder) open(page file.Page) error {
	c.page = openPage{}
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
				valid, err = c.readLevels(levels, rows)
			case parquet.Encodings.BitPacked: //nolint:staticcheck // written by old programs
				if levels, data, err = cut(data, (rows+7)/8); err != nil {
					return fmt.Errorf("definition levels: %w", err)
				}
				valid = c.readPackedLevels(levels, rows)
			default:
				return fmt.Errorf("definition levels with encoding %s", encoding)
			}
			if err != nil {
				return fmt.Errorf("definition levels: %w", err)
			}
		}
		return c.openValues(parquet.Encoding(page.Encoding()), data, rows, valid)
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
			if valid, err = c.readLevels(levels, rows); err != nil {
				return fmt.Errorf("definition levels: %w", err)
			}
		}
		return c.openValues(parquet.Encoding(page.Encoding()), data, rows, valid)
	}
	return fmt.Errorf("a page of unknown type %T", page)
}

func (c *chunkDecoder) pageRows(values int32) (int, error) {
	if values < 0 || int(values) > c.unopened {
		return 0, fmt.Errorf("a page has %d values, the row group has %d more rows", values, c.unopened)
	}
	return int(values), nil
}

func (c *chunkDecoder) dictionaryPage(page *file.DictionaryPage) error {
	if c.dictionary || c.unopened < c.total {
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

// openValues opens a page whose levels have been read.
func (c *chunkDecoder) openValues(encoding parquet.Encoding, data []byte, rows, valid int) error {
	c.page.left, c.page.encoding = rows, encoding
	c.unopened -= rows
	if valid == 0 {
		return nil
	}
	var err error
	if c.page.values, err = c.valueReader(encoding, data, valid); err != nil {
		return fmt.Errorf("page with encoding %s: %w", encoding, err)
	}
	return nil
}

// valueReader reads the values of a page.
func (c *chunkDecoder) valueReader(encoding parquet.Encoding, data []byte, values int) (valueReader, error) {
	switch encoding {
	case parquet.Encodings.Plain:
		return c.plainValues(data, values), nil
	case parquet.Encodings.RLEDict, parquet.Encodings.PlainDict:
		return c.indexValues(data)
	}
	return c.encodedValues(encoding, data, values)
}

// plainValues reads values in the PLAIN form.
func (c *chunkDecoder) plainValues(data []byte, values int) valueReader {
	if c.physical.width < 0 {
		return c.plainBits(data)
	}
	return func(n int) (int, error) {
		batch := data
		if c.physical.width == 0 && int64(len(data)) > c.room() {
			n = c.fitPlain(data, n)
		}
		if n < values && c.physical.width == 0 { // for the sink takes memory for all that it sees
			var err error
			if batch, err = cutValues(data, n); err != nil {
				return 0, err
			}
		}
		used, err := c.values.appendPlain(batch, n)
		if err != nil {
			return 0, err
		}
		data = data[used:]
		values -= n
		return n, nil
	}
}

// fitPlain is how many of the next n values, which stand behind their lengths, the slice has room for.
func (c *chunkDecoder) fitPlain(data []byte, n int) int {
	end := 0
	return c.fit(n, func(int) int64 {
		if len(data)-end < 4 {
			return 0 // an error, for the reader of the value
		}
		length := int(load32(data[end:]))
		end += 4 + length
		return int64(length)
	})
}

// cutValues cuts the data behind n values that stand behind their lengths.
func cutValues(data []byte, n int) ([]byte, error) {
	end := 0
	for range n {
		if len(data)-end < 4 {
			return nil, errShort
		}
		length := int(load32(data[end:]))
		if end += 4; length > len(data)-end {
			return nil, errShort
		}
		end += length
	}
	return data[:end], nil
}

// plainBits reads booleans in the PLAIN form.
func (c *chunkDecoder) plainBits(data []byte) valueReader {
	at := 0
	return func(n int) (int, error) {
		batch := data[min(at/8, len(data)):]
		if at%8 != 0 {
			if (at+n+7)/8 > len(data) {
				return 0, errShort
			}
			c.bits = grown(c.bits, (n+7)/8)
			bitutil.CopyBitmap(data, at, n, c.bits, 0)
			batch = c.bits
		}
		at += n
		_, err := c.values.appendPlain(batch, n)
		return n, err
	}
}

// indexValues reads indices into the dictionary.
func (c *chunkDecoder) indexValues(data []byte) (valueReader, error) {
	if !c.dictionary {
		return nil, errors.New("there is no dictionary page")
	}
	if len(data) == 0 {
		return nil, errShort
	}
	indices, err := newHybrid(data[1:], int(data[0]))
	if err != nil {
		return nil, err
	}
	var waiting []uint32 // of c.indices, that the slice before had no room for
	return func(n int) (taken int, err error) {
		c.indices = grown(c.indices, batchIndices)
		for taken < n {
			batch := waiting[:min(n-taken, len(waiting))]
			if len(batch) == 0 {
				batch = c.indices[:min(n-taken, batchIndices)]
				waiting = batch
				if err := indices.read(batch); err != nil {
					return 0, err
				}
			}
			fit := len(batch)
			if lengths := c.values.lengths(batch, c.room()); lengths != nil {
				fit = c.fit(fit, lengths)
			}
			if err := c.values.appendIndices(batch[:fit]); err != nil {
				return 0, err
			}
			taken, waiting = taken+fit, waiting[fit:]
			if fit < len(batch) {
				break
			}
		}
		return taken, nil
	}, nil
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
