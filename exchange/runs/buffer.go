package runs

import (
	"unsafe"
)

// Allocator has memory for rows, aligned to 8 bytes at least; [offheap.Pool] is one, and so is pinned memory.
type Allocator interface {
	Allocate(sizeBytes int) []byte
	Free([]byte)
}

// Buffer is memory for rows. Its owner calls Free when no run refers to it any more.
type Buffer[K, V Word] struct {
	Block[K, V]
	alloc      Allocator
	keys, rows []byte
}

// NewBuffer allocates memory for rows, with undefined content.
func NewBuffer[K, V Word](alloc Allocator, rows uint64) *Buffer[K, V] {
	b := &Buffer[K, V]{alloc: alloc}
	if rows > 0 {
		b.keys, b.Keys = words[K](alloc, rows)
		b.rows, b.Rows = words[V](alloc, rows)
	}
	return b
}

func words[T Word](alloc Allocator, rows uint64) ([]byte, []T) {
	memory := alloc.Allocate(int(rows) * int(unsafe.Sizeof(*new(T))))
	return memory, unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), int(rows))
}

// Free returns the memory. A second Free does nothing.
func (b *Buffer[K, V]) Free() {
	if b.keys != nil {
		b.alloc.Free(b.keys)
		b.alloc.Free(b.rows)
	}
	*b = Buffer[K, V]{}
}
