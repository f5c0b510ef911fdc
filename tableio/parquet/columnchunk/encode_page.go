package columnchunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxPageBytes is the most that the header of a page can say.
var maxPageBytes = math.MaxInt32

var errLargePage = errors.New("a value too large for a page")

// dataPages cuts the rows into pages. fit tells how many values, of all from a given one on, fit a page; at least one
// if there is one. body appends values to a page.
func (e *Encoder) dataPages(
	encoding parquet.Encoding, fit func(from int) int, body func(page []byte, from, n int) ([]byte, error),
) (err error) {
	row, value := 0, 0
	for {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		end, n := e.rows.advance(row, pageRows, fit(value))
		page := e.page[:0]
		if e.nullable() {
			page = appendLevels(page, &e.rows, row, end)
		}
		if e.page, err = body(page, value, n); err != nil {
			return err
		}
		if err := e.writePage(pageHeader{encoding: encoding, values: end - row}, e.page); err != nil {
			return err
		}
		e.chunk.dataPages++
		row, value = end, value+n
		if row == e.rows.rows {
			return nil
		}
	}
}

// indexPages writes indices of a dictionary.
func (e *Encoder) indexPages(indices []uint16, entries int) error {
	width := indexWidth(entries)
	fit := func(int) int { return pageRows }
	return e.dataPages(parquet.Encodings.RLEDict, fit, func(page []byte, from, n int) ([]byte, error) {
		return appendHybrid(append(page, byte(width)), indices[from:from+n], width), nil
	})
}

// indexWidth is the number of bits of an index.
func indexWidth(entries int) int { return bits.Len(uint(max(entries, 1) - 1)) }

// dictionaryPage writes the dictionary, plainly encoded. It comes before all other pages.
func (e *Encoder) dictionaryPage(entries int, page []byte) error {
	err := e.writePage(pageHeader{dictionary: true, encoding: parquet.Encodings.Plain, values: entries}, page)
	e.chunk.dictionaryBytes = len(e.chunk.bytes)
	return err
}

func (e *Encoder) writePage(header pageHeader, page []byte) error {
	if len(page) > maxPageBytes {
		return errLargePage
	}
	compressed, err := e.compress(page)
	if err != nil {
		return err
	}
	if len(compressed) > maxPageBytes {
		return errLargePage
	}
	header.plainBytes, header.bytes = len(page), len(compressed)
	c := e.chunk
	begin := len(c.bytes)
	c.bytes = header.append(c.bytes)
	c.plainBytes += len(c.bytes) - begin + len(page)
	c.bytes = append(c.bytes, compressed...)
	return nil
}

// compress returns the page compressed by the codec of the chunk. The result is valid until the next call.
func (e *Encoder) compress(page []byte) ([]byte, error) {
	switch e.chunk.codec {
	case compress.Codecs.Uncompressed:
		return page, nil
	case compress.Codecs.Snappy:
		e.compressed = s2.EncodeSnappy(e.compressed[:0], page)
	case compress.Codecs.Zstd:
		if e.zstd == nil {
			encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
				zstd.WithWindowSize(pageBytes), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
			if err != nil {
				return nil, err
			}
			e.zstd = encoder
		}
		e.compressed = e.zstd.EncodeAll(page, e.compressed[:0])
	case compress.Codecs.Lz4Raw:
		n, err := e.lz4.CompressBlock(page, grow(&e.compressed, lz4.CompressBlockBound(len(page))))
		if err != nil {
			return nil, err
		}
		if n == 0 { // an empty page: one token without literals
			e.compressed[0], n = 0, 1
		}
		return e.compressed[:n], nil
	default:
		return nil, fmt.Errorf("compression %s cannot be written", e.chunk.codec)
	}
	return e.compressed, nil
}

// pageHeader is what Parquet says of a page, in Thrift's compact protocol. Without values that depend on earlier ones,
// a few bytes suffice.
type pageHeader struct {
	dictionary        bool
	encoding          parquet.Encoding
	values            int // nulls included
	plainBytes, bytes int
}

func (h *pageHeader) append(out []byte) []byte {
	const dataPage, dictionaryPage = 0, 2
	const dataHeader, dictionaryHeader = 2<<4 | 12, 4<<4 | 12 // structs: fields 5 and 7 after field 3
	kind, header := dataPage, byte(dataHeader)
	if h.dictionary {
		kind, header = dictionaryPage, dictionaryHeader
	}
	out = appendNext(out, kind)
	out = appendNext(out, h.plainBytes)
	out = appendNext(out, h.bytes)
	out = append(out, header)
	out = appendNext(out, h.values)
	out = appendNext(out, int(h.encoding))
	if !h.dictionary {
		out = appendNext(out, int(parquet.Encodings.RLE)) // definition levels
		out = appendNext(out, int(parquet.Encodings.RLE)) // repetition levels
	}
	return append(out, 0, 0)
}

// appendNext appends the next field, a number of 32 bits.
func appendNext(out []byte, v int) []byte {
	const next32 = 1<<4 | 5
	return binary.AppendVarint(append(out, next32), int64(v))
}
