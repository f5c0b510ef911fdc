package tableio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/csv"
	"github.com/spirjoin/spirjoin/tableio/ipc"
	"github.com/spirjoin/spirjoin/tableio/parquet"
)

// WriteOptions says how to write a table.
type WriteOptions struct {
	Format      Format      // Auto: by extension; an Arrow stream for "-"
	CSV         csv.Options // used for CSV only
	Compression string      // none, lz4, zstd, for Parquet also snappy; empty = snappy for Parquet, otherwise none
	Stdout      io.Writer   // what "-" writes; nil = os.Stdout
	Busy        *Busy       // measures the work of encoding and writing; may be nil

	RowGroupRows int64 // maximum rows of a Parquet row group; 0 = 131072
	// RowGroupBytes ends a Parquet row group before it has more bytes of Arrow data than this, or after its first row.
	// About three such row groups are kept in memory. 0 = 256 MiB, and as many row groups as the cores encode.
	RowGroupBytes int64
}

// Writer writes one table. Between Create and Commit the content is in a temporary file beside the output; only Commit
// makes it appear. A Writer is used by one goroutine; end it with Commit or Abort ("defer w.Abort()" is harmless after
// Commit).
type Writer struct {
	path   string
	schema *arrow.Schema
	enc    core.Encoder
	sink   *sink
	file   *OutputFile // nil for stdout
	rows   int64
	busy   *Busy
	state  writerState
	err    error // the first failure, repeated by later calls
}

type writerState uint8

const (
	writing writerState = iota
	committed
	aborted
)

// sink writes what the encoder gives it, small pieces together and large ones without a copy. It can be made to swallow
// everything.
type sink struct {
	out     io.Writer
	buffer  *bufio.Writer // of small pieces, to out
	discard atomic.Bool
	busy    *Busy
}

func newSink(out io.Writer, busy *Busy) *sink {
	return &sink{out: out, buffer: bufio.NewWriterSize(out, sinkBufferBytes), busy: busy}
}

func (s *sink) Write(p []byte) (int, error) {
	if s.discard.Load() {
		return len(p), nil
	}
	s.busy.Begin()
	defer s.busy.End()
	if len(p) < sinkBufferBytes {
		return s.buffer.Write(p)
	}
	if err := s.buffer.Flush(); err != nil {
		return 0, err
	}
	return s.out.Write(p)
}

const sinkBufferBytes = 64 << 10 // what is larger is not copied

// Create begins the output at path; "-" is standard output. It checks, before any work is done, that the directory is
// writable, that path is not a directory and that the format supports all types of the schema. An existing file is
// replaced by Commit and stays unchanged until then. Pipes and devices are written directly.
//
// Errors wrap ErrOutput.
func Create(path string, schema *arrow.Schema, opts WriteOptions) (*Writer, error) {
	w := &Writer{path: path, schema: schema, busy: opts.Busy}
	format, err := opts.format(path)
	if err == nil {
		err = w.open(opts.Stdout)
	}
	if err == nil {
		err = core.Guard(func() (err error) {
			w.enc, err = newEncoder(format, w.sink, path, schema, opts)
			return err
		})
	}
	if err != nil {
		_ = w.Abort()
		return nil, fail(ErrOutput, "create", path, err)
	}
	return w, nil
}

func (o WriteOptions) format(path string) (Format, error) {
	switch {
	case o.Format != Auto:
		return o.Format, nil
	case path == "-":
		return ArrowStream, nil
	}
	if format := FormatOf(path); format != Auto {
		return format, nil
	}
	return Auto, fmt.Errorf("%w: the extension %q does not name one; use .parquet, .csv, .arrow or .arrows, "+
		"or name the format", ErrFormat, filepath.Ext(path))
}

func newEncoder(format Format, out *sink, path string, schema *arrow.Schema, opts WriteOptions) (core.Encoder, error) {
	switch format {
	case Parquet:
		return parquet.NewEncoder(out, schema, parquet.Options{Compression: opts.Compression,
			RowGroupRows: opts.RowGroupRows, RowGroupBytes: opts.RowGroupBytes, Busy: opts.Busy})
	case CSV:
		return csv.NewEncoder(out, path, schema, opts.CSV, opts.Compression)
	case ArrowFile:
		return ipc.NewFileEncoder(out, schema, opts.Compression)
	case ArrowStream:
		return ipc.NewStreamEncoder(out, schema, opts.Compression)
	}
	return nil, fmt.Errorf("unknown format %v", format)
}

