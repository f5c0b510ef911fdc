package tableio

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// Files are skipped by the values of partitions, and in part by statistics.
func TestSkipFiles(t *testing.T) {
	dir := t.TempDir()
	batch := tabletest.ExampleBatch(100)
	for year := range 5 {
		path := filepath.Join(dir, fmt.Sprint("year=", 2020+year), "x.parquet")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		part := batch.NewSlice(int64(20*year), int64(20*year+20))
		writeFile(t, path, batch.Schema(), []arrow.RecordBatch{part}, WriteOptions{RowGroupRows: 10})
	}
	for _, aheadBytes := range []int64{0, 1} {
		r, err := Open(t.Context(), dir, ReadOptions{AheadBytes: aheadBytes})
		require.NoError(t, err)
		b, ok := r.Bounds("year")
		require.True(t, ok)
		require.Equal(t, Bounds{Type: arrow.PrimitiveTypes.Int64, Min: 2020, Max: 2024}, b)
		require.False(t, r.Nulls("year"))
		b, ok = r.Bounds("key")
		require.True(t, ok)
		require.Equal(t, Bounds{Type: arrow.PrimitiveTypes.Int64, Min: 0, Max: 99}, b)
		require.True(t, r.Nulls("name"))
		require.Len(t, keysOf(t, r), 100)
		r.SkipOutside("year", Bounds{Type: arrow.PrimitiveTypes.Int32, Min: 2021, Max: 2022})
		require.NoError(t, os.Rename(filepath.Join(dir, "year=2020"), filepath.Join(dir, "gone"))) // not even opened
		keys := keysOf(t, r)
		require.NoError(t, os.Rename(filepath.Join(dir, "gone"), filepath.Join(dir, "year=2020")))
		require.Equal(t, []int64{20, 59}, []int64{keys[0], keys[len(keys)-1]})
		r.SkipOutside("key", Bounds{Type: arrow.PrimitiveTypes.Int64, Min: 30, Max: 30})
		require.Len(t, keysOf(t, r), 10)
		require.EqualValues(t, 100, r.Rows())
		require.NoError(t, r.Close())
	}
}

// What happens to one file is said with its name, and leaves nothing behind.
func TestFaultsInOneOfSeveralFiles(t *testing.T) {
	batch := tabletest.ExampleBatch(3000)
	for _, format := range formats {
		for _, aheadBytes := range []int64{0, 1} {
			dir, content := t.TempDir(), contentOf(t, format, "none", batch)
			bad := filepath.Join(dir, "5"+extension(format))
			for i := range 9 {
				path := filepath.Join(dir, fmt.Sprint(i, extension(format)))
				require.NoError(t, os.WriteFile(path, content, 0o600))
			}
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			for fault, spoil := range map[string]func() error{
				"no such file":      func() error { return os.Remove(bad) },
				"has changed since": func() error { return os.WriteFile(bad, append(bytes.Clone(content), 0), 0o600) },
			} {
				require.NoError(t, os.WriteFile(bad, content, 0o600))
				r, err := Open(t.Context(), dir, ReadOptions{Allocator: mem, AheadBytes: aheadBytes})
				require.NoError(t, err)
				require.NoError(t, spoil())
				_, err = r.Read(t.Context(), nil)
				require.ErrorIs(t, err, ErrInput)
				require.ErrorContains(t, err, "read "+bad+": ")
				require.ErrorContains(t, err, fault)
				rows := int64(0)
				for batch, failed := range r.Batches(t.Context(), nil) {
					if err = failed; failed == nil {
						rows += batch.NumRows()
						batch.Release()
					}
				}
				require.ErrorContains(t, err, bad)
				require.EqualValues(t, 5*3000, rows, "what comes before")
				require.NoError(t, r.Close())
			}
			for _, spoilt := range [][]byte{nil, content[:len(content)/2], []byte("x")} {
				if format == CSV && len(spoilt) > 1 {
					spoilt = append(spoilt, "\n\"unfinished"...)
				}
				require.NoError(t, os.WriteFile(bad, spoilt, 0o600))
				r, err := Open(t.Context(), dir, ReadOptions{Allocator: mem, AheadBytes: aheadBytes})
				if err == nil && format == CSV && len(spoilt) == 1 { // a file with another column
					require.NoError(t, r.Close())
					continue
				}
				if err == nil {
					_, err = r.Read(t.Context(), nil)
					require.NoError(t, r.Close())
				}
				require.ErrorContains(t, err, bad+": ", "%v", format)
			}
			require.Zero(t, mem.CurrentAlloc())
		}
	}
}

