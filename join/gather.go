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

// collect makes a table of a source. Its memory, at most limitBytes, is awaited as it comes, unless
// grant is nil.
func collect(ctx context.Context, side relation.Side, source Source, columns []string, grant *exec.Grant,
	limitBytes uint64) (arrow.Table, error) {
	schema, err := chosenSchema(source.Schema, side, columns)
	if err != nil {
		return nil, err
	}
	if table := source.table; table != nil {
		table.Retain()
		return table, nil
	}
	g := gathered{schema: schema}
	defer g.release()
	for chosen, err := range source.slices(ctx, side, schema) {
		if err != nil {
			return nil, err
		}
		if g.add(chosen); g.bytes > limitBytes {
			return nil, &backend.OpError{Op: "read build side", Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
				"the %s side takes more than %s; raise memory_limit, or make the other one the build side", side,
				text.Limit(limitBytes))}
		}
		if grant != nil {
			if err := grant.Await(ctx, exec.Need{Host: g.bytes}); err != nil {
				return nil, err
			}
		}
	}
	return g.table(), nil
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

// slice is rows of a batch, with its share in the memory of the batch.
type slice struct {
	arrow.RecordBatch
	bytes, batchBytes uint64
}

// slices yields the columns of a schema out of each batch, which the receiver releases. After an error nothing follows;
// it says of which side it is and after how many batches. The end of ctx is one too.
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
			if batches++; !yield(chosen, nil) {
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
	s.RecordBatch, s.bytes = array.NewRecordBatch(schema, columns, batch.NumRows()), s.batchBytes
	return s, nil
}

// arrayBytes is the memory of an array, or of a slice its share in that of the whole, about.
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

// gathered is batches that become a table.
type gathered struct {
	schema            *arrow.Schema
	batches           []arrow.RecordBatch
	rows, most, bytes uint64 // most: rows of the largest batch
}

func (g *gathered) add(s slice) {
	g.batches = append(g.batches, s.RecordBatch)
	g.rows, g.most, g.bytes = g.rows+uint64(s.NumRows()), max(g.most, uint64(s.NumRows())), g.bytes+s.bytes
}

func (g *gathered) release() {
	for _, batch := range g.batches {
		batch.Release()
	}
	g.batches = nil
}

// table is of all rows, and the caller's.
func (g *gathered) table() arrow.Table {
	var columns []arrow.Column
	for i, field := range g.schema.Fields() {
		var chunks []arrow.Array
		for _, batch := range g.batches {
			chunks = append(chunks, batch.Column(i))
		}
		chunked := arrow.NewChunked(field.Type, chunks)
		columns = append(columns, *arrow.NewColumn(field, chunked))
		chunked.Release()
	}
	table := array.NewTable(g.schema, columns, int64(g.rows))
	for _, c := range columns {
		c.Release()
	}
	return table
}
