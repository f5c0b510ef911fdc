package ipc

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// encoder writes each batch as one record batch of an IPC file or stream; compressed batches are cut to
// compressedBatchRows, because compressing one cannot be cancelled.
type encoder struct {
	writer interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	out      *cancelWriter
	mostRows int64 // 0: any number
}

const compressedBatchRows = 1 << 20

// NewStreamEncoder makes an encoder of an IPC stream, which it writes to out. The compression is "zstd", "lz4", "none"
// or empty, which is none; errors wrap [core.ErrCompression] for any other.
func NewStreamEncoder(out io.Writer, schema *arrow.Schema, compression string) (core.Encoder, error) {
	e, options, err := newEncoder(out, schema, compression)
	if err != nil {
		return nil, err
	}
	e.writer = ipc.NewWriter(e.out, options...)
	return e, nil
}

// NewFileEncoder makes an encoder of an IPC file, compressed like a stream.
func NewFileEncoder(out io.Writer, schema *arrow.Schema, compression string) (core.Encoder, error) {
	e, options, err := newEncoder(out, schema, compression)
	if err != nil {
		return nil, err
	}
	if core.HasDictionary(schema.Fields()) {
		e.writer = newDictionaryFileWriter(e.out, schema, options)
		return e, nil
	}
	e.writer, err = ipc.NewFileWriter(e.out, options...)
	return e, err
}

// newEncoder makes an encoder without its writer, and the options for one.
func newEncoder(out io.Writer, schema *arrow.Schema, compression string) (*encoder, []ipc.Option, error) {
	e := &encoder{out: &cancelWriter{out: out, ctx: context.Background()}}
	options := []ipc.Option{ipc.WithSchema(schema)}
	switch compression {
	case "", "none":
	case "zstd":
		options = append(options, ipc.WithZstd())
	case "lz4":
		options = append(options, ipc.WithLZ4())
	default:
		return nil, nil, fmt.Errorf("%w %q is unknown for Arrow IPC: choose zstd, lz4 or none", core.ErrCompression,
			compression)
	}
	if len(options) > 1 {
		options = append(options, ipc.WithCompressConcurrency(runtime.GOMAXPROCS(0)))
		e.mostRows = compressedBatchRows
	}
	return e, options, nil
}

// Write implements [core.Encoder].
func (e *encoder) Write(ctx context.Context, batch arrow.RecordBatch) error {
	e.out.ctx = ctx
	defer func() { e.out.ctx = context.Background() }()
	if e.mostRows == 0 || batch.NumRows() <= e.mostRows {
		return e.writer.Write(batch)
	}
	for start := int64(0); start < batch.NumRows(); start += e.mostRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := batch.NewSlice(start, min(start+e.mostRows, batch.NumRows()))
		err := e.writer.Write(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Close implements [core.Encoder].
func (e *encoder) Close(context.Context) error { return e.writer.Close() }

// cancelWriter looks at its context between pieces of what is written, which may be whole columns.
type cancelWriter struct {
	out io.Writer
	ctx context.Context
}

const cancelWriterBytes = 4 << 20

func (w *cancelWriter) Write(p []byte) (n int, err error) {
	for {
		if err := w.ctx.Err(); err != nil {
			return n, err
		}
		piece, err := w.out.Write(p[n:min(n+cancelWriterBytes, len(p))])
		if n += piece; err != nil || n >= len(p) {
			return n, err
		}
	}
}
