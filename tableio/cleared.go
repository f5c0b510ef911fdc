package tableio

import "github.com/apache/arrow-go/v18/arrow/memory"

// cleared is an allocator whose memory is zero, as that of Go's heap is: arrow-go's reader of lists never writes the
// first offset (pqarrow, 18.8).
type cleared struct{ memory.Allocator }

// Allocate implements [memory.Allocator].
func (c cleared) Allocate(size int) []byte {
	b := c.Allocator.Allocate(size)
	clear(b)
	return b
}

// Reallocate implements [memory.Allocator].
func (c cleared) Reallocate(size int, b []byte) []byte {
	old := len(b)
	b = c.Allocator.Reallocate(size, b)
	clear(b[min(old, len(b)):])
	return b
}
