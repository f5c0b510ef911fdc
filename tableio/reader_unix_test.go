//go:build unix

package tableio

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

func TestNamedPipe(t *testing.T) {
	for _, format := range []Format{Parquet, ArrowStream} {
		path := filepath.Join(t.TempDir(), "pipe")
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		written := make(chan error)
		go func() { written <- os.WriteFile(path, contentOf(t, format, "", tabletest.ExampleBatch(10)), 0) }()
		readFile(t, path, []string{"key"}, ReadOptions{}, func(got arrow.Table) { require.Equal(t, int64(10), got.NumRows()) })
		require.NoError(t, <-written)
	}
}
