package join

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Source is a side of a join that comes batch by batch: a table, a reader, or whatever yields record batches.
type Source struct {
	Schema *arrow.Schema
	Rows   int64 // all of them, about, for predictions; negative where that is not known
	// Batches yields the rows, in order. A batch has the columns of Schema, and may have others; it belongs to the
	// receiver, who releases it. An error ends the join with it, and nothing follows. When ctx is done, a source that
	// waits for rows should return. It is called once a join, and ranged over by a goroutine of its own.
	Batches func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error]

	table arrow.Table // that the source is; may be nil
}

// FromTable is a source of the rows of a table, which must live until the result is closed. It can be read again.
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

// FromReader is a source of what a reader has left, which is read once. The reader stays the caller's, who leaves it
// alone until the result is closed. A reader that waits for rows delays the end of a join that is cancelled.
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
