package tableio

import (
	"context"
	"io"
	"os"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// countingReader counts the bytes read.
type countingReader struct {
	io.ReaderAt
	bytes atomic.Int64
}

func (r *countingReader) ReadAt(p []byte, at int64) (int, error) {
	r.bytes.Add(int64(len(p)))
	return r.ReaderAt.ReadAt(p, at)
}

// One column of four needs no more of the file than that column and the metadata.
func TestOnlyTheBuffersOfChosenColumnsAreRead(t *testing.T) {
	const rows = 100_000
	path := tempPath(t, ArrowFile)
	batch := exampleBatch(rows)
	writeFile(t, path, batch.Schema(), []arrow.RecordBatch{batch, batch}, WriteOptions{})
	r, err := Open(context.Background(), path, ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	for _, c := range []struct {
		columns []string
		most    int64
	}{{[]string{"key"}, 8 * rows}, {[]string{"day", "key"}, 12 * rows}, {[]string{}, 0}} {
		source := r.src.(*arrowFileSource)
		counter := &countingReader{ReaderAt: r.in.file}
		source.in = &input{path: path, at: counter, size: r.in.size}
		table, err := r.Read(context.Background(), c.columns)
		require.NoError(t, err)
		require.EqualValues(t, 2*rows, table.NumRows())
		table.Release()
		require.LessOrEqual(t, counter.bytes.Load(), 2*c.most+8_000, "%v", c.columns)
	}
}

// What is cut out of the messages equals what is taken from whole ones.
func TestSelectionProperty(t *testing.T) {
	types := append([]arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.LargeString}, commonTypes...)
	path := tempPath(t, ArrowFile)
	rapid.Check(t, func(rt *rapid.T) {
		schema, batches := drawBatches(rt, types)
		compression := rapid.SampledFrom([]string{"none", "zstd", "lz4"}).Draw(rt, "compression")
		writeFile(rt, path, schema, batches, WriteOptions{Compression: compression})
		fields := schema.NumFields()
		columns := rapid.SliceOfNDistinct(rapid.IntRange(0, fields-1), 0, fields-1, rapid.ID).Draw(rt, "columns")
		selection, ok := selectArrowColumns(schema, columns, endian.NativeEndian)
		require.True(rt, ok)
		file, err := os.Open(path)
		require.NoError(rt, err)
		defer file.Close()
		info, err := file.Stat()
		require.NoError(rt, err)
		_, blocks, err := verifyFile(file, info.Size())
		require.NoError(rt, err)
		require.Len(rt, blocks, len(nonEmpty(batches)))
		for i, want := range nonEmpty(batches) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			got, err := selection.read(file, blocks[i], mem)
			require.NoError(rt, err)
			require.Equal(rt, want.NumRows(), got.NumRows())
			for k, column := range columns {
				require.True(rt, array.ApproxEqual(want.Column(column), got.Column(k),
					array.WithNaNsEqual(true), array.WithAbsTolerance(0)))
			}
			got.Release()
			require.Zero(rt, mem.CurrentAlloc())
		}
	})
}

func nonEmpty(batches []arrow.RecordBatch) (kept []arrow.RecordBatch) {
	for _, batch := range batches {
		if batch.NumRows() > 0 {
			kept = append(kept, batch)
		}
	}
	return kept
}
