package tableio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation/take"
)

// arrowFileSource reads the record batches of an Arrow IPC file on all cores.
type arrowFileSource struct {
	in     *input
	fields *arrow.Schema
	total  int64
	blocks []arrowBlock // the record batches

	endianness endian.Endianness // of the values in the file; fields is native
	aheadBytes int64             // ReadOptions.AheadBytes
}

func openArrowFile(in *input, aheadBytes int64) (source, error) {
	rows, blocks, err := verifyFile(in.at, in.size)
	if err != nil {
		return nil, err
	}
	s := &arrowFileSource{in: in, total: rows, blocks: blocks, aheadBytes: aheadBytes}
	reader, err := s.open(newScope(nil), ipc.WithEnsureNativeEndian(false)) // to see what the file has
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	s.endianness = reader.Schema().Endianness()
	s.fields = reader.Schema().WithEndianness(endian.NativeEndian)
	return s, nil
}

func (s *arrowFileSource) open(mem memory.Allocator, options ...ipc.Option) (*ipc.FileReader, error) {
	content := io.NewSectionReader(s.in.at, 0, s.in.size)
	options = append(options, ipc.WithAllocator(mem), ipc.WithBodySizeLimit(s.in.size))
	return ipc.NewFileReader(content, options...)
}

func (s *arrowFileSource) schema() *arrow.Schema { return s.fields }
func (s *arrowFileSource) rows() int64           { return s.total }

func (s *arrowFileSource) batches(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	if err := checkEndianness(s.endianness, s.fields, columns); err != nil {
		return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, err) }
	}
	if selection, ok := selectArrowColumns(s.fields, columns, s.endianness); ok {
		return s.selected(ctx, selection, mem)
	}
	return func(yield func(arrow.RecordBatch, error) bool) {
		reader, err := s.open(mem)
		if err != nil {
			yield(nil, err)
			return
		}
		defer reader.Close()
		// arrow-go finds the dictionaries of a column through state that concurrent calls spoil (18.8), so such files
		// are decoded by one core at a time; validating stays parallel.
		var decoding sync.Mutex
		oneAtATime := hasDictionary(s.fields.Fields())
		decode := func(i int) (arrow.RecordBatch, error) {
			if oneAtATime {
				decoding.Lock()
				defer decoding.Unlock()
			}
			return reader.RecordBatchAt(i)
		}
		indices := func(yield func(int, error) bool) {
			for i := 0; i < reader.NumRecords() && yield(i, ctx.Err()); i++ {
			}
		}
		work := func(ctx context.Context, i int) (batch arrow.RecordBatch, err error) {
			return batch, guardIn(fmt.Sprintf("record batch %d", i), func() error {
				whole, err := decode(i)
				if err == nil {
					batch, err = takeColumns(ctx, whole, s.fields, columns, mem)
				}
				return err
			})
		}
		inOrder(ctx, s.ahead(), indices, work, arrow.RecordBatch.Release)(yield)
	}
}

// largestBytes is the size of the largest record batch in the file.
func (s *arrowFileSource) largestBytes() (sizeBytes int64) {
	for _, block := range s.blocks {
		sizeBytes = max(sizeBytes, block.bodyBytes)
	}
	return sizeBytes
}

// ahead is how many record batches are read before they are drawn.
func (s *arrowFileSource) ahead() int {
	if s.aheadBytes == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return int(min(s.aheadBytes/max(s.largestBytes(), 1), int64(runtime.GOMAXPROCS(0))))
}

func hasDictionary(fields []arrow.Field) bool {
	for _, field := range fields {
		dt := field.Type
		if extension, ok := dt.(arrow.ExtensionType); ok {
			dt = extension.StorageType()
		}
		if nested, ok := dt.(arrow.NestedType); dt.ID() == arrow.DICTIONARY || ok && hasDictionary(nested.Fields()) {
			return true
		}
	}
	return false
}

