package tableio

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// limitedAllocator panics above its limit, as an allocator with a cap must.
type limitedAllocator struct {
	memory.Allocator
	left atomic.Int64
}

func newLimitedAllocator(inner memory.Allocator, limitBytes int) *limitedAllocator {
	l := &limitedAllocator{Allocator: inner}
	l.left.Store(int64(limitBytes))
	return l
}

func (l *limitedAllocator) Allocate(size int) []byte {
	if l.left.Add(int64(-size)) < 0 {
		panic(errCap)
	}
	return l.Allocator.Allocate(size)
}

var errCap = errors.New("the cap of pinned memory is reached")

func (l *limitedAllocator) Reallocate(size int, b []byte) []byte {
	if l.left.Add(int64(len(b)-size)) < 0 {
		panic(errCap)
	}
	return l.Allocator.Reallocate(size, b)
}

// The caller's allocator that is full is not a fault of the input.
func TestFailingAllocatorIsReportedAsSuch(t *testing.T) {
	batch := tabletest.ExampleBatch(10_000)
	for _, format := range formats {
		path := filepath.Join(t.TempDir(), "table"+extension(format))
		require.NoError(t, os.WriteFile(path, contentOf(t, format, "", batch), 0o600))
		for _, limit := range []int{0, 1000, 50_000, 150_000} {
			inner := memory.NewCheckedAllocator(memory.NewGoAllocator())
			r, err := Open(context.Background(), path, ReadOptions{Allocator: newLimitedAllocator(inner, limit)})
			require.NoError(t, err)
			_, err = r.Read(context.Background(), nil)
			require.ErrorIs(t, err, errCap, "%v with %d bytes", format, limit)
			require.NotErrorIs(t, err, ErrInput)
			require.NotContains(t, err.Error(), "corrupt")
			require.Zero(t, inner.CurrentAlloc())
			for batch, batchErr := range r.Batches(context.Background(), nil) {
				if err = batchErr; err == nil {
					batch.Release()
				}
			}
			require.ErrorIs(t, err, errCap, "%v with %d bytes, in batches", format, limit)
			require.NotContains(t, err.Error(), "corrupt")
			require.Zero(t, inner.CurrentAlloc())
			require.NoError(t, r.Close())
		}
	}
}
