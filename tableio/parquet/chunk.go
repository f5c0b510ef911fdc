package parquet

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/parquet/columnchunk"
)

// chunkReader reads a column chunk in slices of rows, one after the other: by our own decoder, or where the column is
// nested by the library. What it needs is opened with the first slice and kept until close.
type chunkReader struct {
	source *Source
	group  int
	column int
	rows   *file.RowGroupReader // made once for all columns, because that takes time for each column of the file

	sliceBytes int64 // where a slice ends early; 0: at 1 GiB of text

	pages      file.PageReader
	decoder    *columnchunk.Decoder
	nested     *pqarrow.ColumnReader
	memory     *nestedMemory // of nested
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
		// Only the first error is reported.
		return nil, errors.New("an earlier part of the column chunk cannot be read")
	}
	c.failed = true // also where the decoder panics
	sizeBytes := uint64(0)
	for left := s.rows; left > 0 || len(out) == 0; {
		next, err := c.next(ctx, left, mem)
		if err == nil {
			out, left = append(out, next), left-int64(next.Len())
			sizeBytes += next.Data().SizeInBytes()
		}
		if most := core.PhysicalMemoryBytes(); err == nil && len(out) > 1 && sizeBytes > uint64(most) {
			err = fmt.Errorf("row group %d: column %q has more than the machine's memory of %d bytes", c.group,
				c.source.fields.Field(c.column).Name, most)
		}
		if err != nil {
			relation.ReleaseAll(out)
			return nil, err
		}
	}
	c.failed = false
	return out, nil
}

// next decodes the next rows, or fewer where the slice ends early.
func (c *chunkReader) next(ctx context.Context, rows int64, mem memory.Allocator) (out arrow.Array, err error) {
	if c.decoder == nil && c.nested == nil {
		err = c.open(ctx, rows, mem)
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

func (c *chunkReader) open(ctx context.Context, rows int64, mem memory.Allocator) (err error) {
	field := &c.source.columns[c.column]
	for leaf := field.First; leaf < field.First+field.Leaves; leaf++ {
		chunk, err := c.rows.MetaData().ColumnChunk(leaf)
		if err != nil {
			return err
		}
		c.source.pages.mend(chunk)
	}
	if field.Column == nil {
		return c.openNested(ctx, rows, mem)
	}
	if c.pages, err = c.rows.GetColumnPageReader(field.First); err != nil {
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

func (c *chunkReader) openNested(ctx context.Context, rows int64, mem memory.Allocator) error {
	texts, err := c.checkTexts(rows)
	if err != nil {
		return err
	}
	alone, err := c.source.alone[c.column]()
	if err != nil {
		return err
	}
	c.memory = &nestedMemory{Allocator: mem, texts: texts}
	reader, err := pqarrow.NewFileReader(alone, pqarrow.ArrowReadProperties{}, c.memory)
	if err != nil {
		return err
	}
	leaves := map[int]bool{}
	for leaf := range c.source.columns[c.column].Leaves {
		leaves[leaf] = true
	}
	nested, err := reader.GetFieldReader(ctx, 0, leaves, []int{c.group})
	if err != nil {
		return err
	}
	if nested == nil {
		return errors.New("the column has no values to read")
	}
	c.nested = nested
	return nil
}

// checkTexts tells whether there are texts in the column, and refuses slices in which these exceed, according to the
// footer, what offsets of 32 bits can address. Where a dictionary makes them longer than that tells, nestedMemory
// refuses.
func (c *chunkReader) checkTexts(rows int64) (texts bool, err error) {
	field := &c.source.columns[c.column]
	for leaf := field.First; leaf < field.First+field.Leaves; leaf++ {
		chunk, err := c.rows.MetaData().ColumnChunk(leaf)
		if err != nil {
			return false, err
		}
		if chunk.Type() != parquet.Types.ByteArray {
			continue
		}
		texts = true
		if float64(chunk.TotalUncompressedSize())*float64(rows) > math.MaxInt32*float64(c.rows.NumRows()) {
			return false, c.tooMuchText(rows)
		}
	}
	return texts, nil
}

func (c *chunkReader) tooMuchText(rows int64) error {
	return fmt.Errorf("column %q: more than 2 GiB of nested text in %d rows; leave it out with columns",
		c.source.fields.Field(c.column).Name, rows)
}

func (c *chunkReader) nextNested(rows int64, mem memory.Allocator) (arrow.Array, error) {
	stored, err := c.nextStored(rows, mem)
	if err != nil {
		return nil, err
	}
	defer stored.Release()
	wide := core.WidenIndices(stored.Data(), c.source.fields.Field(c.column).Type)
	defer wide.Release()
	return array.MakeFromData(wide), nil
}

// nextStored decodes rows of a nested column as pqarrow gives them.
func (c *chunkReader) nextStored(rows int64, mem memory.Allocator) (arrow.Array, error) {
	bounded := c.sliceBytes > 0
	if bounded {
		if c.nestedRows == 0 {
			stored := c.source.storedRowBytes(c.group, c.column)
			c.nestedRows = max(1, min(firstNestedRows, int64(float64(c.sliceBytes)/max(stored, 1))))
		}
		rows = min(rows, c.nestedRows)
	}
	var chunked *arrow.Chunked
	err := core.Guard(func() (err error) {
		chunked, err = c.nested.NextBatch(rows)
		return err
	})
	if c.memory.refused.Load() {
		return nil, c.tooMuchText(rows)
	}
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", c.source.fields.Field(c.column).Name, err)
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