// open makes the sink: a file, or standard output.
func (w *Writer) open(stdout io.Writer) (err error) {
	if w.path == "-" {
		if stdout == nil {
			stdout = os.Stdout
		}
		w.sink = newSink(stdout, w.busy)
		return nil
	}
	if w.file, err = createFile(w.path); err == nil {
		w.sink = newSink(w.file.file, w.busy)
	}
	return err
}

// Rows returns the number of rows written so far.
func (w *Writer) Rows() int64 { return w.rows }

// Write appends a batch of any size. Its schema must equal that of the Writer, and its columns may hold nulls only
// where the schema allows them; any other batch is refused as a whole. The caller may release the batch when Write
// returns, but must not change its memory before Commit or Abort has returned, because encoding and writing continue in
// the background. A failure may therefore be reported by a later call.
//
// When ctx ends, Write returns before the batch is written. After an error, other than a refused batch, the Writer can
// only be aborted. Errors wrap ErrOutput.
func (w *Writer) Write(ctx context.Context, batch arrow.RecordBatch) error {
	if w.err == nil && w.state != writing {
		return fail(ErrOutput, "write", w.path, errors.New("the output is closed already"))
	}
	if err := w.fits(batch); w.err == nil && err != nil {
		return fail(ErrOutput, "write", w.path, err)
	}
	if w.err == nil && batch.NumRows() > 0 {
		w.busy.Begin()
		err := core.Guard(func() error { return w.enc.Write(w.busy.With(ctx), batch) })
		w.err = fail(ErrOutput, "write", w.path, err)
		w.busy.End()
	}
	if w.err == nil {
		w.rows += batch.NumRows()
	}
	return w.err
}

func (w *Writer) fits(batch arrow.RecordBatch) error {
	if !batch.Schema().Equal(w.schema) {
		return fmt.Errorf("the batch has another schema: %v instead of %v", batch.Schema(), w.schema)
	}
	for i, field := range w.schema.Fields() {
		if field.Nullable {
			continue
		}
		if _, _, nulls := relation.LogicalValidity(batch.Column(i)); nulls > 0 {
			return fmt.Errorf("column %q may not be null, but is in %d rows", field.Name, nulls)
		}
	}
	return nil
}

// Commit completes the content and renames the file to its final path, where it appears as a whole. It does not wait
// for the disk: a power failure soon afterwards may lose or damage the file, as any that was just copied. On an error,
// also when ctx ends, no file appears and the Writer is aborted.
func (w *Writer) Commit(ctx context.Context) error {
	switch {
	case w.err != nil:
		return core.JoinFaults(w.err, w.Abort())
	case w.state == committed:
		return nil
	case w.state == aborted:
		return fail(ErrOutput, "commit", w.path, errors.New("the output was aborted"))
	}
	if err := w.commit(ctx); err != nil {
		w.err = fail(ErrOutput, "commit", w.path, err)
		return core.JoinFaults(w.err, w.Abort())
	}
	w.state = committed
	return nil
}

func (w *Writer) commit(ctx context.Context) error {
	w.busy.Begin()
	defer w.busy.End()
	enc := w.enc
	w.enc = nil
	if err := core.Guard(func() error { return enc.Close(ctx) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.sink.buffer.Flush(); err != nil {
		return err
	}
	if w.file == nil {
		return nil
	}
	return w.file.commit()
}

// Abort discards the output and removes what was written. It may be called again, and does nothing after Commit.
func (w *Writer) Abort() error {
	if w.state != writing {
		return nil
	}
	w.state = aborted
	if w.enc != nil {
		ended, end := context.WithCancel(context.Background())
		end()
		w.sink.discard.Store(true)
		_ = core.Guard(func() error { return w.enc.Close(ended) })
		w.enc = nil
	}
	return fail(ErrOutput, "abort", w.path, w.file.abort())
}
