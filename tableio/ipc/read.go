// Package ipc reads and writes Arrow IPC files and streams. Messages are verified before arrow-go sees them, and only
// the buffers of the chosen columns are read where that is possible.
package ipc

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

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/take"
	"github.com/spirjoin/spirjoin/tableio/core"
)

// FileSource reads the record batches of an Arrow IPC file on all cores. It implements [core.Source].
type FileSource struct {
	in     *core.Input
	fields *arrow.Schema
	total  int64
	blocks []messagePlace // the record batches that are read
	before int            // record batches of the file that are not, before them

	endianness endian.Endianness // of the values in the file; fields is native
	aheadBytes int64             // beside batches that were drawn; 0: any number
}

// OpenFile verifies the metadata of an IPC file, a seekable input that must stay open as long as the source is used. If
// aheadBytes is not 0, no more batches are read ahead than fit into it.
func OpenFile(in *core.Input, aheadBytes int64) (*FileSource, error) {
	rows, blocks, err := verifyFile(in.At, in.SizeBytes)
	if err != nil {
		return nil, err
	}
	s := &FileSource{in: in, total: rows, blocks: blocks, aheadBytes: aheadBytes}
	reader, err := s.open(core.NewScope(nil), ipc.WithEnsureNativeEndian(false)) // to see what the file has
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	s.endianness = reader.Schema().Endianness()
	s.fields = reader.Schema().WithEndianness(endian.NativeEndian)
	return s, nil
}

func (s *FileSource) open(mem memory.Allocator, options ...ipc.Option) (*ipc.FileReader, error) {
	content := io.NewSectionReader(s.in.At, 0, s.in.SizeBytes)
	options = append(options, ipc.WithAllocator(mem), ipc.WithBodySizeLimit(s.in.SizeBytes))
	return ipc.NewFileReader(content, options...)
}

// Schema implements [core.Source].
func (s *FileSource) Schema() *arrow.Schema { return s.fields }

// Rows implements [core.Source].
func (s *FileSource) Rows() int64 { return s.total }

// Batches implements [core.Source].
func (s *FileSource) Batches(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	if err := checkEndianness(s.endianness, s.fields, columns); err != nil {
		return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, err) }
	}
	if selection, ok := selectColumns(s.fields, columns, s.endianness); ok {
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
		oneAtATime := core.HasDictionary(s.fields.Fields())
		decode := func(i int) (arrow.RecordBatch, error) {
			if oneAtATime {
				decoding.Lock()
				defer decoding.Unlock()
			}
			return reader.RecordBatchAt(i)
		}
		indices := func(yield func(int, error) bool) {
			for i := 0; i < len(s.blocks) && yield(s.before+i, ctx.Err()); i++ {
			}
		}
		work := func(ctx context.Context, i int) (batch arrow.RecordBatch, err error) {
			return batch, core.GuardIn(fmt.Sprintf("record batch %d", i), func() error {
				whole, err := decode(i)
				if err == nil {
					batch, err = takeColumns(ctx, whole, s.fields, columns, mem)
				}
				return err
			})
		}
		core.InOrder(ctx, s.ahead(), indices, work, arrow.RecordBatch.Release)(yield)
	}
}

// Pieces implements [core.Divisible]: record batches.
func (s *FileSource) Pieces() []core.Piece {
	pieces := make([]core.Piece, len(s.blocks))
	for i, block := range s.blocks {
		pieces[i] = core.Piece{Bytes: block.bodyBytes, Rows: block.rows}
	}
	return pieces
}

// Take implements [core.Divisible].
func (s *FileSource) Take(from, to int) {
	s.total = core.RowsOf(s.Pieces()[from:to])
	s.before, s.blocks = from, s.blocks[from:to]
}

// SetAhead implements [core.Ahead].
func (s *FileSource) SetAhead(aheadBytes int64) { s.aheadBytes = aheadBytes }

// NeedBytes implements [core.Ahead].
func (s *FileSource) NeedBytes(_ []int, alone bool) int64 {
	if alone && len(s.blocks) < 2 { // no batch is read while another one is in use
		return 0
	}
	return s.largestBytes()
}

// largestBytes is the size of the largest record batch in the file.
func (s *FileSource) largestBytes() (sizeBytes int64) {
	for _, block := range s.blocks {
		sizeBytes = max(sizeBytes, block.bodyBytes)
	}
	return sizeBytes
}

// ahead is how many record batches are read before they are drawn.
func (s *FileSource) ahead() int {
	if s.aheadBytes == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return int(min(s.aheadBytes/max(s.largestBytes(), 1), int64(runtime.GOMAXPROCS(0))))
}

// selected reads the chosen columns only, not the messages as a whole.
func (s *FileSource) selected(
	ctx context.Context, selection *columnSelection, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	indices := func(yield func(int, error) bool) {
		for i := 0; i < len(s.blocks) && yield(i, ctx.Err()); i++ {
		}
	}
	work := func(ctx context.Context, i int) (batch arrow.RecordBatch, err error) {
		return batch, core.GuardIn(fmt.Sprintf("record batch %d", s.before+i), func() error {
			whole, err := selection.read(s.in.At, s.blocks[i], mem)
			if err == nil {
				batch, err = takeColumns(ctx, whole, selection.schema, selection.all, mem)
			}
			return err
		})
	}
	return core.InOrder(ctx, s.ahead(), indices, work, arrow.RecordBatch.Release)
}

