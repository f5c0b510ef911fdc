package tableio

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/csv"
	"github.com/spirjoin/spirjoin/tableio/dataset"
	"github.com/spirjoin/spirjoin/tableio/ipc"
	"github.com/spirjoin/spirjoin/tableio/parquet"
)

// Busy measures the time in which tables are read or written.
type Busy = core.Busy

// ReadOptions says how to read a table. The zero value detects the format and reads all columns.
type ReadOptions struct {
	Format  Format      // Auto: by content, then by extension
	Columns []string    // what Read loads for nil columns; nil = all columns of the file
	CSV     csv.Options // used for CSV only
	// Allocator allocates the tables and, until the Reader is closed, what a pipe holds that is no Arrow stream; nil =
	// Go allocator.
	Allocator memory.Allocator
	// Progress, if set, is called by Read with the number of rows read so far, as they come.
	Progress func(rows int64)
	// Opening, if set, is called by Open with how much of a CSV file was read so far, to infer its types.
	Opening func(doneBytes, totalBytes int64)
	// AheadBytes, if set, is about the memory that is taken beside batches that were handed out: batches become so
	// small, and so few of them wait, that it suffices. Reader.AheadBytes says where that is not possible. Pages then
	// come from Allocator, too.
	AheadBytes int64
	Stdin      io.Reader // what "-" reads; nil = os.Stdin
	Busy       *Busy     // measures the work of reading and decoding; may be nil
}

// Reader is an open table. It is used by one goroutine at a time; the tables that it returns are independent of it.
type Reader struct {
	path   string
	format Format
	src    core.Source
	opts   ReadOptions
	in     *core.Input // nil: several files, which are open only while they are read
}

// Open opens the table at path and reads its schema; "-" is standard input: an Arrow IPC stream, or an Arrow file,
// Parquet or (if Format says so) CSV, which are buffered in memory, as from any other pipe. For CSV without a schema
// the whole file is read once to infer the types.
//
// A folder, a pattern of names and a list ("@" before the name of a file with a path on each line) are tables of
// several files, one after the other, whose columns are united by name. A name that exists is never a pattern or a
// list.
//
// Errors wrap ErrInput, and ErrColumn for an unknown name in opts.Columns. Open returns at once when ctx is cancelled,
// even while a pipe is silent.
func Open(ctx context.Context, path string, opts ReadOptions) (*Reader, error) {
	files, err := dataset.Find(path, opts.Format.names)
	if err != nil {
		return nil, fail(ErrInput, "open", path, err)
	}
	if len(files) > 1 || len(files[0].Partitions) > 0 {
		return openFiles(ctx, path, files, opts)
	}
	return openFile(ctx, files[0].Path, opts)
}

func openFile(ctx context.Context, path string, opts ReadOptions) (*Reader, error) {
	in, err := core.OpenInput(path, opts.Stdin)
	if err != nil {
		return nil, fail(ErrInput, "open", path, err)
	}
	open := func() (*Reader, error) {
		opts.Busy.Begin()
		defer opts.Busy.End()
		return newReader(ctx, in, opts)
	}
	var r *Reader
	if in.Seek != nil {
		r, err = open()
	} else {
		r, err = await(ctx, open, func(late *Reader) { late.in.Free() })
	}
	if err != nil {
		_ = in.Close()
		return nil, fail(ErrInput, "open", path, err)
	}
	return r, nil
}

