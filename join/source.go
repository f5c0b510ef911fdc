package join

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Source is a side of a join that is read batch by batch: a table, a reader, or anything else that yields record
// batches.
type Source struct {
	Schema *arrow.Schema
	Rows   int64 // approximate total number, for predictions; negative if unknown
	// Batches yields the rows in order. A batch has the columns of Schema, and may have others; the receiver owns and
	// releases it. An error or a panic ends the sequence, and the join fails with it. When ctx is done, a source that
	// waits for rows should return. Batches is called once per join; a separate goroutine may consume its sequence.
	Batches func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error]

	table arrow.Table // that the source is; may be nil
}

// FromTable returns a source of the rows of a table. The table must stay alive until the result is closed. The source
// can be read several times.
func FromTable(table arrow.Table) Source {
	batches := func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			if table.NumCols() == 0 {
				yield(array.NewRecordBatch(table.Schema(), nil, table.NumRows()), nil)
				return
			}
			reader := array.NewTableReader(table, 0)
			defer reader.Release()
			draw(reader, yield)
		}
	}
	return Source{Schema: table.Schema(), Rows: table.NumRows(), Batches: batches, table: table}
}

// FromReader returns a source of the remaining rows of a reader, which can be read once. The caller keeps ownership of
// the reader and must not use it until the result is closed. A reader that blocks while waiting for rows delays the end
// of a cancelled join.
func FromReader(reader array.RecordReader) Source {
	batches := func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) { draw(reader, yield) }
	}
	return Source{Schema: reader.Schema(), Rows: -1, Batches: batches}
}

func draw(reader array.RecordReader, yield func(arrow.RecordBatch, error) bool) {
	for reader.Next() {
		batch := reader.RecordBatch()
		batch.Retain()
		if !yield(batch, nil) {
			return
		}
	}
	if err := reader.Err(); err != nil {
		yield(nil, err)
	}
}
