package tableio

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"golang.org/x/sync/errgroup"
)

// rowGroupRows is the size of a row group: large enough for readers to scan
// fast, small enough to be held encoded in memory and to be read in parallel.
const rowGroupRows = 1 << 20

func newParquetEncoder(out io.Writer, schema *arrow.Schema, opts WriteOptions) (encoder, error) {
	codec, err := parquetCodec(opts.Compression)
	if err != nil {
		return nil, err
	}
	if schema.NumFields() == 0 {
		return nil, errors.New("a Parquet file cannot hold a table without columns")
	}
	schema = plainSchema(schema)
	properties := parquet.NewWriterProperties(
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithCompression(codec),
		parquet.WithMaxRowGroupLength(rowGroupRows),
		parquet.WithStoreDecimalAsInteger(true), // up to 18 digits: a quarter less time
		parquet.WithCreatedBy("spirjoin"),
	)
	arrowProperties := pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())
	for _, field := range schema.Fields() {
		if _, err := pqarrow.ToParquet(arrow.NewSchema([]arrow.Field{field}, nil), properties, arrowProperties); err != nil {
			return nil, fmt.Errorf("column %q: type %s cannot be written to Parquet: %w", field.Name, field.Type, err)
		}
	}
	for _, field := range schema.Fields() {
		if _, nested := field.Type.(arrow.NestedType); nested || field.Type.ID() == arrow.EXTENSION {
			writer, err := pqarrow.NewFileWriter(schema, out, properties, arrowProperties)
			return &nestedParquetEncoder{FileWriter: writer, groupLimitBytes: opts.RowGroupBytes}, err
		}
	}
	return newFlatParquetEncoder(out, schema, properties, arrowProperties, opts)
}

func parquetCodec(compression string) (compress.Compression, error) {
	switch compression {
	case "", "snappy":
		return compress.Codecs.Snappy, nil
	case "zstd":
		return compress.Codecs.Zstd, nil
	case "none":
		return compress.Codecs.Uncompressed, nil
	}
	return 0, fmt.Errorf("compression %q is unknown for Parquet: choose zstd, snappy or none", compression)
}

// nestedParquetEncoder writes schemas with nested columns, column by column.
type nestedParquetEncoder struct {
	*pqarrow.FileWriter
	groupBytes, groupLimitBytes int64 // of Arrow data; 0: no limit
}

func (e *nestedParquetEncoder) write(batch arrow.RecordBatch) error {
	batch = plainBatch(batch)
	defer batch.Release()
	sizeBytes := batchBytes(batch)
	if e.groupLimitBytes > 0 && e.groupBytes > 0 && e.groupBytes+sizeBytes > e.groupLimitBytes {
		e.NewBufferedRowGroup()
		e.groupBytes = 0
	}
	e.groupBytes += sizeBytes
	return e.WriteBuffered(batch)
}

func (e *nestedParquetEncoder) close() error { return e.Close() }

// flatParquetEncoder collects batches of any size into row groups of
// rowGroupRows or groupLimitBytes, which it holds encoded until they are full. The columns of a
// row group are independent, so each batch is encoded on all cores.
type flatParquetEncoder struct {
	writer     *file.Writer
	properties pqarrow.ArrowWriterProperties
	schema     *arrow.Schema
	group      file.BufferedRowGroupWriter // nil: none begun

	groupRows, groupLimitRows   int64
	groupBytes, groupLimitBytes int64 // of Arrow data; 0: no limit
}

func newFlatParquetEncoder(out io.Writer, schema *arrow.Schema, properties *parquet.WriterProperties, arrowProperties pqarrow.ArrowWriterProperties, opts WriteOptions) (encoder, error) {
	parquetSchema, err := pqarrow.ToParquet(schema, properties, arrowProperties)
	if err != nil {
		return nil, err
	}
	stored := metadata.NewKeyValueMetadata()
	meta := schema.Metadata()
	for i, key := range meta.Keys() {
		if err := stored.Append(key, meta.Values()[i]); err != nil {
			return nil, err
		}
	}
	serialized := flight.SerializeSchema(schema, properties.Allocator())
	if err := stored.Append("ARROW:schema", base64.StdEncoding.EncodeToString(serialized)); err != nil {
		return nil, err
	}
	writer, err := file.NewParquetWriterWithError(out, parquetSchema.Root(), file.WithWriterProps(properties), file.WithWriteMetadata(stored))
	if err != nil {
		return nil, err
	}
	encoder := &flatParquetEncoder{writer: writer, properties: arrowProperties, schema: schema,
		groupLimitRows: rowGroupRows, groupLimitBytes: opts.RowGroupBytes}
	if opts.RowGroupRows > 0 {
		encoder.groupLimitRows = opts.RowGroupRows
	}
	return encoder, nil
}

func (e *flatParquetEncoder) write(batch arrow.RecordBatch) error {
	batch = plainBatch(batch)
	defer batch.Release()
	rowBytes := batchBytes(batch) / max(1, batch.NumRows())
	for start := int64(0); start < batch.NumRows(); {
		if e.group == nil {
			group, err := e.writer.AppendBufferedRowGroupChecked()
			if err != nil {
				return err
			}
			e.group, e.groupRows, e.groupBytes = group, 0, 0
		}
		rows := min(batch.NumRows()-start, e.groupLimitRows-e.groupRows)
		if e.groupLimitBytes > 0 {
			rows = min(rows, max(1, (e.groupLimitBytes-e.groupBytes)/max(1, rowBytes)))
		}
		if err := e.writePart(batch, start, start+rows); err != nil {
			return err
		}
		start += rows
		e.groupRows += rows
		e.groupBytes += rows * rowBytes
		if e.groupRows == e.groupLimitRows || e.groupLimitBytes > 0 && e.groupBytes+rowBytes > e.groupLimitBytes {
			if err := e.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// batchBytes is the memory of a batch, which may share buffers with others.
func batchBytes(batch arrow.RecordBatch) (sizeBytes int64) {
	for _, column := range batch.Columns() {
		sizeBytes += int64(column.Data().SizeInBytes()) // children included
	}
	return sizeBytes
}

// writePart appends rows [start, end) to the row group, column by column in parallel.
func (e *flatParquetEncoder) writePart(batch arrow.RecordBatch, start, end int64) error {
	var columns errgroup.Group
	columns.SetLimit(runtime.GOMAXPROCS(0))
	for i := range int(batch.NumCols()) {
		columns.Go(func() error {
			return guard(func() error {
				writer, err := e.group.Column(i)
				if err != nil {
					return err
				}
				part := array.NewSlice(batch.Column(i), start, end)
				defer part.Release()
				nullable := e.schema.Field(i).Nullable
				var levels []int16
				if nullable {
					levels = definitionLevels(part)
				}
				return pqarrow.WriteArrowToColumn(pqarrow.NewArrowWriteContext(context.Background(), &e.properties), writer, part, levels, nil, nullable)
			})
		})
	}
	return columns.Wait()
}

// definitionLevels has 1 for a value and 0 for a null.
func definitionLevels(column arrow.Array) []int16 {
	levels := make([]int16, column.Len())
	if column.NullN() == column.Len() { // also the null type, whose IsValid is true
		return levels
	}
	for i := range levels {
		if column.IsValid(i) {
			levels[i] = 1
		}
	}
	return levels
}

func (e *flatParquetEncoder) endGroup() error {
	group := e.group
	e.group = nil
	return group.Close()
}

func (e *flatParquetEncoder) close() error {
	if e.group != nil {
		if err := e.endGroup(); err != nil {
			return err
		}
	}
	return e.writer.Close()
}