// streamSource reads an Arrow IPC stream once, or again and again from a file.
type streamSource struct {
	in         *core.Input
	stored     *arrow.Schema     // with native values
	fields     *arrow.Schema     // stored with wide indices
	endianness endian.Endianness // of the values in the stream
	rest       io.Reader         // of a pipe: everything, once
	consumed   bool
	empty      bool // nothing was taken
	ahead      int  // record batches that are read before they are drawn
}

// OpenStream reads the schema of an IPC stream, of an input that must stay open as long as the source is used. If
// aheadBytes is not 0, no batch is read ahead. A pipe can be read once.
func OpenStream(in *core.Input, aheadBytes int64) (core.Source, error) {
	s := &streamSource{in: in}
	if aheadBytes == 0 { // otherwise a batch may have any size
		s.ahead = runtime.GOMAXPROCS(0)
	}
	var head bytes.Buffer
	stream := in.Stream
	if in.At != nil {
		stream = io.NewSectionReader(in.At, 0, in.SizeBytes)
	}
	mem := core.NewScope(nil)
	messages := &streamMessages{in: io.TeeReader(stream, &head), mem: mem, sizeBytes: in.SizeBytes}
	reader, err := ipc.NewReaderFromMessageReader(messages, ipc.WithAllocator(mem), ipc.WithEnsureNativeEndian(false))
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	s.endianness = reader.Schema().Endianness()
	s.stored = reader.Schema().WithEndianness(endian.NativeEndian)
	s.fields = core.WideSchema(s.stored)
	s.rest = io.MultiReader(&head, stream)
	return s, nil
}

// Schema implements [core.Source].
func (s *streamSource) Schema() *arrow.Schema { return s.fields }

// Rows implements [core.Source].
func (s *streamSource) Rows() int64 {
	if s.empty {
		return 0
	}
	return -1
}

// Pieces implements [core.Divisible]: there is one, because record batches are found only by reading those before.
func (s *streamSource) Pieces() []core.Piece {
	return []core.Piece{{Bytes: s.in.SizeBytes, Rows: -1}}
}

// Take implements [core.Divisible].
func (s *streamSource) Take(from, to int) { s.empty = from == to }

// Batches implements [core.Source].
func (s *streamSource) Batches(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if err := checkEndianness(s.endianness, s.fields, columns); err != nil {
			yield(nil, err)
			return
		}
		content := s.rest
		switch {
		case s.empty:
			return
		case s.in.At != nil:
			content = io.NewSectionReader(s.in.At, 0, s.in.SizeBytes)
		case s.consumed:
			yield(nil, errors.New("the stream was read already; a pipe can be read only once"))
			return
		}
		s.consumed = true
		work := func(ctx context.Context, job numberedBatch) (batch arrow.RecordBatch, err error) {
			return batch, core.GuardIn(fmt.Sprintf("record batch %d", job.index), func() error {
				if batch, err = takeColumns(ctx, job.batch, s.stored, columns, mem); err == nil {
					batch = core.WidenBatch(batch, core.ChosenSchema(s.fields, columns))
				}
				return err
			})
		}
		decoded := s.decode(bufio.NewReaderSize(content, 1<<16), mem)
		core.InOrder(ctx, s.ahead, decoded, work, arrow.RecordBatch.Release)(yield)
	}
}

type numberedBatch struct {
	index int
	batch arrow.RecordBatch
}

// decode gives the record batches of all streams in the content, which must have the schema of the first.
func (s *streamSource) decode(content *bufio.Reader, mem memory.Allocator) iter.Seq2[numberedBatch, error] {
	return func(yield func(numberedBatch, error) bool) {
		index := 0
		for stream := 1; ; stream++ {
			messages := &streamMessages{in: content, mem: mem, sizeBytes: s.in.SizeBytes}
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
			err = core.GuardIn(fmt.Sprintf("record batch %d", index), reader.Err)
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
// otherwise the columns that were not asked for would stay in memory.
func takeColumns(
	ctx context.Context, batch arrow.RecordBatch, schema *arrow.Schema, columns []int, mem memory.Allocator,
) (arrow.RecordBatch, error) {
	defer batch.Release()
	chosen := make([]arrow.Array, 0, len(columns))
	defer func() {
		relation.ReleaseAll(chosen)
	}()
	distinct := map[int]bool{}
	for _, column := range columns {
		distinct[column] = true
	}
	for _, column := range columns {
		data := batch.Column(column)
		name := fmt.Sprintf("column %q", schema.Field(column).Name)
		if err := core.GuardIn(name, func() error { return validateColumn(data) }); err != nil {
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
	return array.NewRecordBatch(core.ChosenSchema(schema, columns), chosen, batch.NumRows()), nil
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
