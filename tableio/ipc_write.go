package tableio

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// arrowEncoder writes each batch as one record batch of an IPC file or stream.
type arrowEncoder struct {
	writer interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
}

func newArrowEncoder(format Format, out io.Writer, schema *arrow.Schema, compression string) (encoder, error) {
	options := []ipc.Option{ipc.WithSchema(schema)}
	switch compression {
	case "", "none":
	case "zstd":
		options = append(options, ipc.WithZstd(), ipc.WithCompressConcurrency(runtime.GOMAXPROCS(0)))
	case "lz4":
		options = append(options, ipc.WithLZ4(), ipc.WithCompressConcurrency(runtime.GOMAXPROCS(0)))
	default:
		return nil, fmt.Errorf("compression %q is unknown for Arrow IPC: choose zstd, lz4 or none", compression)
	}
	if format == ArrowStream {
		return arrowEncoder{ipc.NewWriter(out, options...)}, nil
	}
	writer, err := ipc.NewFileWriter(out, options...)
	return arrowEncoder{writer}, err
}

func (e arrowEncoder) write(ctx context.Context, batch arrow.RecordBatch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.writer.Write(batch)
}

func (e arrowEncoder) close(context.Context) error { return e.writer.Close() }
