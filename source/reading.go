package source

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
)

// Slice is the rows [from, to) of a batch, which it keeps alive, with their share in its memory.
type Slice struct {
	batch             arrow.RecordBatch
	from, to          int64
	bytes, batchBytes uint64
}

// Rows is the number of rows.
func (s Slice) Rows() int64 { return s.to - s.from }

// BatchBytes is the memory of the whole batch, which the slice keeps alive.
func (s Slice) BatchBytes() uint64 { return s.batchBytes }

// Release releases the batch.
func (s Slice) Release() { s.batch.Release() }

// SliceRows is the maximum number of rows of a slice. Batches are divided into slices, so that parts have about the
// planned size, whatever the size of batches.
const SliceRows = 1 << 16

// Reading is a source that a goroutine of a flow reads, one slice ahead of the receiver.
type Reading struct {
	Side    relation.Side
	Schema  *arrow.Schema     // of the columns that the join needs
	Slices  *exec.Pipe[Slice] // that were read
	waiting []Slice           // taken from the pipe, to be gathered again
}

// Read begins to read columns of a source.
func Read(flow *exec.Flow, side relation.Side, source Source, columns []string) (*Reading, error) {
	schema, err := Schema(source.Schema, side, columns)
	if err != nil {
		return nil, err
	}
	r := &Reading{Side: side, Schema: schema, Slices: exec.NewPipe[Slice](flow, 0)}
	flow.AtEnd(r.release)
	flow.Go("read "+side.String(), func(ctx context.Context) error {
		for s, err := range source.Slices(ctx, side, schema) {
			if err == nil {
				err = r.Slices.Put(ctx, s)
			}
			if err != nil {
				return err
			}
		}
		r.Slices.End()
		return nil
	})
	return r, nil
}

// Next returns the next slice, which the receiver releases; some is false if there are no more.
func (r *Reading) Next(ctx context.Context) (s Slice, some bool, err error) {
	if len(r.waiting) > 0 {
		s, r.waiting = r.waiting[0], r.waiting[1:]
		return s, true, nil
	}
	return r.Slices.Take(ctx)
}

// Back takes gathered rows back: Next returns them again, before the slices that follow. g has no rows afterwards.
func (r *Reading) Back(g *Gathered) {
	var waiting []Slice
	for _, s := range g.slices {
		s.Divide(SliceRows, func(s Slice, _ error) bool {
			waiting = append(waiting, s)
			return true
		})
	}
	r.waiting = append(waiting, r.waiting...)
	*g = Gathered{Schema: g.Schema}
}

// Waits reports whether slices wait to be gathered again.
func (r *Reading) Waits() bool { return len(r.waiting) > 0 }

// WaitingBytes is the memory of the slices that wait.
func (r *Reading) WaitingBytes() (sizeBytes uint64) {
	for _, s := range r.waiting {
		sizeBytes += s.bytes
	}
	return sizeBytes
}

func (r *Reading) release() {
	relation.ReleaseAll(r.waiting)
	r.waiting = nil
}

// Schema returns the named columns of a schema of a side.
func Schema(of *arrow.Schema, side relation.Side, columns []string) (*arrow.Schema, error) {
	var fields []arrow.Field
	for _, name := range columns {
		if err := relation.CheckColumn(of, side, name); err != nil {
			return nil, err
		}
		fields = append(fields, of.Field(of.FieldIndices(name)[0]))
	}
	return arrow.NewSchema(fields, nil), nil
}

// Slices yields the columns of a schema from each batch, slice by slice. The receiver releases the slices. Nothing
// follows an error, which names the side and the number of batches before it. The end of ctx is an error too.
func (s Source) Slices(ctx context.Context, side relation.Side, schema *arrow.Schema) iter.Seq2[Slice, error] {
	return func(yield func(Slice, error) bool) {
		batches := 0
		for batch, err := range s.Batches(ctx) {
			var chosen Slice
			switch {
			case err != nil:
			case batch == nil:
				err = fmt.Errorf("%w: a batch is nil", backend.ErrInvalidInput)
			default:
				chosen, err = chooseColumns(batch, schema, side)
				batch.Release()
			}
			if err != nil {
				yield(Slice{}, fmt.Errorf("%s source after %s: %w", side, text.Plural(batches, "batch"), err))
				return
			}
			if batches++; !chosen.Divide(SliceRows, yield) {
				return
			}
			if ctx.Err() != nil {
				break
			}
		}
		if ctx.Err() != nil { // the source may have ended for that
			yield(Slice{}, backend.ContextError(ctx))
		}
	}
}

// Divide yields slices of at most mostRows rows, and releases the whole.
func (s Slice) Divide(mostRows int64, yield func(Slice, error) bool) (more bool) {
	defer s.Release()
	for from := s.from; from < s.to; from += mostRows {
		to := min(s.to, from+mostRows)
		s.batch.Retain()
		if !yield(Slice{s.batch, from, to, s.bytes * uint64(to-from) / uint64(s.to-s.from), s.batchBytes}, nil) {
			return false
		}
	}
	return true
}

// Bytes is the slice's share of the memory of its batch.
func (s Slice) Bytes() uint64 { return s.bytes }

// chooseColumns takes the columns of a schema out of a batch. The batch stays the caller's.
func chooseColumns(batch arrow.RecordBatch, schema *arrow.Schema, side relation.Side) (s Slice, err error) {
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

// arrayBytes estimates the memory of an array. If the array is a slice, it is the slice's share of the memory of the
// whole array.
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
	return uint64(float64(relation.ColumnBytes(one)) * float64(a.Len()) / float64(max(1, rows)))
}