// newReader opens an input. On an error the input holds no memory.
func newReader(ctx context.Context, in *core.Input, opts ReadOptions) (r *Reader, err error) {
	defer func() {
		if err != nil {
			in.Free()
		}
	}()
	format := opts.Format
	if format == Auto {
		head, err := in.Head(magicBytes)
		if err != nil {
			return nil, err
		}
		if format, err = detectFormat(in.Path, head); err != nil {
			return nil, err
		}
	}
	if format != ArrowStream {
		if err := in.Buffer(opts.Allocator); err != nil {
			return nil, err
		}
	}
	r = &Reader{path: in.Path, format: format, opts: opts, in: in}
	err = core.Guard(func() (err error) {
		switch format {
		case Parquet:
			r.src, err = parquet.Open(ctx, in, opts.AheadBytes, opts.Allocator)
		case CSV:
			r.src, err = csv.Open(ctx, in, opts.CSV, opts.Opening)
		case ArrowFile:
			r.src, err = ipc.OpenFile(in, opts.AheadBytes)
		case ArrowStream:
			r.src, err = ipc.OpenStream(in, opts.AheadBytes)
		default:
			err = fmt.Errorf("unknown format %v", format)
		}
		return err
	})
	if err == nil {
		err = core.CheckTypes(r.src.Schema().Fields())
	}
	if err == nil {
		_, err = core.ColumnIndices(r.src.Schema(), opts.Columns)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Format returns the detected or given format; Auto for files of several formats.
func (r *Reader) Format() Format { return r.format }

// Schema returns the schema of all columns in the file, whatever ReadOptions.Columns says.
func (r *Reader) Schema() *arrow.Schema { return r.src.Schema() }

// Rows returns the number of rows in the file, or -1 if it is unknown before the file is read: for Arrow streams, and
// for CSV if all types were given.
func (r *Reader) Rows() int64 { return r.src.Rows() }

// AheadBytes returns the memory that reading these columns, nil for the columns of ReadOptions, takes beside batches
// that were handed out, or are kept: at least ReadOptions.AheadBytes, and more where a page or a record batch has more
// bytes. Row groups that are skipped do not count. It is 0 without ReadOptions.AheadBytes.
func (r *Reader) AheadBytes(columns []string) (int64, error) {
	if columns == nil {
		columns = r.opts.Columns
	}
	indices, err := core.ColumnIndices(r.src.Schema(), columns)
	if err != nil || r.opts.AheadBytes == 0 {
		return 0, fail(ErrInput, "read", r.path, err)
	}
	needBytes := r.opts.AheadBytes
	err = core.Guard(func() error {
		if src, ok := r.src.(core.Ahead); ok {
			needBytes = max(needBytes, src.NeedBytes(indices, true))
		}
		return nil
	})
	return needBytes, fail(ErrInput, "read", r.path, err)
}

// PipeBytes returns the memory that holds the content of a pipe until the Reader is closed.
func (r *Reader) PipeBytes() int64 {
	if r.in == nil {
		return 0
	}
	return r.in.PipeBytes()
}

// texts is a source of which some columns are inferred from texts.
type texts interface {
	WhyText(column int) (csv.TextReason, bool)
	SetType(column int, dt arrow.DataType) bool
}

// WhyText returns the value of a CSV file that made a column text. It returns false if the type was given, the column
// has another type or no value, or the name is unknown or ambiguous.
func (r *Reader) WhyText(column string) (csv.TextReason, bool) {
	src, ok := r.src.(texts)
	indices := r.src.Schema().FieldIndices(column)
	if !ok || len(indices) != 1 {
		return csv.TextReason{}, false
	}
	return src.WhyText(indices[0])
}

// SetType gives a column of a CSV file without values, which is text by itself, another type; of a dictionary that of
// its values. It must come before the column is read. It returns false, and changes nothing, if the column has values,
// if its type was given, if no column of a CSV file has that type, or if the name is unknown or ambiguous.
func (r *Reader) SetType(column string, dt arrow.DataType) bool {
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		dt = dictionary.ValueType
	}
	src, ok := r.src.(texts)
	indices := r.src.Schema().FieldIndices(column)
	return ok && len(indices) == 1 && src.SetType(indices[0], dt)
}

// Read loads the named columns, in this order, and nothing else; nil means ReadOptions.Columns, and an empty list gives
// a table with rows but no columns. The caller releases the table, which stays valid after Close. Rows keep the order
// of the file; chunks may differ between columns.
//
// Read may be called several times, except on a pipe with an Arrow stream. It stops between batches when ctx ends.
// Errors wrap ErrInput, and ErrColumn for an unknown or ambiguous name; on error, all memory is freed.
func (r *Reader) Read(ctx context.Context, columns []string) (arrow.Table, error) {
	if columns == nil {
		columns = r.opts.Columns
	}
	indices, err := core.ColumnIndices(r.src.Schema(), columns)
	if err != nil {
		return nil, fail(ErrInput, "read", r.path, err)
	}
	read := func() (table arrow.Table, err error) {
		r.opts.Busy.Begin()
		defer r.opts.Busy.End()
		mem := core.NewScope(r.opts.Allocator)
		err = mem.Finish(core.Guard(func() (err error) {
			if err = ctx.Err(); err == nil {
				table, err = collectBatches(ctx, r.src, indices, mem, r.opts.Progress)
			}
			return err
		}))
		if err != nil {
			return nil, err
		}
		return table, nil
	}
	var table arrow.Table
	if !r.piped() {
		table, err = read()
	} else {
		table, err = await(ctx, read, func(t arrow.Table) { t.Release() })
	}
	return table, fail(ErrInput, "read", r.path, err)
}

// Batches yields the rows as record batches, with the columns that Read would load: a batch for each row group of
// Parquet, or several for a large one, for each record batch of Arrow IPC, or for about 2 MiB of CSV text, in the order
// of the file. All cores decode; how far they read ahead of the receiver is bounded, so that a table larger than memory
// can be read. The receiver releases each batch. An error ends the sequence. Errors: as for Read. Batches may
// be called several times if Read may. Leaving the loop ends the work.
func (r *Reader) Batches(ctx context.Context, columns []string) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if columns == nil {
			columns = r.opts.Columns
		}
		indices, err := core.ColumnIndices(r.src.Schema(), columns)
		if err != nil {
			yield(nil, fail(ErrInput, "read", r.path, err))
			return
		}
		mem := core.NewScope(r.opts.Allocator)
		next, stop := iter.Pull2(r.src.Batches(r.opts.Busy.With(ctx), indices, mem))
		var pulling sync.Mutex
		end := func() {
			pulling.Lock()
			defer pulling.Unlock()
			stop()
			mem.Drop()
		}
		defer func() {
			if !r.piped() || ctx.Err() == nil {
				end()
			} else { // next may hang in a pipe
				go end()
			}
		}()
		pull := func() (batch arrow.RecordBatch, err error) { // nil at the end
			pulling.Lock()
			defer pulling.Unlock()
			err = core.Guard(func() (err error) {
				batch, err, _ = next()
				return err
			})
			return batch, err
		}
		for {
			var batch arrow.RecordBatch
			if !r.piped() {
				batch, err = pull()
			} else {
				batch, err = await(ctx, pull, func(late arrow.RecordBatch) {
					if late != nil {
						late.Release()
					}
				})
			}
			if err != nil {
				yield(nil, fail(ErrInput, "read", r.path, err))
			}
			if err != nil || batch == nil {
				break
			}
			mem.Hand(batch)
			if !yield(batch, nil) {
				break
			}
		}
	}
}

// piped tells whether rows come through a pipe as they are read.
func (r *Reader) piped() bool { return r.in != nil && r.in.Seek == nil }

// Close closes the file. Tables already read stay valid. It may be called twice.
func (r *Reader) Close() error {
	if r.in == nil {
		return nil
	}
	r.in.Free()
	err := r.in.Close()
	r.in = nil
	return fail(ErrInput, "close", r.path, err)
}

// await runs f, which may block on a pipe, and returns early when ctx ends; a
// result that comes too late is discarded.
func await[T any](ctx context.Context, f func() (T, error), discard func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result)
	go func() {
		value, err := f()
		select {
		case done <- result{value, err}:
		case <-ctx.Done():
			if err == nil {
				discard(value)
			}
		}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
