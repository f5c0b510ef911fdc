package workload

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// intColumn is an integer column of a table to be made.
type intColumn struct {
	name  string
	bytes int // 4: int32, 8: int64
}

const chunkRows = 1 << 24

// build makes a table without nulls, in chunks of chunkRows rows at most that all
// columns share, on all cores; the caller releases it. fill makes the rows from first on: it writes the
// values of a column and puts them in place, one column after another. It stops soon after ctx ends.
func build(ctx context.Context, mem memory.Allocator, columns []intColumn, rows int64, fill func(first int64, values []int64, put func(column int))) (arrow.Table, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: intType(c.bytes)}
	}
	schema := arrow.NewSchema(fields, nil)
	var batches []arrow.RecordBatch
	defer func() {
		for _, batch := range batches {
			batch.Release()
		}
	}()
	for first := int64(0); first < rows; first += chunkRows {
		length := min(chunkRows, rows-first)
		batch, buffers := allocate(mem, schema, length)
		batches = append(batches, batch)
		err := ForBlocks(ctx, length, func(start, end int64) {
			values := make([]int64, end-start)
			fill(first+start, values, func(c int) { store(buffers[c], columns[c].bytes, start, values) })
		})
		if err != nil {
			return nil, err
		}
	}
	return array.NewTableFromRecords(schema, batches), nil
}

func intType(bytes int) arrow.DataType {
	if bytes == 8 {
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.PrimitiveTypes.Int32
}

// allocate makes a batch and gives the memory of its columns, still to be filled.
func allocate(mem memory.Allocator, schema *arrow.Schema, rows int64) (arrow.RecordBatch, [][]byte) {
	if mem == nil {
		mem = memory.NewGoAllocator()
	}
	columns := make([]arrow.Array, schema.NumFields())
	buffers := make([][]byte, len(columns))
	for i, field := range schema.Fields() {
		buffer := memory.NewResizableBuffer(mem)
		buffer.Resize(int(rows) * field.Type.(arrow.FixedWidthDataType).Bytes())
		buffers[i] = buffer.Bytes()
		data := array.NewData(field.Type, int(rows), []*memory.Buffer{nil, buffer}, nil, 0, 0)
		columns[i] = array.MakeFromData(data)
		defer columns[i].Release()
		data.Release()
		buffer.Release()
	}
	return array.NewRecordBatch(schema, columns, rows), buffers
}

// store writes values from row start on, cut to width bytes.
func store(buffer []byte, width int, start int64, values []int64) {
	if width == 8 {
		copy(arrow.Int64Traits.CastFromBytes(buffer)[start:], values)
		return
	}
	out := arrow.Int32Traits.CastFromBytes(buffer)[start:]
	for i, v := range values {
		out[i] = int32(v)
	}
}
