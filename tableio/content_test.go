package tableio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// The content of a pipe is read back from any place, whatever its size is to that of a block.
func TestContent(t *testing.T) {
	for _, size := range []int{0, 1, contentBlockBytes - 1, contentBlockBytes, contentBlockBytes + 1, 3*contentBlockBytes - 7} {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i * 131 >> 3)
		}
		c, err := readContent(bytes.NewReader(want), mem)
		require.NoError(t, err)
		require.EqualValues(t, size, c.sizeBytes)
		require.LessOrEqual(t, c.memoryBytes(), int64(size+contentBlockBytes))
		require.NoError(t, iotest.TestReader(io.NewSectionReader(c, 0, c.sizeBytes), want))
		_, err = c.ReadAt(make([]byte, 1), int64(size))
		require.ErrorIs(t, err, io.EOF)
		_, err = c.ReadAt(make([]byte, 1), -1)
		require.Error(t, err)
		c.free()
		c.free()
		mem.AssertSize(t, 0)
	}
}

// A stream that breaks off is an error, also where it says so as io.ReadFull says that it ended.
func TestContentThatBreaksOff(t *testing.T) {
	for _, broken := range []error{errors.New("broken"), io.ErrUnexpectedEOF} {
		stream := io.MultiReader(bytes.NewReader([]byte("k\n1\n")), iotest.ErrReader(broken))
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		_, err := Open(context.Background(), "-", ReadOptions{Format: CSV, Stdin: stream, Allocator: mem})
		require.ErrorIs(t, err, broken)
		mem.AssertSize(t, 0)
	}
}

// What a pipe holds is of the allocator, and is free when the reader is closed, or was never opened.
func TestPipeBytes(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	r, err := Open(t.Context(), "-", ReadOptions{Format: CSV, Stdin: bytes.NewReader([]byte("k\n1\n2\n")), Allocator: mem})
	require.NoError(t, err)
	require.EqualValues(t, contentBlockBytes, r.PipeBytes())
	require.Equal(t, contentBlockBytes, mem.CurrentAlloc())
	table, err := r.Read(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Zero(t, r.PipeBytes())
	require.EqualValues(t, 2, table.NumRows())
	table.Release()
	mem.AssertSize(t, 0)

	_, err = Open(t.Context(), "-", ReadOptions{Format: Parquet, Stdin: bytes.NewReader([]byte("no Parquet")), Allocator: mem})
	require.ErrorIs(t, err, ErrInput)
	mem.AssertSize(t, 0)
}
