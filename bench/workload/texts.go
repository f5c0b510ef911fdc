package workload

import (
	"context"
	"fmt"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"
)

// payloadTexts makes a table whose columns behind the first are short texts that follow from the integers of another,
// which it releases. The caller releases the table.
func payloadTexts(ctx context.Context, mem memory.Allocator, integers arrow.Table) (arrow.Table, error) {
	defer integers.Release()
	if mem == nil {
		mem = memory.NewGoAllocator()
	}
	fields := integers.Schema().Fields()
	var batches []arrow.RecordBatch
	defer func() {
		for _, batch := range batches {
			batch.Release()
		}
	}()
	for i := range fields[1:] {
		fields[1+i].Type = arrow.BinaryTypes.String
	}
	schema := arrow.NewSchema(fields, nil)
	for chunk := range integers.Column(0).Data().Chunks() {
		columns := make([]arrow.Array, len(fields))
		var tasks errgroup.Group
		tasks.SetLimit(runtime.GOMAXPROCS(0))
		for c := range columns {
			from := integers.Column(c).Data().Chunk(chunk)
			if c == 0 {
				from.Retain()
				columns[0] = from
				continue
			}
			tasks.Go(func() error {
				columns[c] = texts(mem, from)
				return ctx.Err()
			})
		}
		err := tasks.Wait()
		batches = append(batches, array.NewRecordBatch(schema, columns, int64(columns[0].Len())))
		for _, column := range columns {
			column.Release()
		}
		if err != nil {
			return nil, err
		}
	}
	return array.NewTableFromRecords(schema, batches), nil
}

func texts(mem memory.Allocator, integers arrow.Array) arrow.Array {
	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.Reserve(integers.Len())
	var digits []byte
	for row := range integers.Len() {
		var value uint64
		switch integers := integers.(type) {
		case *array.Int32:
			value = uint64(integers.Value(row))
		case *array.Int64:
			value = uint64(integers.Value(row))
		}
		random := mix64(value)
		digits = fmt.Appendf(digits[:0], "%016x", random)
		b.BinaryBuilder.Append(digits[:4+random%9])
	}
	return b.NewArray()
}
