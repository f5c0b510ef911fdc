// Package source reads the sides of joins: tables, readers, and anything else that yields record batches. A goroutine
// reads a source one slice ahead of the receiver, which gathers slices into tables.
package source

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// Source is a side of a join that is read batch by batch: a table, a reader, or anything else that yields record
// batches.
type Source struct {
	Schema *arrow.Schema
	Rows   int64 // approximate total number, for predictions; negative if unknown
	// Batches yields the rows in order. A batch has the columns of Schema, and may have others; the receiver owns and
	// releases it. An error or a panic ends the sequence, and the join fails with it. When ctx is done, a source that
	// waits for rows should return. Batches is called once per join; with Again, it may be called again, for all rows,
	// when nothing draws from the last sequence any more. A separate goroutine may consume a sequence.
	Batches func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error]
	Again   bool

	table arrow.Table // that the source is; may be nil
}

// Table returns the table that the source was made from; nil if it has none.
func (s *Source) Table() arrow.Table { return s.table }

// Check returns backend.ErrInvalidInput if the source, of this side, has no schema or no batches.
func (s *Source) Check(side relation.Side) error {
	detail := ""
	switch {
	case s.Schema == nil:
		detail = "the schema of the %s source is nil: it is empty, or of a table or reader that is nil"
	case s.Batches == nil:
		detail = "Batches of the %s source is nil"
	default:
		return nil
	}
	return &backend.OpError{Op: "join", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(detail, side)}
}

// FromTable returns a source of the rows of a table. The table must stay alive until the result is closed. The source
// can be read several times. For a nil table it returns the zero Source, which a join refuses.
func FromTable(table arrow.Table) Source {
	if table == nil {
		return Source{}
	}
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
	return Source{Schema: table.Schema(), Rows: table.NumRows(), Batches: batches, Again: true, table: table}
}

// Empty returns a source without rows.
func Empty(schema *arrow.Schema) Source { return FromTable(NoRows(schema)) }

// NoRows returns a table without rows, which needs no release.
func NoRows(schema *arrow.Schema) arrow.Table {
	var columns []arrow.Column
	for _, field := range schema.Fields() {
		chunked := arrow.NewChunked(field.Type, nil)
		columns = append(columns, *arrow.NewColumn(field, chunked))
	}
	return array.NewTable(schema, columns, 0)
}

// FromReader returns a source of the remaining rows of a reader, which can be read once. The caller keeps ownership of
// the reader and must not use it until the result is closed. A reader that blocks while waiting for rows delays the end
// of a cancelled join. For a nil reader it returns the zero Source, which a join refuses.
func FromReader(reader array.RecordReader) Source {
	if reader == nil {
		return Source{}
	}
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
