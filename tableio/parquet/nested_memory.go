package parquet

import (
	"errors"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// nestedMemory is the allocator of arrow-go's reader of nested columns (pqarrow, 18.8). It mends two faults of it:
//
//   - It never writes the first offset of lists. The memory is zero, as that of Go's heap is.
//   - It takes texts beyond the 2 GiB that its offsets can address, and wraps them around. No buffer of a column with
//     texts is larger than that.
type nestedMemory struct {
	memory.Allocator
	texts   bool
	refused atomic.Bool // a buffer was
}

const mostNestedBytes = 1 << 31

var errNestedBytes = errors.New("a nested column has more than 2 GiB of values")

// Allocate implements [memory.Allocator].
func (m *nestedMemory) Allocate(size int) []byte {
	m.check(size)
	b := m.Allocator.Allocate(size)
	clear(b)
	return b
}

// Reallocate implements [memory.Allocator].
func (m *nestedMemory) Reallocate(size int, b []byte) []byte {
	m.check(size)
	old := len(b)
	b = m.Allocator.Reallocate(size, b)
	clear(b[min(old, len(b)):])
	return b
}

// check panics, as an allocator must.
func (m *nestedMemory) check(size int) {
	if m.texts && size > mostNestedBytes {
		m.refused.Store(true)
		panic(errNestedBytes)
	}
}
