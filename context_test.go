package spirjoin

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio"
)

// The context of a call decides what its error is, always, whoever of the engine and a source notices first that it has
// ended.
func TestEndedContextsOfStreams(t *testing.T) {
	left, _ := budgetTables(t, 2000, 0)
	path := filepath.Join(t.TempDir(), "left.parquet")
	writer, err := tableio.Create(path, left.Schema(), tableio.WriteOptions{RowGroupRows: 300})
	require.NoError(t, err)
	defer writer.Abort()
	for batch, err := range FromTable(left).Batches(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, writer.Write(t.Context(), batch))
		batch.Release()
	}
	require.NoError(t, writer.Commit(t.Context()))
	reader, err := tableio.Open(t.Context(), path, tableio.ReadOptions{})
	require.NoError(t, err)
	defer reader.Close()
	source := Source{Schema: left.Schema(), Rows: -1}
	begins := map[string]func() (context.Context, context.CancelFunc){
		"timed out": func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), 0) },
		"cancelled": func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx, cancel
		},
		"timed out later": func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 200*time.Microsecond)
		},
	}
	wants := map[string][2]error{"timed out": {ErrTimedOut, ErrCancelled}, "cancelled": {ErrCancelled, ErrTimedOut},
		"timed out later": {ErrTimedOut, ErrCancelled}}
	for _, limitBytes := range []uint64{0, 64 << 20} {
		engine, err := Open(t.Context(), Options{Device: HostDevice, MemoryLimitBytes: limitBytes})
		require.NoError(t, err)
		for name, begin := range begins {
			for range 25 {
				ctx, cancel := begin()
				source.Batches = func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] { return reader.Batches(ctx, nil) }
				joined, err := engine.JoinStream(ctx, source, FromTable(left), JoinSpec{On: []string{"k"}})
				if _, err = draw(ctx, joined, err); err != nil {
					requireContextError(t, err, wants[name])
				}
				grouped, err := engine.GroupByStream(ctx, source, GroupSpec{By: []string{"k"}})
				if err == nil {
					for _, err = range grouped.Batches(ctx) {
						if err != nil {
							break
						}
					}
					grouped.Close()
				}
				if err != nil {
					requireContextError(t, err, wants[name])
				}
				if name != "timed out later" {
					require.Error(t, err)
				}
				cancel()
			}
		}
		require.NoError(t, engine.Close())
	}
}

func requireContextError(t *testing.T, err error, wants [2]error) {
	t.Helper()
	require.ErrorIs(t, err, wants[0])
	require.False(t, errors.Is(err, wants[1]), "%v", err)
	require.NotContains(t, err.Error(), "another stream")
}
