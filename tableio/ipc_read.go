package tableio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"
)

// arrowFileSource reads the record batches of an Arrow IPC file on all cores.
type arrowFileSource struct {
	in     *input
	fields *arrow.Schema
	total  int64
}

func openArrowFile(in *input) (source, error) {
	rows, err := verifyFile(in.at, in.size)
	if err != nil {
		return nil, err
	}
	s := &arrowFileSource{in: in, total: rows}
	reader, err := s.open(newScope(nil))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	s.fields = reader.Schema()
	return s, nil
}

func (s *arrowFileSource) open(mem memory.Allocator) (*ipc.FileReader, error) {
	return ipc.NewFileReader(io.NewSectionReader(s.in.at, 0, s.in.size), ipc.WithAllocator(mem), ipc.WithBodySizeLimit(s.in.size))
}

func (s *arrowFileSource) schema() *arrow.Schema { return s.fields }
func (s *arrowFileSource) rows() int64           { return s.total }

func (s *arrowFileSource) read(ctx context.Context, columns []int, mem memory.Allocator) (arrow.Table, error) {
	reader, err := s.open(mem)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	batches := make([]arrow.RecordBatch, reader.NumRecords())
	tasks, ctx := errgroup.WithContext(ctx)
	tasks.SetLimit(runtime.GOMAXPROCS(0))
	for i := range batches {
		tasks.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return guard(func() error {
				batch, err := reader.RecordBatchAt(i)
				if err != nil {
					return fmt.Errorf("record batch %d: %w", i, err)
				}
				batches[i], err = takeColumns(batch, columns, mem)
				return err
			})
		})
	}
	if err := tasks.Wait(); err != nil {
		return nil, err
	}
	return assembleBatches(s.fields, columns, batches)
}

// arrowStreamSource reads an Arrow IPC stream once, or again and again from a file.
type arrowStreamSource struct {
	in       *input
	fields   *arrow.Schema
	rest     io.Reader // of a pipe: everything, once
	consumed bool
}

func openArrowStream(in *input) (source, error) {
	s := &arrowStreamSource{in: in}
	var head bytes.Buffer
	stream := in.stream
	if in.at != nil {
		stream = io.NewSectionReader(in.at, 0, in.size)
	}
	mem := newScope(nil)
	reader, err := ipc.NewReaderFromMessageReader(&streamMessages{in: io.TeeReader(stream, &head), mem: mem}, ipc.WithAllocator(mem))
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	s.fields = reader.Schema()
	s.rest = io.MultiReader(&head, stream)
	return s, nil
}

func (s *arrowStreamSource) schema() *arrow.Schema { return s.fields }
func (s *arrowStreamSource) rows() int64           { return -1 }

func (s *arrowStreamSource) read(ctx context.Context, columns []int, mem memory.Allocator) (arrow.Table, error) {
	content := s.rest
	switch {
	case s.in.at != nil:
		content = io.NewSectionReader(s.in.at, 0, s.in.size)
	case s.consumed:
		return nil, errors.New("the stream was read already; a pipe can be read only once")
	}
	s.consumed = true
	reader, err := ipc.NewReaderFromMessageReader(&streamMessages{in: bufio.NewReaderSize(content, 1<<16), mem: mem}, ipc.WithAllocator(mem))
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	var batches []arrow.RecordBatch
	for reader.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch := reader.RecordBatch()
		batch.Retain()
		taken, err := takeColumns(batch, columns, mem)
		if err != nil {
			return nil, fmt.Errorf("record batch %d: %w", len(batches), err)
		}
		batches = append(batches, taken)
	}
	if err := reader.Err(); err != nil {
		return nil, err
	}
	return assembleBatches(s.fields, columns, batches)
}

// takeColumns checks the chosen columns and takes over the batch. The columns
// of a batch share one block of memory, so a part of them is copied out of it:
// otherwise the columns that nobody asked for would stay in memory.
func takeColumns(batch arrow.RecordBatch, columns []int, mem memory.Allocator) (arrow.RecordBatch, error) {
	defer batch.Release()
	chosen := make([]arrow.Array, len(columns))
	fields := make([]arrow.Field, len(columns))
	distinct := map[int]bool{}
	for _, column := range columns {
		distinct[column] = true
	}
	for i, column := range columns {
		data := batch.Column(column)
		fields[i] = batch.Schema().Field(column)
		if err := validateColumn(data); err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		if len(distinct) == int(batch.NumCols()) {
			data.Retain()
		} else {
			var err error
			if data, err = array.Concatenate([]arrow.Array{data}, mem); err != nil {
				return nil, fmt.Errorf("column %q: %w", fields[i].Name, err)
			}
		}
		chosen[i] = data
	}
	defer func() {
		for _, data := range chosen {
			data.Release()
		}
	}()
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), chosen, batch.NumRows()), nil
}

// validateColumn looks at every value, so that a corrupt one cannot panic later.
// A column of the null type has none, nor the buffer that the library asks for.
func validateColumn(column arrow.Array) error {
	if column.DataType().ID() == arrow.NULL {
		return nil
	}
	return array.ValidateFull(column)
}

// assembleBatches makes the table of the chosen columns and releases the batches.
func assembleBatches(fields *arrow.Schema, columns []int, batches []arrow.RecordBatch) (arrow.Table, error) {
	chunks := make([][][]arrow.Array, len(columns))
	rows := int64(0)
	for _, batch := range batches {
		rows += batch.NumRows()
		for i := range columns {
			batch.Column(i).Retain()
			chunks[i] = append(chunks[i], []arrow.Array{batch.Column(i)})
		}
		batch.Release()
	}
	return assemble(fields, columns, chunks, rows)
}
