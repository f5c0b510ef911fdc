package tableio

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// cancelAfter ends a context after a number of bytes.
type cancelAfter struct {
	left, written int
	cancel        context.CancelFunc
}

func (w *cancelAfter) Write(p []byte) (int, error) {
	if w.written += len(p); w.written >= w.left {
		w.cancel()
	}
	return len(p), nil
}

// A write ends within its batch, soon after its context; nothing but Abort follows.
func TestCancelledInsideABatch(t *testing.T) {
	batch := tabletest.ExampleBatch(400_000) // 16 MB
	for _, c := range []struct {
		format      Format
		compression string
	}{{CSV, ""}, {ArrowFile, ""}, {ArrowStream, "none"}} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &cancelAfter{left: 1 << 20, cancel: cancel}
		w, err := Create("-", batch.Schema(), WriteOptions{Format: c.format, Compression: c.compression, Stdout: out})
		require.NoError(t, err)
		err = w.Write(ctx, batch)
		require.ErrorIs(t, err, context.Canceled, "%v", c.format)
		require.NotErrorIs(t, err, ErrOutput)
		require.ErrorIs(t, w.Write(t.Context(), batch), context.Canceled)
		require.NoError(t, w.Abort())
		require.Less(t, out.written, 9<<20, "%v", c.format)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, format := range []Format{CSV, ArrowFile, ArrowStream} {
		w, err := Create(tempPath(t, format), batch.Schema(), WriteOptions{})
		require.NoError(t, err)
		require.ErrorIs(t, w.Write(ctx, batch), context.Canceled, "%v", format)
		require.NoError(t, w.Abort())
	}
}
