package parquet

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/parquet/columnchunk"
)

// checkDecimals refuses decimals that Parquet does not allow, in a dense type: pqarrow (18.8) panics.
func checkDecimals(dt arrow.DataType) error {
	switch dt := dt.(type) {
	case arrow.DecimalType:
		return columnchunk.CheckDecimal(dt)
	case arrow.NestedType:
		for _, field := range dt.Fields() {
			if err := checkDecimals(field.Type); err != nil {
				return err
			}
		}
	case arrow.ExtensionType:
		return checkDecimals(dt.StorageType())
	}
	return nil
}

// nestedEncoder writes schemas with nested columns, by the library and on one core. The library gets columns of
// types that it knows ([denseType]); the schema that is stored in the file says what they are.
type nestedEncoder struct {
	schema *arrow.Schema // that the library knows
	writer *pqarrow.FileWriter
	rows   rowGroups
}

func newNestedEncoder(
	out io.Writer, schema *arrow.Schema, codec compress.Compression, opts Options,
) (core.Encoder, error) {
	properties := parquet.NewWriterProperties(
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithCompression(codec),
		parquet.WithMaxRowGroupLength(math.MaxInt64),
		parquet.WithStoreDecimalAsInteger(true),
		parquet.WithCreatedBy("spirjoin"),
	)
	fields := schema.Fields()
	for i, field := range fields {
		fields[i].Type = denseType(field.Type)
		err := core.Guard(func() error {
			if err := checkDecimals(fields[i].Type); err != nil {
				return err
			}
			_, err := pqarrow.ToParquet(arrow.NewSchema(fields[i:i+1], nil), properties, pqarrow.DefaultWriterProps())
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("column %q: type %s cannot be written to Parquet: %w", field.Name, field.Type, err)
		}
	}
	e := &nestedEncoder{schema: arrow.NewSchema(fields, nil), rows: newRowGroups(opts)}
	var err error
	if e.writer, err = pqarrow.NewFileWriter(e.schema, out, properties, pqarrow.DefaultWriterProps()); err != nil {
		return nil, err
	}
	pairs, err := columnchunk.StoredSchema(storedNestedSchema(schema))
	if err != nil {
		return nil, err
	}
	for i, key := range pairs.Keys() {
		if err := e.writer.AppendKeyValueMetadata(key, pairs.Values()[i]); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// storedNestedSchema has the types as which columns are read: flat ones as they are, nested ones with what the library
// restores in them.
func storedNestedSchema(schema *arrow.Schema) *arrow.Schema {
	fields := schema.Fields()
	for i := range fields {
		if !columnchunk.Encodes(fields[i].Type) {
			fields[i].Type = readType(fields[i].Type)
		}
	}
	meta := schema.Metadata()
	return arrow.NewSchema(fields, &meta)
}

// nestedPartRows is how many rows are encoded between two looks at the context.
const nestedPartRows = 1 << 14

// Write implements [core.Encoder].
func (e *nestedEncoder) Write(ctx context.Context, batch arrow.RecordBatch) error {
	return e.rows.add(batch, func(group *rowGroup) error { return e.writeGroup(ctx, group) })
}

func (e *nestedEncoder) writeGroup(ctx context.Context, group *rowGroup) error {
	group.left.Store(1)
	defer group.done(1)
	if err := e.writer.NewBufferedRowGroupChecked(); err != nil {
		return err
	}
	for _, batch := range group.parts {
		for start := int64(0); start < batch.NumRows(); start += nestedPartRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.writePart(ctx, batch, start, min(batch.NumRows(), start+nestedPartRows)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *nestedEncoder) writePart(ctx context.Context, batch arrow.RecordBatch, start, end int64) error {
	part := batch.NewSlice(start, end)
	defer part.Release()
	columns := make([]arrow.Array, part.NumCols())
	defer func() { relation.ReleaseAll(columns) }()
	for i, column := range part.Columns() {
		dense, err := denseColumn(ctx, column, nil)
		if err != nil {
			columns = columns[:i]
			return fmt.Errorf("column %q: %w", batch.ColumnName(i), err)
		}
		columns[i] = dense
	}
	dense := array.NewRecordBatch(e.schema, columns, part.NumRows())
	defer dense.Release()
	return e.writer.WriteBuffered(dense)
}

// Close implements [core.Encoder].
func (e *nestedEncoder) Close(ctx context.Context) error {
	err := e.rows.end(func(group *rowGroup) error { return e.writeGroup(ctx, group) })
	if closed := e.writer.Close(); err == nil {
		err = closed
	}
	return err
}
