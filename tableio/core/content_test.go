package core

import (
	"bytes"
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
