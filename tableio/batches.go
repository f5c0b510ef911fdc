package tableio

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio/core"
)

// collectBatches reads a whole table. It calls progress, which may be nil, with the number of rows so far.
func collectBatches(
	ctx context.Context, src core.Source, columns []int, mem memory.Allocator, progress func(rows int64),
) (arrow.Table, error) {
	var all []arrow.RecordBatch
	rows := int64(0)
	for batch, err := range src.Batches(ctx, columns, mem) {
		if err != nil {
			relation.ReleaseAll(all)
			return nil, err
		}
		all = append(all, batch)
		if rows += batch.NumRows(); progress != nil {
			progress(rows)
		}
	}
	return assembleBatches(src.Schema(), columns, all)
}

// assembleBatches makes the table of the chosen columns and releases the batches.
func assembleBatches(fields *arrow.Schema, columns []int, batches []arrow.RecordBatch) (arrow.Table, error) {
	chunks := make([][]arrow.Array, len(columns))
	rows := int64(0)
	for _, batch := range batches {
		rows += batch.NumRows()
		for i := range columns {
			batch.Column(i).Retain()
			chunks[i] = append(chunks[i], batch.Column(i))
		}
		batch.Release()
	}
	return assemble(fields, columns, chunks, rows)
}

// assemble makes the table of the chosen columns from their chunks in row
// order, whose references it takes over.
func assemble(fields *arrow.Schema, columns []int, chunks [][]arrow.Array, rows int64) (arrow.Table, error) {
	chosen := make([]arrow.Field, len(columns))
	out := make([]arrow.Column, len(columns))
	for i, column := range columns {
		chosen[i] = fields.Field(column)
		chunked := arrow.NewChunked(chosen[i].Type, chunks[i])
		relation.ReleaseAll(chunks[i])
		if int64(chunked.Len()) != rows {
			return nil, fmt.Errorf("column %q has %d rows of %d", chosen[i].Name, chunked.Len(), rows)
		}
		out[i] = *arrow.NewColumn(chosen[i], chunked)
		chunked.Release()
	}
	meta := fields.Metadata()
	table := array.NewTable(arrow.NewSchema(chosen, &meta), out, rows)
	for i := range out {
		out[i].Release()
	}
	return table, nil
}
