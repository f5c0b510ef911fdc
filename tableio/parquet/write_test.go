package parquet

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// stuck takes the first write; all others wait until it is closed.
type stuck struct {
	writes int
	closed chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	if s.writes++; s.writes > 1 {
		<-s.closed
	}
	return len(p), nil
}

// As many row groups are in flight as there are cores for, and under a limit as have no more bytes than that.
func TestRowGroupsInFlight(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	const rows = 1000
	batches := 100 + 4*int64(runtime.GOMAXPROCS(0))
	b.Field(0).(*array.Int64Builder).AppendValues(make([]int64, rows), nil)
	batch := b.NewRecordBatch()
	defer batch.Release()
	for limit, c := range map[int64]struct{ least, most int64 }{1: {1, 2}, 4: {2, 3}, 2 * batches: {4, batches - 1}} {
		out := &stuck{closed: make(chan struct{})}
		e, err := NewEncoder(out, schema, Options{RowGroupRows: rows, RowGroupBytes: limit * batchBytes(batch, 0, rows)})
		require.NoError(t, err)
		var taken atomic.Int64
		written := make(chan error)
		go func() {
			var err error
			for range batches {
				if err = e.Write(t.Context(), batch); err != nil {
					break
				}
				taken.Add(1)
			}
			written <- err
		}()
		require.Eventually(t, func() bool { return taken.Load() >= c.least }, 10*time.Second, time.Millisecond, "%d", limit)
		time.Sleep(20 * time.Millisecond)
		require.LessOrEqual(t, taken.Load(), c.most, "%d", limit)
		close(out.closed)
		require.NoError(t, <-written)
		require.NoError(t, e.Close(t.Context()))
	}
}
