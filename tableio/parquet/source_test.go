package parquet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// written writes a file of one batch and opens it.
func written(t *testing.T, batch arrow.RecordBatch, opts Options, aheadBytes int64) *Source {
	path := filepath.Join(t.TempDir(), "table.parquet")
	file, err := os.Create(path)
	require.NoError(t, err)
	e, err := NewEncoder(file, batch.Schema(), opts)
	require.NoError(t, err)
	require.NoError(t, e.Write(t.Context(), batch))
	require.NoError(t, e.Close(t.Context()))
	require.NoError(t, file.Close())
	in, err := core.OpenInput(path, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, in.Close()) })
	source, err := Open(t.Context(), in, aheadBytes, nil)
	require.NoError(t, err)
	return source
}
