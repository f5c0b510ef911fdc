package tableio

import (
	"context"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// manyGroups writes a table in many parts of a format and returns its path and its rows.
func manyGroups(t *testing.T, format Format) (path string, rows int64) {
	path = tempPath(t, format)
	batch := tabletest.ExampleBatch(1000)
	batches := make([]arrow.RecordBatch, 60)
	for i := range batches {
		batches[i] = batch
	}
	writeFile(t, path, batch.Schema(), batches, WriteOptions{RowGroupRows: 700})
	return path, 60_000
}

func TestBatches(t *testing.T) {
	for _, format := range formats {
		path, rows := manyGroups(t, format)
		for _, columns := range [][]string{nil, {"name", "key"}, {}} {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			r, err := Open(t.Context(), path, ReadOptions{Allocator: dirty{mem}})
			require.NoError(t, err)
			want, err := r.Read(t.Context(), columns)
			require.NoError(t, err)
			seen := int64(0)
			var parts []arrow.RecordBatch
			for batch, err := range r.Batches(t.Context(), columns) {
				require.NoError(t, err)
				require.True(t, batch.Schema().Equal(want.Schema()), "%v", batch.Schema())
				seen += batch.NumRows()
				parts = append(parts, batch)
			}
			require.Equal(t, rows, seen)
			got := array.NewTableFromRecords(want.Schema(), parts)
			if len(columns) != 0 || columns == nil {
				tabletest.RequireSameTable(t, want, got)
			}
			got.Release()
			for _, part := range parts {
				part.Release()
			}
			want.Release()
			require.NoError(t, r.Close())
			require.Zero(t, mem.CurrentAlloc(), "%v", format)
		}
	}
}

// What is read ahead of the receiver is bounded, and given back when the receiver leaves, fails or is cancelled.
func TestBatchesAreBoundedAndGivenBack(t *testing.T) {
	for _, format := range []Format{Parquet, ArrowFile, ArrowStream} { // the CSV is one block
		path, _ := manyGroups(t, format)
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		r, err := Open(t.Context(), path, ReadOptions{Allocator: mem})
		require.NoError(t, err)
		table, err := r.Read(t.Context(), nil)
		require.NoError(t, err)
		tableBytes := mem.CurrentAlloc()
		table.Release()
		most := 0
		for batch, err := range r.Batches(t.Context(), nil) {
			require.NoError(t, err)
			batch.Release()
			most = max(most, mem.CurrentAlloc())
		}
		require.Less(t, most, tableBytes/2, "%v holds more than a bounded number of parts", format)
		for batch, err := range r.Batches(t.Context(), nil) {
			require.NoError(t, err)
			batch.Release()
			break
		}
		require.Zero(t, mem.CurrentAlloc(), "%v", format)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := 0
		for batch, err := range r.Batches(ctx, nil) {
			if cancel(); err != nil {
				require.ErrorIs(t, err, context.Canceled)
				continue
			}
			got++
			batch.Release()
		}
		require.Less(t, got, 60, "%v", format)
		require.Zero(t, mem.CurrentAlloc(), "%v", format)
		for _, err := range r.Batches(t.Context(), []string{"none"}) {
			require.ErrorIs(t, err, ErrColumn)
		}
		require.NoError(t, r.Close())
	}
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	path, _ := manyGroups(t, Parquet)
	r, err := Open(t.Context(), path, ReadOptions{Allocator: mem})
	require.NoError(t, err)
	defer r.Close()
	require.Panics(t, func() {
		for batch := range r.Batches(t.Context(), nil) {
			batch.Release()
			panic("of the receiver")
		}
	})
}

// A pipe that falls silent does not keep a reader whose context ends.
func TestBatchesOfASilentPipe(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	go func() {
		w, err := Create("-", tabletest.ExampleBatch(0).Schema(), WriteOptions{Stdout: out})
		if err == nil {
			_ = w.Write(context.Background(), tabletest.ExampleBatch(50_000)) // and never ends it
			_ = w.sink.buffer.Flush()
		}
	}()
	r, err := Open(t.Context(), "-", ReadOptions{Stdin: in})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rows := int64(0)
	for batch, err := range r.Batches(ctx, nil) {
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			break
		}
		rows += batch.NumRows()
		cancel()
	}
	require.Equal(t, int64(50_000), rows)
}