// selected reads the chosen columns only, not the messages as a whole.
func (s *arrowFileSource) selected(
	ctx context.Context, selection *arrowSelection, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	indices := func(yield func(int, error) bool) {
		for i := 0; i < len(s.blocks) && yield(i, ctx.Err()); i++ {
		}
	}
	work := func(ctx context.Context, i int) (batch arrow.RecordBatch, err error) {
		return batch, guardIn(fmt.Sprintf("record batch %d", i), func() error {
			whole, err := selection.read(s.in.at, s.blocks[i], mem)
			if err == nil {
				batch, err = takeColumns(ctx, whole, selection.schema, selection.all, mem)
			}
			return err
		})
	}
	return inOrder(ctx, s.ahead(), indices, work, arrow.RecordBatch.Release)
}

// arrowStreamSource reads an Arrow IPC stream once, or again and again from a file.
type arrowStreamSource struct {
	in         *input
	stored     *arrow.Schema     // with native values
	fields     *arrow.Schema     // stored with wide indices
	endianness endian.Endianness // of the values in the stream
	rest       io.Reader         // of a pipe: everything, once
	consumed   bool
	ahead      int // record batches that are read before they are drawn
}

func openArrowStream(in *input, aheadBytes int64) (source, error) {
	s := &arrowStreamSource{in: in}
	if aheadBytes == 0 { // otherwise a batch may have any size
		s.ahead = runtime.GOMAXPROCS(0)
	}
	var head bytes.Buffer
	stream := in.stream
	if in.at != nil {
		stream = io.NewSectionReader(in.at, 0, in.size)
	}
	mem := newScope(nil)
	messages := &streamMessages{in: io.TeeReader(stream, &head), mem: mem, sizeBytes: in.size}
	reader, err := ipc.NewReaderFromMessageReader(messages, ipc.WithAllocator(mem), ipc.WithEnsureNativeEndian(false))
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	s.endianness = reader.Schema().Endianness()
	s.stored = reader.Schema().WithEndianness(endian.NativeEndian)
	s.fields = wideSchema(s.stored)
	s.rest = io.MultiReader(&head, stream)
	return s, nil
}

func (s *arrowStreamSource) schema() *arrow.Schema { return s.fields }
func (s *arrowStreamSource) rows() int64           { return -1 }

func (s *arrowStreamSource) batches(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if err := checkEndianness(s.endianness, s.fields, columns); err != nil {
			yield(nil, err)
			return
		}
		content := s.rest
		switch {
		case s.in.at != nil:
			content = io.NewSectionReader(s.in.at, 0, s.in.size)
		case s.consumed:
			yield(nil, errors.New("the stream was read already; a pipe can be read only once"))
			return
		}
		s.consumed = true
		work := func(ctx context.Context, job numberedBatch) (batch arrow.RecordBatch, err error) {
			return batch, guardIn(fmt.Sprintf("record batch %d", job.index), func() error {
				if batch, err = takeColumns(ctx, job.batch, s.stored, columns, mem); err == nil {
					batch = widenBatch(batch, chosenSchema(s.fields, columns))
				}
				return err
			})
		}
		decoded := s.decode(bufio.NewReaderSize(content, 1<<16), mem)
		inOrder(ctx, s.ahead, decoded, work, arrow.RecordBatch.Release)(yield)
	}
}

type numberedBatch struct {
	index int
	batch arrow.RecordBatch
}

