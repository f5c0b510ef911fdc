package tableio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"golang.org/x/sync/errgroup"
)

// parquetSource reads row groups and columns as independent tasks on all cores.
type parquetSource struct {
	file   *file.Reader
	fields *arrow.Schema
}

func openParquet(in *input) (source, error) {
	// Pages are decoded through the Go allocator: the library keeps its page
	// buffers in a pool that only a garbage collection empties.
	reader, err := file.NewParquetReader(struct {
		io.ReaderAt
		io.Seeker
	}{in.at, in.seek}, file.WithReadProps(parquet.NewReaderProperties(memory.NewGoAllocator())))
	if err != nil {
		return nil, err
	}
	if stored := reader.MetaData().KeyValueMetadata().FindValue("ARROW:schema"); stored != nil {
		if err := verifyStoredSchema(*stored); err != nil {
			return nil, fmt.Errorf("the stored Arrow schema: %w", err)
		}
	}
	arrowReader, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, newScope(nil))
	if err != nil {
		return nil, err
	}
	fields, err := arrowReader.Schema()
	if err != nil {
		return nil, err
	}
	s := &parquetSource{file: reader, fields: withoutFieldIDs(fields)}
	return s, s.validate(in.size)
}

// withoutFieldIDs drops the field number -1, "none", that the library notes on
// every column of a file that numbers none.
func withoutFieldIDs(schema *arrow.Schema) *arrow.Schema {
	fields := schema.Fields()
	for i := range fields {
		if id, ok := fields[i].Metadata.GetValue("PARQUET:field_id"); ok && id == "-1" {
			kept := fields[i].Metadata.ToMap()
			delete(kept, "PARQUET:field_id")
			fields[i].Metadata = arrow.MetadataFrom(kept)
		}
	}
	meta := schema.Metadata()
	return arrow.NewSchema(fields, &meta)
}

// validate compares the counts that the footer repeats, so that a corrupt one
// is seen before memory is reserved for it.
func (s *parquetSource) validate(sizeBytes int64) error {
	total := int64(0)
	for i := range s.file.NumRowGroups() {
		group := s.file.MetaData().RowGroup(i)
		rows := group.NumRows()
		if rows < 0 || total+rows < total {
			return fmt.Errorf("row group %d claims %d rows", i, rows)
		}
		total += rows
		if group.NumColumns() != s.file.MetaData().Schema.NumColumns() {
			return fmt.Errorf("row group %d has %d columns, the schema %d", i, group.NumColumns(), s.file.MetaData().Schema.NumColumns())
		}
		for c := range group.NumColumns() {
			chunk, err := group.ColumnChunk(c)
			if err != nil {
				return err
			}
			column := s.file.MetaData().Schema.Column(c)
			if column.MaxRepetitionLevel() == 0 && chunk.NumValues() != rows {
				return fmt.Errorf("column %s has %d values in row group %d of %d rows", column.Path(), chunk.NumValues(), i, rows)
			}
			if start, length := chunk.DataPageOffset(), chunk.TotalCompressedSize(); start < 0 || length < 0 || start > sizeBytes || length > sizeBytes {
				return fmt.Errorf("column %s in row group %d lies outside the file of %d bytes", column.Path(), i, sizeBytes)
			}
		}
	}
	if claimed := s.file.NumRows(); claimed != total {
		return fmt.Errorf("the footer claims %d rows, the row groups have %d", claimed, total)
	}
	return nil
}

func (s *parquetSource) schema() *arrow.Schema { return s.fields }
func (s *parquetSource) rows() int64           { return s.file.NumRows() }

func (s *parquetSource) batches(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		table, err := s.read(ctx, columns, mem)
		if err != nil {
			yield(nil, err)
			return
		}
		defer table.Release()
		parts := array.NewTableReader(table, 0)
		defer parts.Release()
		for parts.Next() {
			batch := parts.RecordBatch()
			batch.Retain()
			if !yield(batch, nil) {
				return
			}
		}
	}
}

func (s *parquetSource) read(ctx context.Context, columns []int, mem memory.Allocator) (arrow.Table, error) {
	reader, err := pqarrow.NewFileReader(s.file, pqarrow.ArrowReadProperties{}, mem)
	if err != nil {
		return nil, err
	}
	groups := s.file.NumRowGroups()
	chunks := make([][][]arrow.Array, len(columns)) // by column, by row group
	tasks, ctx := errgroup.WithContext(ctx)
	tasks.SetLimit(runtime.GOMAXPROCS(0))
	for i := range chunks {
		chunks[i] = make([][]arrow.Array, groups)
	}
	for group := range groups {
		for i, column := range columns {
			tasks.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return guard(func() (err error) {
					chunks[i][group], err = readColumnChunk(ctx, reader, column, group)
					if err != nil {
						return fmt.Errorf("column %q, row group %d: %w", s.fields.Field(column).Name, group, err)
					}
					return nil
				})
			})
		}
	}
	if err := tasks.Wait(); err != nil {
		return nil, err
	}
	return assemble(s.fields, columns, chunks, s.rows())
}

// readColumnChunk decodes one column of one row group.
func readColumnChunk(ctx context.Context, reader *pqarrow.FileReader, column, group int) ([]arrow.Array, error) {
	leaves := map[int]bool{}
	collectLeaves(&reader.Manifest.Fields[column], leaves)
	columnReader, err := reader.GetFieldReader(ctx, column, leaves, []int{group})
	if err != nil {
		return nil, err
	}
	if columnReader == nil {
		return nil, errors.New("the column has no values to read")
	}
	defer columnReader.Release()
	rows := reader.ParquetReader().MetaData().RowGroup(group).NumRows()
	chunked, err := columnReader.NextBatch(rows)
	if err != nil {
		return nil, err
	}
	if int64(chunked.Len()) != rows {
		return nil, fmt.Errorf("%d rows are there, %d were announced", chunked.Len(), rows)
	}
	return chunked.Chunks(), nil
}

func collectLeaves(field *pqarrow.SchemaField, leaves map[int]bool) {
	if field.IsLeaf() {
		leaves[field.ColIndex] = true
	}
	for i := range field.Children {
		collectLeaves(&field.Children[i], leaves)
	}
}

// assemble makes the table of the chosen columns from their chunks in row
// order, whose references it takes over.
func assemble(fields *arrow.Schema, columns []int, chunks [][][]arrow.Array, rows int64) (arrow.Table, error) {
	chosen := make([]arrow.Field, len(columns))
	out := make([]arrow.Column, len(columns))
	for i, column := range columns {
		chosen[i] = fields.Field(column)
		var all []arrow.Array
		for _, part := range chunks[i] {
			all = append(all, part...)
		}
		chunked := arrow.NewChunked(chosen[i].Type, all)
		for _, chunk := range all {
			chunk.Release()
		}
		if int64(chunked.Len()) != rows {
			return nil, fmt.Errorf("column %q has %d rows of %d", chosen[i].Name, chunked.Len(), rows)
		}
		out[i] = *arrow.NewColumn(chosen[i], chunked)
		chunked.Release()
	}
	meta := fields.Metadata()
	table := array.NewTable(arrow.NewSchema(chosen, &meta), out, rows)
	for i := range out {
		out[i].Release()
	}
	return table, nil
}
