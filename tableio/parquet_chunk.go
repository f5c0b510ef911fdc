package tableio

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/spirjoin/spirjoin/tableio/columnchunk"
)

// chunkReader reads a column chunk in slices of rows, one after the other: by our own decoder, or where the column is
// nested by the library. What it needs is opened with the first slice and kept until close.
type chunkReader struct {
	source *parquetSource
	group  int
	column int
	rows   *file.RowGroupReader // made once for all columns, because that takes time for each column of the file

	sliceBytes int64 // where a slice ends early; 0: at 1 GiB of text

	pages      file.PageReader
	decoder    *columnchunk.Decoder
	nested     *pqarrow.ColumnReader
	nestedRows int64         // of a slice, of about sliceBytes
	failed     bool          // a slice could not be decoded
	last       chan struct{} // closed when the slice that was drawn last is decoded; nil: none was drawn
}

// chunkSlice is the next slice of a column chunk.
type chunkSlice struct {
	chunk  *chunkReader
	rows   int64
	ends   bool            // the chunk
	before <-chan struct{} // closed when the slice before is decoded; nil: this is the first
	done   chan<- struct{} // to be closed when this one is
}

// draw makes the next slice. The slices must be drawn in their order; they may be decoded at any time.
func (c *chunkReader) draw(rows int64, ends bool) chunkSlice {
	before, done := c.last, make(chan struct{})
	c.last = done
	return chunkSlice{chunk: c, rows: rows, ends: ends, before: before, done: done}
}

// abandon waits for the slices that were drawn and closes the chunk.
func (c *chunkReader) abandon() {
	if c.last != nil {
		<-c.last
	}
	c.close()
}

// decode waits for the slice before and decodes this one, as several arrays if its values are long. As many are decoded
// at a time as there are cores.
func (s chunkSlice) decode(ctx context.Context, mem memory.Allocator) (out []arrow.Array, err error) {
	if s.before != nil {
		<-s.before
	}
	defer close(s.done)
	c := s.chunk
	if s.ends {
		defer c.close()
	}
	c.source.cores <- struct{}{}
	defer func() { <-c.source.cores }()
	if c.failed {
		return nil, errors.New("an earlier part of the column chunk cannot be read") // nobody sees more than the first error
	}
	c.failed = true // also where the decoder panics
	sizeBytes := uint64(0)
	for left := s.rows; left > 0 || len(out) == 0; {
		next, err := c.next(ctx, left, mem)
		if err == nil {
			out, left = append(out, next), left-int64(next.Len())
			sizeBytes += next.Data().SizeInBytes()
		}
		if most := physicalMemoryBytes(); err == nil && len(out) > 1 && sizeBytes > uint64(most) {
			err = fmt.Errorf("row group %d: column %q has more than the machine's memory of %d bytes", c.group,
				c.source.fields.Field(c.column).Name, most)
		}
		if err != nil {
			releaseArrays(out)
			return nil, err
		}
	}
	c.failed = false
	return out, nil
}

// next decodes the next rows, or fewer where the slice ends early.
func (c *chunkReader) next(ctx context.Context, rows int64, mem memory.Allocator) (out arrow.Array, err error) {
	if c.decoder == nil && c.nested == nil {
		err = c.open(ctx, mem)
	}
	switch {
	case err != nil:
	case c.nested != nil:
		out, err = c.nextNested(rows, mem)
	default:
		out, err = c.decoder.Next(ctx, rows, mem)
	}
	if err != nil {
		return nil, fmt.Errorf("row group %d: %w", c.group, err)
	}
	return out, nil
}

func (c *chunkReader) open(ctx context.Context, mem memory.Allocator) (err error) {
	field := &c.source.columns[c.column]
	if field.Column == nil {
		return c.openNested(ctx, mem)
	}
	if c.pages, err = c.rows.GetColumnPageReader(field.Leaf); err != nil {
		return err
	}
	c.decoder = c.source.decoders.Get().(*columnchunk.Decoder)
	c.decoder.SliceBytes = c.sliceBytes
	return c.decoder.Open(*field.Column, c.rows.NumRows(), c.pages)
}

// close frees what the chunk holds. It may be called again.
func (c *chunkReader) close() {
	if c.decoder != nil {
		c.decoder.Close()
		c.source.decoders.Put(c.decoder)
		c.decoder = nil
	}
	if c.pages != nil {
		c.pages.Close()
		c.pages = nil
	}
	if c.nested != nil {
		c.nested.Release()
		c.nested = nil
	}
}

// firstNestedRows are decoded of a nested column to see how long rows are.
const firstNestedRows = 1 << 10

func (c *chunkReader) openNested(ctx context.Context, mem memory.Allocator) error {
	reader, err := pqarrow.NewFileReader(c.source.file, pqarrow.ArrowReadProperties{}, cleared{mem})
	if err != nil {
		return err
	}
	leaves := map[int]bool{}
	collectLeaves(&reader.Manifest.Fields[c.column], leaves)
	nested, err := reader.GetFieldReader(ctx, c.column, leaves, []int{c.group})
	if err != nil {
		return err
	}
	if nested == nil {
		return errors.New("the column has no values to read")
	}
	c.nested = nested
	return nil
}

func (c *chunkReader) nextNested(rows int64, mem memory.Allocator) (arrow.Array, error) {
	bounded := c.sliceBytes > 0
	if bounded {
		if c.nestedRows == 0 {
			stored := c.source.storedRowBytes(c.group, c.column)
			c.nestedRows = max(1, min(firstNestedRows, int64(float64(c.sliceBytes)/max(stored, 1))))
		}
		rows = min(rows, c.nestedRows)
	}
	chunked, err := c.nested.NextBatch(rows)
	if err != nil {
		return nil, err
	}
	if int64(chunked.Len()) != rows {
		return nil, fmt.Errorf("column %q: %d rows are there, %d were announced",
			c.source.fields.Field(c.column).Name, chunked.Len(), rows)
	}
	chunks := chunked.Chunks()
	if len(chunks) == 1 && !bounded {
		return chunks[0], nil
	}
	defer chunked.Release() // whose buffers may have twice the bytes that are used
	out, err := array.Concatenate(chunks, mem)
	if err != nil || !bounded {
		return out, err
	}
	perRow := float64(out.Data().SizeInBytes()) / float64(max(rows, 1)) // the library counts rows alone
	c.nestedRows = max(1, min(4*c.nestedRows, int64(float64(c.sliceBytes)/max(perRow, 1))))
	return out, nil
}

func collectLeaves(field *pqarrow.SchemaField, leaves map[int]bool) {
	if field.IsLeaf() {
		leaves[field.ColIndex] = true
	}
	for i := range field.Children {
		collectLeaves(&field.Children[i], leaves)
	}
}