// peak is an allocator that knows the most that was allocated at once.
type peak struct {
	memory.Allocator
	now, most atomic.Int64
}

func (p *peak) grow(bytes int) {
	now := p.now.Add(int64(bytes))
	for most := p.most.Load(); now > most && !p.most.CompareAndSwap(most, now); most = p.most.Load() {
	}
}

func (p *peak) Allocate(size int) []byte {
	p.grow(size)
	return p.Allocator.Allocate(size)
}

func (p *peak) Reallocate(size int, b []byte) []byte {
	p.grow(size - len(b))
	return p.Allocator.Reallocate(size, b)
}

func (p *peak) Free(b []byte) {
	p.grow(-len(b))
	p.Allocator.Free(b)
}

// A thousand files, more than stay open or have their footers kept, are read in the memory that is promised, which is
// that of a few.
func TestManyFilesInBoundedMemory(t *testing.T) {
	batch := tabletest.ExampleBatch(20_000)
	content := contentOf(t, Parquet, "", batch)
	dir := t.TempDir()
	for i := range 1200 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.parquet", i)), content, 0o600))
	}
	restore := limitOpenFiles(t, uint64(100+8*runtime.GOMAXPROCS(0)))
	defer restore()
	const aheadBytes = 1 << 20
	mem := &peak{Allocator: memory.NewGoAllocator()}
	r, err := Open(t.Context(), dir, ReadOptions{Allocator: mem, AheadBytes: aheadBytes})
	require.NoError(t, err)
	defer r.Close()
	require.EqualValues(t, 1200*20_000, r.Rows())
	columns := []string{"key", "name"}
	need, err := r.AheadBytes(columns)
	require.NoError(t, err)
	require.LessOrEqual(t, need, int64(2*aheadBytes)) // a file takes more than the bound
	b, ok := r.Bounds("key")
	require.True(t, ok)
	require.Equal(t, [2]int64{0, 19_999}, [2]int64{b.Min, b.Max})
	rows, largest := int64(0), int64(0)
	for batch, err := range r.Batches(t.Context(), columns) {
		require.NoError(t, err)
		rows += batch.NumRows()
		sizeBytes := int64(0)
		for _, column := range batch.Columns() {
			sizeBytes += int64(column.Data().SizeInBytes())
		}
		largest = max(largest, sizeBytes)
		batch.Release()
	}
	require.EqualValues(t, 1200*20_000, rows)
	require.Less(t, mem.most.Load(), need+2*largest+math.MaxInt16)
	r.SkipOutside("key", Bounds{Type: arrow.PrimitiveTypes.Int64, Min: -5, Max: -1})
	require.Empty(t, keysOf(t, r))
}

// Whoever leaves, or cancels, while further files are begun leaves nothing behind.
func TestSeveralFilesAreLeft(t *testing.T) {
	content, dir := contentOf(t, Parquet, "", tabletest.ExampleBatch(30_000)), t.TempDir()
	for i := range 40 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".parquet")), content, 0o600))
	}
	for _, aheadBytes := range []int64{0, 1 << 20} {
		for _, batches := range []int{1, 7} {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			r, err := Open(t.Context(), dir, ReadOptions{Allocator: mem, AheadBytes: aheadBytes})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			drawn := 0
			for batch, err := range r.Batches(ctx, nil) {
				if drawn++; drawn > batches {
					if err == nil { // it was ready
						batch.Release()
						continue
					}
					require.ErrorIs(t, err, context.Canceled)
					require.NotErrorIs(t, err, ErrInput)
					continue
				}
				require.NoError(t, err)
				if batch.Release(); drawn == batches {
					cancel()
				}
			}
			cancel()
			require.Less(t, drawn, 40, "it ended early")
			for batch, err := range r.Batches(t.Context(), nil) {
				require.NoError(t, err)
				batch.Release()
				break
			}
			require.NoError(t, r.Close())
			require.Zero(t, mem.CurrentAlloc())
		}
	}
	_, err := Open(canceled(t), dir, ReadOptions{})
	require.ErrorIs(t, err, context.Canceled)
	r, err := Open(t.Context(), dir, ReadOptions{Progress: func(int64) { panic(errCap) }})
	require.NoError(t, err)
	defer r.Close()
	_, err = r.Read(t.Context(), nil)
	require.ErrorIs(t, err, errCap)
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
