package relation

import (
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// PinnedArena allocates memory that a device has imported, in blocks of any size, for the columns of specimens. All are
// freed together by Close; Free does nothing. Safe for concurrent use.
type PinnedArena struct {
	pinned *PinnedAllocator

	mu     sync.Mutex
	blocks [][]byte
}

// NewPinnedArena returns an arena for a device that imports memory; nil for another one. The owner closes it.
func NewPinnedArena(device *backend.Device) *PinnedArena {
	pinned, ok := AllocatorFor(device, 0).(*PinnedAllocator)
	if !ok {
		return nil
	}
	return &PinnedArena{pinned: pinned}
}

// Allocate returns memory of the given size in bytes, with undefined content.
func (a *PinnedArena) Allocate(size int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	block := a.pinned.Allocate(max(size, minPinnedBytes))
	a.blocks = append(a.blocks, block)
	return block[:size]
}

// Reallocate returns memory of another size with the content of b, as far as it has room.
func (a *PinnedArena) Reallocate(size int, b []byte) []byte {
	block := a.Allocate(size)
	copy(block, b)
	return block
}

// Free does nothing.
func (a *PinnedArena) Free([]byte) {}

// Close frees all blocks. It does nothing for nil.
func (a *PinnedArena) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, block := range a.blocks {
		a.pinned.Free(block)
	}
	a.blocks = nil
	a.pinned.Close()
}
