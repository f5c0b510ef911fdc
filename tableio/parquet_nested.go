package tableio

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// nestedParquetEncoder writes schemas with nested columns, by the library and on one core.
type nestedParquetEncoder struct {
	writer                      *pqarrow.FileWriter
	groupBytes, groupLimitBytes int64 // of Arrow data; 0: no limit
}

func newNestedParquetEncoder(
	out io.Writer, schema *arrow.Schema, codec compress.Compression, opts WriteOptions,
) (encoder, error) {
	schema = plainSchema(schema)
	e := &nestedParquetEncoder{groupLimitBytes: opts.RowGroupBytes}
	properties := parquet.NewWriterProperties(
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithCompression(codec),
		parquet.WithMaxRowGroupLength(opts.rowGroupRows()),
		parquet.WithStoreDecimalAsInteger(true),
		parquet.WithCreatedBy("spirjoin"),
	)
	arrowProperties := pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())
	for _, field := range schema.Fields() {
		err := guard(func() error {
			_, err := pqarrow.ToParquet(arrow.NewSchema([]arrow.Field{field}, nil), properties, arrowProperties)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("column %q: type %s cannot be written to Parquet: %w", field.Name, field.Type, err)
		}
	}
	var err error
	e.writer, err = pqarrow.NewFileWriter(schema, out, properties, arrowProperties)
	return e, err
}

// nestedPartRows is how many rows are encoded between two looks at the context.
const nestedPartRows = 1 << 14

func (e *nestedParquetEncoder) write(ctx context.Context, batch arrow.RecordBatch) error {
	batch = plainBatch(batch)
	defer batch.Release()
	sizeBytes := batchBytes(batch)
	if e.groupLimitBytes > 0 && e.groupBytes > 0 && e.groupBytes+sizeBytes > e.groupLimitBytes {
		e.writer.NewBufferedRowGroup()
		e.groupBytes = 0
	}
	e.groupBytes += sizeBytes
	for start := int64(0); start < batch.NumRows(); start += nestedPartRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.writePart(batch, start, min(batch.NumRows(), start+nestedPartRows)); err != nil {
			return err
		}
	}
	return nil
}

func (e *nestedParquetEncoder) writePart(batch arrow.RecordBatch, start, end int64) error {
	part := batch.NewSlice(start, end)
	defer part.Release()
	return e.writer.WriteBuffered(part)
}

func (e *nestedParquetEncoder) close(context.Context) error { return e.writer.Close() }
