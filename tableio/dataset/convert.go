package dataset

import (
	"context"
	"fmt"
	"iter"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio/core"
)

// conversion makes batches of the dataset of batches of a file.
type conversion struct {
	schema  *arrow.Schema // of the columns that are read
	columns []int         // of the file
	from    []int         // by column that is read: which of columns it is; -1: it is a partition, or NULL
	values  []Partition   // by column that is read, where from is -1
	mem     memory.Allocator

	works    bool  // some column is made or converted
	rowBytes int64 // of what is made
}

// conversion plans how columns of the dataset come from a file.
func (s *Source) conversion(m *member, columns []int, mem memory.Allocator) *conversion {
	c := &conversion{schema: core.ChosenSchema(s.fields, columns), from: make([]int, len(columns)),
		values: make([]Partition, len(columns)), columns: []int{}, mem: mem}
	for i, column := range columns {
		field := s.fields.Field(column)
		if at := m.at(s, column); at >= 0 {
			c.from[i] = len(c.columns)
			c.columns = append(c.columns, at)
			if !arrow.TypeEqual(m.schema.Field(at).Type, field.Type) {
				c.works = true
				c.rowBytes += int64(relation.RowBytes(field))
			}
			continue
		}
		c.from[i], c.works = -1, true
		c.values[i] = m.partition(field.Name)
		if column < s.ofFiles {
			c.values[i] = Partition{Null: true}
		}
		if c.values[i].Null {
			c.rowBytes += int64(relation.RowBytes(field))
		} else {
			c.rowBytes += c.values[i].rowBytes()
		}
	}
	return c
}

// mostRows are in a batch of which all columns are made.
const mostRows = 1 << 20

// of makes batches of the batches of a file. Batches end early where what is made of them exceeds batchBytes, if that
// is not 0; then no batch is made before it is drawn, otherwise all cores make them.
func (c *conversion) of(
	ctx context.Context, batches iter.Seq2[arrow.RecordBatch, error], batchBytes int64,
) iter.Seq2[arrow.RecordBatch, error] {
	if !c.works {
		return func(yield func(arrow.RecordBatch, error) bool) {
			for batch, err := range batches {
				if err == nil {
					named := array.NewRecordBatch(c.schema, batch.Columns(), batch.NumRows())
					batch.Release()
					batch = named
				}
				if !yield(batch, err) {
					return
				}
			}
		}
	}
	rows, ahead := int64(mostRows), runtime.GOMAXPROCS(0)
	if batchBytes > 0 {
		rows, ahead = max(1, min(rows, batchBytes/max(1, c.rowBytes))), 0
	}
	return core.InOrder(ctx, ahead, sliced(batches, rows), c.convert, arrow.RecordBatch.Release)
}

// sliced cuts batches that have more rows.
func sliced(batches iter.Seq2[arrow.RecordBatch, error], rows int64) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		cut := func(batch arrow.RecordBatch) bool {
			defer batch.Release()
			for at := int64(0); at < batch.NumRows(); at += rows {
				if !yield(batch.NewSlice(at, min(at+rows, batch.NumRows())), nil) {
					return false
				}
			}
			return true
		}
		for batch, err := range batches {
			if err != nil {
				yield(nil, err)
				return
			}
			if batch.NumRows() <= rows && !yield(batch, nil) || batch.NumRows() > rows && !cut(batch) {
				return
			}
		}
	}
}

// convert makes a batch of a batch of the file, which it takes over.
func (c *conversion) convert(ctx context.Context, batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	defer batch.Release()
	columns := make([]arrow.Array, 0, len(c.from))
	defer func() { relation.ReleaseAll(columns) }()
	for i, from := range c.from {
		var column arrow.Array
		var err error
		switch field := c.schema.Field(i); {
		case from >= 0:
			column, err = cast(ctx, batch.Column(from), field.Type, c.mem)
		case c.values[i].Null:
			column, err = relation.Nulls(field.Type, int(batch.NumRows()), c.mem)
		default:
			column = c.values[i].column(field.Type, int(batch.NumRows()), c.mem)
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.schema.Field(i).Name, err)
		}
		columns = append(columns, column)
	}
	return array.NewRecordBatch(c.schema, columns, batch.NumRows()), nil
}