// decode gives the record batches of all streams in the content, which must have the schema of the first.
func (s *arrowStreamSource) decode(content *bufio.Reader, mem memory.Allocator) iter.Seq2[numberedBatch, error] {
	return func(yield func(numberedBatch, error) bool) {
		index := 0
		for stream := 1; ; stream++ {
			messages := &streamMessages{in: content, mem: mem, sizeBytes: s.in.size}
			reader, err := ipc.NewReaderFromMessageReader(messages, ipc.WithAllocator(mem))
			if err == nil && !reader.Schema().Equal(s.stored) {
				reader.Release()
				err = fmt.Errorf("its schema is not that of the first: %s", schemaDifference(s.stored, reader.Schema()))
			}
			if err != nil {
				if stream > 1 {
					err = fmt.Errorf("stream %d, behind the end of the one before: %w", stream, err)
				}
				yield(numberedBatch{}, err)
				return
			}
			goOn := true
			for goOn && reader.Next() {
				batch := reader.RecordBatch()
				batch.Retain()
				goOn = yield(numberedBatch{index, batch}, nil)
				index++
			}
			err = guardIn(fmt.Sprintf("record batch %d", index), reader.Err)
			reader.Release()
			if !goOn {
				return
			}
			more := false
			if err == nil {
				more, err = anotherStream(content)
			}
			if err != nil {
				yield(numberedBatch{}, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// anotherStream says whether something follows the end of a stream. Further end-of-stream markers are skipped.
func anotherStream(content *bufio.Reader) (bool, error) {
	for {
		next, err := content.Peek(8)
		switch {
		case errors.Is(err, io.EOF) && len(bytes.Trim(next, "\x00\xff")) == 0:
			return false, nil
		case err != nil && !errors.Is(err, io.EOF):
			return false, err
		case len(next) == 8 && binary.LittleEndian.Uint64(next) == continuation: // and a length of 0
			_, err = content.Discard(8)
		case len(next) >= 4 && binary.LittleEndian.Uint32(next) == 0:
			_, err = content.Discard(4)
		default:
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// schemaDifference names the first field that differs.
func schemaDifference(want, got *arrow.Schema) string {
	for i, field := range want.Fields() {
		if i >= got.NumFields() {
			return fmt.Sprintf("column %q is missing", field.Name)
		}
		if other := got.Field(i); !field.Equal(other) {
			return fmt.Sprintf("column %q %s instead of %q %s", other.Name, other.Type, field.Name, field.Type)
		}
	}
	if extra := want.NumFields(); extra < got.NumFields() {
		return fmt.Sprintf("there is a further column, %q", got.Field(extra).Name)
	}
	return "it differs in nullability or metadata"
}

// takeColumns checks the chosen columns and takes over the batch. The columns
// of a batch share one block of memory, so a part of them is copied out of it:
// otherwise the columns that nobody asked for would stay in memory.
func takeColumns(
	ctx context.Context, batch arrow.RecordBatch, schema *arrow.Schema, columns []int, mem memory.Allocator,
) (arrow.RecordBatch, error) {
	defer batch.Release()
	chosen := make([]arrow.Array, 0, len(columns))
	defer func() {
		for _, data := range chosen {
			data.Release()
		}
	}()
	distinct := map[int]bool{}
	for _, column := range columns {
		distinct[column] = true
	}
	for _, column := range columns {
		data := batch.Column(column)
		name := fmt.Sprintf("column %q", schema.Field(column).Name)
		if err := guardIn(name, func() error { return validateColumn(data) }); err != nil {
			return nil, err
		}
		if len(distinct) == int(batch.NumCols()) {
			data.Retain()
		} else {
			var err error
			if data, err = copied(ctx, data.DataType(), []arrow.Array{data}, mem); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		chosen = append(chosen, data)
	}
	return array.NewRecordBatch(chosenSchema(schema, columns), chosen, batch.NumRows()), nil
}

// copied puts the rows of arrays of any type together; arrow-go's Concatenate (18.8) cannot do that with unions.
func copied(ctx context.Context, dt arrow.DataType, parts []arrow.Array, mem memory.Allocator) (arrow.Array, error) {
	chunked := arrow.NewChunked(dt, parts)
	defer chunked.Release()
	all := make([]uint32, chunked.Len())
	for i := range all {
		all[i] = uint32(i)
	}
	return take.Rows(ctx, chunked, all, mem)
}

// assembleBatches makes the table of the chosen columns and releases the batches.
func assembleBatches(fields *arrow.Schema, columns []int, batches []arrow.RecordBatch) (arrow.Table, error) {
	chunks := make([][]arrow.Array, len(columns))
	rows := int64(0)
	for _, batch := range batches {
		rows += batch.NumRows()
		for i := range columns {
			batch.Column(i).Retain()
			chunks[i] = append(chunks[i], batch.Column(i))
		}
		batch.Release()
	}
	return assemble(fields, columns, chunks, rows)
}
