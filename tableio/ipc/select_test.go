package ipc

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
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
	batch := tabletest.ExampleBatch(rows)
	content := bytes.NewReader(fileOf(t, batch.Schema(), []arrow.RecordBatch{batch, batch}, ""))
	in := &core.Input{At: content, SizeBytes: content.Size()}
	source, err := OpenFile(in, 0)
	require.NoError(t, err)
	for _, c := range []struct {
		columns []int
		most    int64
	}{{[]int{0}, 8 * rows}, {[]int{3, 0}, 12 * rows}, {[]int{}, 0}} {
		counter := &countingReader{ReaderAt: content}
		in.At = counter
		seen := int64(0)
		for batch, err := range source.Batches(t.Context(), c.columns, memory.NewGoAllocator()) {
			require.NoError(t, err)
			seen += batch.NumRows()
			batch.Release()
		}
		require.EqualValues(t, 2*rows, seen)
		require.LessOrEqual(t, counter.bytes.Load(), 2*c.most+8_000, "%v", c.columns)
	}
}

// What is cut out of the messages equals what is taken from whole ones.
func TestSelectionProperty(t *testing.T) {
	types := append([]arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.LargeString}, tabletest.CommonTypes...)
	rapid.Check(t, func(rt *rapid.T) {
		schema, batches := tabletest.DrawBatches(rt, types)
		compression := rapid.SampledFrom([]string{"none", "zstd", "lz4"}).Draw(rt, "compression")
		file := bytes.NewReader(fileOf(rt, schema, nonEmpty(batches), compression))
		fields := schema.NumFields()
		columns := rapid.SliceOfNDistinct(rapid.IntRange(0, fields-1), 0, fields-1, rapid.ID).Draw(rt, "columns")
		selection, ok := selectColumns(schema, columns, endian.NativeEndian)
		require.True(rt, ok)
		_, blocks, err := verifyFile(file, file.Size())
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

// fileOf is the content of a file of the batches.
func fileOf(t tabletest.T, schema *arrow.Schema, batches []arrow.RecordBatch, compression string) []byte {
	var content bytes.Buffer
	e, err := NewFileEncoder(&content, schema, compression)
	require.NoError(t, err)
	for _, batch := range batches {
		require.NoError(t, e.Write(context.Background(), batch))
	}
	require.NoError(t, e.Close(context.Background()))
	return content.Bytes()
}

func nonEmpty(batches []arrow.RecordBatch) (kept []arrow.RecordBatch) {
	for _, batch := range batches {
		if batch.NumRows() > 0 {
			kept = append(kept, batch)
		}
	}
	return kept
}
