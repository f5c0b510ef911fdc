package join

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// slice is the rows [from, to) of a batch, which it keeps alive, with their share in its memory.
type slice struct {
	batch             arrow.RecordBatch
	from, to          int64
	bytes, batchBytes uint64
}

// Release releases the batch.
func (s slice) Release() { s.batch.Release() }

// sliceRows is for how many rows a batch is divided, so that parts of batches of any size are about as large as they
// should be.
const sliceRows = 1 << 16

// reading is a source that a goroutine of a flow reads, one slice ahead of the receiver.
type reading struct {
	side    relation.Side
	schema  *arrow.Schema     // of the columns that the join needs
	slices  *exec.Pipe[slice] // that were read
	waiting []slice           // taken from the pipe, to be gathered again
}

// read begins to read a source.
func read(flow *exec.Flow, side relation.Side, source Source, columns []string) (*reading, error) {
	schema, err := chosenSchema(source.Schema, side, columns)
	if err != nil {
		return nil, err
	}
	r := &reading{side: side, schema: schema, slices: exec.NewPipe[slice](flow, 0)}
	flow.AtEnd(r.release)
	flow.Go("read "+side.String(), func(ctx context.Context) error {
		for s, err := range source.slices(ctx, side, schema) {
			if err == nil {
				err = r.slices.Put(ctx, s)
			}
			if err != nil {
				return err
			}
		}
		r.slices.End()
		return nil
	})
	return r, nil
}

// next returns the next slice, which the receiver releases; some is false where there are no more.
func (r *reading) next(ctx context.Context) (s slice, some bool, err error) {
	if len(r.waiting) > 0 {
		s, r.waiting = r.waiting[0], r.waiting[1:]
		return s, true, nil
	}
	return r.slices.Take(ctx)
}

// waitingBytes is the memory of the slices that wait.
func (r *reading) waitingBytes() (sizeBytes uint64) {
	for _, s := range r.waiting {
		sizeBytes += s.bytes
	}
	return sizeBytes
}

func (r *reading) release() {
	for _, s := range r.waiting {
		s.Release()
	}
	r.waiting = nil
}

// chosenSchema has the named columns.
func chosenSchema(of *arrow.Schema, side relation.Side, columns []string) (*arrow.Schema, error) {
	var fields []arrow.Field
	for _, name := range columns {
		if err := relation.CheckColumn(of, side, name); err != nil {
			return nil, err
		}
		fields = append(fields, of.Field(of.FieldIndices(name)[0]))
	}
	return arrow.NewSchema(fields, nil), nil
}

// slices yields the columns of a schema out of each batch, slice by slice, which the receiver releases. After an error
// nothing follows; it says of which side it is and after how many batches. The end of ctx is one too.
func (s Source) slices(ctx context.Context, side relation.Side, schema *arrow.Schema) iter.Seq2[slice, error] {
	return func(yield func(slice, error) bool) {
		batches := 0
		for batch, err := range s.Batches(ctx) {
			var chosen slice
			switch {
			case err != nil:
			case batch == nil:
				err = fmt.Errorf("%w: a batch is nil", backend.ErrInvalidInput)
			default:
				chosen, err = chooseColumns(batch, schema, side)
				batch.Release()
			}
			if err != nil {
				yield(slice{}, fmt.Errorf("%s source after %s: %w", side, text.Plural(batches, "batch"), err))
				return
			}
			if batches++; !chosen.divide(yield) {
				return
			}
			if ctx.Err() != nil {
				break
			}
		}
		if ctx.Err() != nil { // the source may have ended for that
			yield(slice{}, backend.ContextError(ctx))
		}
	}
}

// divide yields slices of at most sliceRows rows, and releases the whole.
func (s slice) divide(yield func(slice, error) bool) (more bool) {
	defer s.Release()
	for from := s.from; from < s.to; from += sliceRows {
		to := min(s.to, from+sliceRows)
		s.batch.Retain()
		if !yield(slice{s.batch, from, to, s.bytes * uint64(to-from) / uint64(s.to-s.from), s.batchBytes}, nil) {
			return false
		}
	}
	return true
}

// chooseColumns takes the columns of a schema out of a batch. The batch stays the caller's.
func chooseColumns(batch arrow.RecordBatch, schema *arrow.Schema, side relation.Side) (s slice, err error) {
	columns := make([]arrow.Array, schema.NumFields())
	for i, field := range schema.Fields() {
		if err := relation.CheckColumn(batch.Schema(), side, field.Name); err != nil {
			return s, err
		}
		columns[i] = batch.Column(batch.Schema().FieldIndices(field.Name)[0])
		if got := columns[i].DataType(); !arrow.TypeEqual(got, field.Type) {
			return s, fmt.Errorf("%w: a batch of the %s side has column %q of type %s, its schema says %s",
				backend.ErrInvalidInput, side, field.Name, got, field.Type)
		}
		s.batchBytes += arrayBytes(columns[i])
	}
	s.batch, s.to, s.bytes = array.NewRecordBatch(schema, columns, batch.NumRows()), batch.NumRows(), s.batchBytes
	return s, nil
}

// arrayBytes is about the memory of an array, or a slice's share of the memory of the whole array.
func arrayBytes(a arrow.Array) uint64 {
	one := arrow.NewChunked(a.DataType(), []arrow.Array{a})
	defer one.Release()
	rows, bits := a.Data().Offset()+a.Len(), 0 // of a row in the buffer behind the validity
	switch t := a.DataType().(type) {
	case arrow.OffsetsDataType:
		bits = t.OffsetTypeTraits().BytesRequired(1) * 8
	case arrow.FixedWidthDataType:
		bits = t.BitWidth()
	}
	if buffers := a.Data().Buffers(); bits > 0 && len(buffers) > 1 && buffers[1] != nil {
		rows = max(rows, buffers[1].Len()*8/bits)
	}
	return uint64(float64(query.ColumnBytes(one)) * float64(a.Len()) / float64(max(1, rows)))
}

// gathered is slices that become a table.
type gathered struct {
	schema            *arrow.Schema
	slices            []slice
	rows, most, bytes uint64 // most: rows of the largest slice
}

// add takes a slice. One that follows the last of the same batch becomes one with it.
func (g *gathered) add(s slice) {
	rows := uint64(s.to - s.from)
	g.rows, g.most, g.bytes = g.rows+rows, max(g.most, rows), g.bytes+s.bytes
	if n := len(g.slices); n > 0 && g.slices[n-1].batch == s.batch && g.slices[n-1].to == s.from {
		g.slices[n-1].to, g.slices[n-1].bytes = s.to, g.slices[n-1].bytes+s.bytes
		s.Release()
		return
	}
	g.slices = append(g.slices, s)
}

func (g *gathered) release() {
	for _, s := range g.slices {
		s.Release()
	}
	g.slices = nil
}

// table returns all gathered rows as a table, which the caller releases.
func (g *gathered) table() arrow.Table {
	var columns []arrow.Column
	for i, field := range g.schema.Fields() {
		var chunks []arrow.Array
		for _, s := range g.slices {
			chunks = append(chunks, array.NewSlice(s.batch.Column(i), s.from, s.to))
		}
		chunked := arrow.NewChunked(field.Type, chunks)
		columns = append(columns, *arrow.NewColumn(field, chunked))
		chunked.Release()
		for _, chunk := range chunks {
			chunk.Release()
		}
	}
	table := array.NewTable(g.schema, columns, int64(g.rows))
	for _, c := range columns {
		c.Release()
	}
	return table
}
