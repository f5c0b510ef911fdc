package tableio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/tableio/columnchunk"
)

// parquetSource reads the column chunks of row groups as independent tasks on all cores.
type parquetSource struct {
	file     *file.Reader
	fields   *arrow.Schema
	columns  []columnchunk.FileField // by field
	skipped  []bool                  // by row group
	decoders chan *columnchunk.Decoder
}

// leastPageBytes is the decompressed size of a page that is read on any machine; larger ones where an eighth of the
// memory suffices.
const leastPageBytes = 256 << 20

// pageBufferBytes of a column chunk are read at a time.
const pageBufferBytes = 64 << 10

func openParquet(in *input) (source, error) {
	properties := parquet.NewReaderProperties(&offheap.Shared)
	properties.BufferedStreamEnabled, properties.BufferSize = true, pageBufferBytes
	properties.MaxCompressedPageSize = min(max(in.size, 1), math.MaxInt32)
	properties.MaxUncompressedPageSize = min(max(leastPageBytes, physicalMemoryBytes()/8), math.MaxInt32)
	reader, err := file.NewParquetReader(struct {
		io.ReaderAt
		io.Seeker
	}{in.at, in.seek}, file.WithReadProps(properties))
	if err != nil {
		return nil, err
	}
	if stored := reader.MetaData().KeyValueMetadata().FindValue("ARROW:schema"); stored != nil {
		if err := verifyStoredSchema(*stored); err != nil {
			return nil, fmt.Errorf("the stored Arrow schema: %w", err)
		}
	}
	s := &parquetSource{file: reader, skipped: make([]bool, reader.NumRowGroups()),
		decoders: make(chan *columnchunk.Decoder, runtime.GOMAXPROCS(0))}
	for range cap(s.decoders) {
		s.decoders <- &columnchunk.Decoder{MaxBytes: physicalMemoryBytes()}
	}
	if s.fields, s.columns, err = columnchunk.ReadSchema(reader); err != nil {
		return nil, err
	}
	return s, s.validate(in.size)
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

// groups are the row groups that are not skipped.
func (s *parquetSource) groups() (groups []int) {
	for group, skip := range s.skipped {
		if !skip {
			groups = append(groups, group)
		}
	}
	return groups
}

// batches yields each row group as a batch. Column chunks are decoded on all cores; as many are in flight as there are
// cores, and once more as many but no more than a row group has columns.
func (s *parquetSource) batches(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		schema := chosenSchema(s.fields, columns)
		for _, column := range columns {
			if err := s.columns[column].Err; err != nil {
				yield(nil, err)
				return
			}
		}
		if len(columns) == 0 {
			for _, group := range s.groups() {
				if !yield(array.NewRecordBatch(schema, nil, s.groupRows(group)), nil) {
					return
				}
			}
			return
		}
		var chunks []arrow.Array
		defer func() { releaseArrays(chunks) }()
		groups := s.groups()
		jobs := func(yield func(chunkPlace, error) bool) {
			for _, group := range groups {
				reader := s.file.RowGroup(group)
				for _, column := range columns {
					if !yield(chunkPlace{group, column, reader}, nil) {
						return
					}
				}
			}
		}
		ahead := runtime.GOMAXPROCS(0) + min(len(columns), runtime.GOMAXPROCS(0))
		decode := func(ctx context.Context, at chunkPlace) (arrow.Array, error) { return s.decode(ctx, at, mem) }
		for chunk, err := range inOrder(ctx, ahead, jobs, decode, arrow.Array.Release) {
			if err != nil {
				yield(nil, err)
				return
			}
			if chunks = append(chunks, chunk); len(chunks) < len(columns) {
				continue
			}
			batch := array.NewRecordBatch(schema, chunks, int64(chunk.Len()))
			releaseArrays(chunks)
			chunks = chunks[:0]
			if !yield(batch, nil) {
				return
			}
		}
	}
}

// chunkPlace names a column chunk. The reader is that of the row group, made once, because that takes time for each
// column of the file.
type chunkPlace struct {
	group, column int
	reader        *file.RowGroupReader
}

func (s *parquetSource) groupRows(group int) int64 {
	return s.file.MetaData().RowGroup(group).NumRows()
}

func releaseArrays(arrays []arrow.Array) {
	for _, a := range arrays {
		a.Release()
	}
}

// decode reads a column chunk: by our own decoder, or where the column is nested by the library.
func (s *parquetSource) decode(ctx context.Context, at chunkPlace, mem memory.Allocator) (_ arrow.Array, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("row group %d: %w", at.group, err)
		}
	}()
	field := &s.columns[at.column]
	if field.Column == nil {
		return s.decodeNested(ctx, at, mem)
	}
	pages, err := at.reader.GetColumnPageReader(field.Leaf)
	if err != nil {
		return nil, err
	}
	defer pages.Close()
	decoder := <-s.decoders
	defer func() { s.decoders <- decoder }()
	return decoder.Decode(ctx, *field.Column, s.groupRows(at.group), pages, mem)
}

func (s *parquetSource) decodeNested(ctx context.Context, at chunkPlace, mem memory.Allocator) (arrow.Array, error) {
	reader, err := pqarrow.NewFileReader(s.file, pqarrow.ArrowReadProperties{}, mem)
	if err != nil {
		return nil, err
	}
	leaves := map[int]bool{}
	collectLeaves(&reader.Manifest.Fields[at.column], leaves)
	columnReader, err := reader.GetFieldReader(ctx, at.column, leaves, []int{at.group})
	if err != nil {
		return nil, err
	}
	if columnReader == nil {
		return nil, errors.New("the column has no values to read")
	}
	defer columnReader.Release()
	rows := s.groupRows(at.group)
	chunked, err := columnReader.NextBatch(rows)
	if err != nil {
		return nil, err
	}
	if int64(chunked.Len()) != rows {
		return nil, fmt.Errorf("column %q: %d rows are there, %d were announced", s.fields.Field(at.column).Name,
			chunked.Len(), rows)
	}
	if chunks := chunked.Chunks(); len(chunks) == 1 {
		return chunks[0], nil
	}
	defer chunked.Release()
	return array.Concatenate(chunked.Chunks(), mem)
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
func assemble(fields *arrow.Schema, columns []int, chunks [][]arrow.Array, rows int64) (arrow.Table, error) {
	chosen := make([]arrow.Field, len(columns))
	out := make([]arrow.Column, len(columns))
	for i, column := range columns {
		chosen[i] = fields.Field(column)
		chunked := arrow.NewChunked(chosen[i].Type, chunks[i])
		releaseArrays(chunks[i])
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
