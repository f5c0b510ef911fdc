package scaling

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/offheap"
)

// tableMemory is an Arrow allocator whose large blocks any number of devices may import, so that each of them reads the
// tables without a copy by the host: the pre-allocated pinned memory of HMG 4.1.2. A block stays until it is freed and
// no device uses it. Safe for concurrent use.
type tableMemory struct {
	small memory.GoAllocator

	mu     sync.Mutex
	blocks map[*byte]*tableBlock
}

type tableBlock struct {
	pages []byte
	unmap func()
	users atomic.Int32 // the allocator, and devices
}

func (b *tableBlock) leave() {
	if b.users.Add(-1) == 0 {
		b.unmap()
	}
}

const (
	leastBlockBytes = 256 << 10
	blockAlignment  = 64 << 10 // a multiple of what devices import
)

// Allocate returns memory, which is zeroed.
func (m *tableMemory) Allocate(size int) []byte {
	if size < leastBlockBytes {
		return m.small.Allocate(size)
	}
	pages, unmap, err := offheap.Map((size + blockAlignment - 1) / blockAlignment * blockAlignment)
	if err != nil {
		return m.small.Allocate(size)
	}
	b := &tableBlock{pages: pages, unmap: unmap}
	b.users.Store(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blocks == nil {
		m.blocks = make(map[*byte]*tableBlock)
	}
	m.blocks[unsafe.SliceData(pages)] = b
	return pages[:size:size]
}

// Reallocate changes the size of a block and keeps its content.
func (m *tableMemory) Reallocate(size int, old []byte) []byte {
	grown := m.Allocate(size)
	copy(grown, old)
	m.Free(old)
	return grown
}

// Free gives a block back.
func (m *tableMemory) Free(block []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := unsafe.SliceData(block)
	if b := m.blocks[first]; b != nil {
		delete(m.blocks, first)
		b.leave()
	}
}

// pin imports all blocks into a device that has memory of its own, as far as it can; lacking is what it cannot. The
// caller calls unpin before it closes the device.
func (m *tableMemory) pin(ctx context.Context, device *backend.Device) (lacking uint64, unpin func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var buffers []*backend.Buffer
	for _, b := range m.blocks {
		if device.Info().Unified {
			break // where columns are read in place
		}
		buffer, err := importPages(ctx, device, b.pages)
		if err != nil {
			lacking += uint64(len(b.pages))
			continue
		}
		b.users.Add(1)
		buffer.WhenFreed(b.leave)
		buffers = append(buffers, buffer)
	}
	return lacking, func() {
		for _, buffer := range buffers {
			buffer.Release()
		}
	}
}

func importPages(ctx context.Context, device *backend.Device, pages []byte) (*backend.Buffer, error) {
	if alignment := device.Info().Limits.ImportAlignment; alignment == 0 || blockAlignment%alignment != 0 {
		return nil, backend.ErrUnsupported
	}
	return device.Import(ctx, pages, "table of a benchmark")
}
