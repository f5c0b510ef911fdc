package tableio

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// chosenSchema is the schema of some columns, with the metadata of the whole.
func chosenSchema(schema *arrow.Schema, columns []int) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, column := range columns {
		fields[i] = schema.Field(column)
	}
	meta := schema.Metadata()
	return arrow.NewSchema(fields, &meta)
}

// collectBatches reads a whole table. It calls progress, which may be nil, with the number of rows so far.
func collectBatches(ctx context.Context, src source, columns []int, mem memory.Allocator, progress func(rows int64)) (
	arrow.Table, error) {
	var all []arrow.RecordBatch
	rows := int64(0)
	for batch, err := range src.batches(ctx, columns, mem) {
		if err != nil {
			for _, batch := range all {
				batch.Release()
			}
			return nil, err
		}
		all = append(all, batch)
		if rows += batch.NumRows(); progress != nil {
			progress(rows)
		}
	}
	return assembleBatches(src.schema(), columns, all)
}
