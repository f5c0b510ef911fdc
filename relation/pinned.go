package relation

import (
	"context"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
)

// PinnedAllocator is an Arrow allocator whose large blocks are host memory that a device has imported, so that uploads and
// downloads of columns in it need no copy through staging buffers. Small blocks, which gain nothing, and blocks beyond the
// cap or the device's limit come from Go's memory; Pinned says how much is imported. Freed blocks are kept and reused, because pinning pages is
// slow. Safe for concurrent use. Close it after the last array in it is gone.
type PinnedAllocator struct {
	device   *backend.Device
	capBytes uint64
	small    memory.Allocator

	mu       sync.Mutex
	regions  map[*byte]*pinnedRegion // in use, by first byte
	free     []*pinnedRegion
	sizeSum  uint64 // of all regions
	declined uint64 // bytes asked for that were not imported
}

type pinnedRegion struct {
	pages  []byte
	buffer *backend.Buffer
}

// minPinnedBytes is the size from which a block is worth pages of its own.
const minPinnedBytes = 256 << 10

// NewPinnedAllocator returns an allocator that imports at most capBytes at a time into the device.
func NewPinnedAllocator(device *backend.Device, capBytes uint64) *PinnedAllocator {
	return &PinnedAllocator{device: device, capBytes: capBytes, small: memory.NewGoAllocator(), regions: make(map[*byte]*pinnedRegion)}
}

// Pinned returns the bytes that are imported now, and those that were asked for since the start and had to come from
// Go's memory because of the cap or because the device refused.
func (a *PinnedAllocator) Pinned() (sizeBytes, declinedBytes uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sizeSum, a.declined
}

// Allocate returns memory of the given size with undefined content.
func (a *PinnedAllocator) Allocate(size int) []byte {
	if size >= minPinnedBytes {
		if b := a.pinned(size); b != nil {
			return b
		}
	}
	return a.small.Allocate(size)
}

func (a *PinnedAllocator) pinned(size int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	best := -1
	for i, r := range a.free {
		if len(r.pages) >= size && len(r.pages) <= 2*size && (best < 0 || len(r.pages) < len(a.free[best].pages)) {
			best = i
		}
	}
	var r *pinnedRegion
	if best >= 0 {
		r = a.free[best]
		a.free = append(a.free[:best], a.free[best+1:]...)
		// A copy that was given up, as when a download is cancelled, may still be under way.
		if err := a.device.WaitBuffer(context.Background(), r.buffer); err != nil {
			a.drop(r)
			r = nil
		}
	}
	if r == nil {
		r = a.importPages(size)
	}
	if r == nil {
		a.declined += uint64(size)
		return nil
	}
	a.regions[unsafe.SliceData(r.pages)] = r
	return r.pages[:size:size]
}

// importPages makes a new region, giving kept ones up where the cap asks for it; nil when there is none to be had.
func (a *PinnedAllocator) importPages(size int) *pinnedRegion {
	alignment := int(a.device.Info().Limits.ImportAlignment)
	if alignment == 0 {
		return nil
	}
	alignment = max(alignment, 4096)
	size = (size + alignment - 1) / alignment * alignment
	if uint64(size) > a.device.Info().Limits.BlockBytes(backend.Imported) {
		return nil
	}
	for len(a.free) > 0 && a.sizeSum+uint64(size) > a.capBytes {
		a.drop(a.free[0])
		a.free = a.free[1:]
	}
	if a.sizeSum+uint64(size) > a.capBytes {
		return nil
	}
	// Go does not move large blocks, and the driver's block keeps this one alive.
	padded := make([]byte, size+alignment)
	skip := (alignment - int(uintptr(unsafe.Pointer(unsafe.SliceData(padded)))%uintptr(alignment))) % alignment
	pages := padded[skip : skip+size : skip+size]
	buffer, err := a.device.Import(context.Background(), pages, "pinned arrow memory")
	if err != nil {
		return nil
	}
	a.sizeSum += uint64(size)
	return &pinnedRegion{pages, buffer}
}

func (a *PinnedAllocator) drop(r *pinnedRegion) {
	a.sizeSum -= uint64(len(r.pages))
	r.buffer.Release()
}

// Reallocate grows or shrinks a block, keeping its content.
func (a *PinnedAllocator) Reallocate(size int, b []byte) []byte {
	if cap(b) >= size && size >= cap(b)/2 {
		return b[:size]
	}
	grown := a.Allocate(size)
	copy(grown, b)
	a.Free(b)
	return grown
}

// Free gives a block back.
func (a *PinnedAllocator) Free(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := unsafe.SliceData(b)
	if r, ok := a.regions[first]; ok {
		delete(a.regions, first)
		a.free = append(a.free, r)
		return
	}
	a.small.Free(b)
}

// Close unpins all memory; blocks that are still in use must not be touched afterwards.
func (a *PinnedAllocator) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.regions {
		a.drop(r)
	}
	for _, r := range a.free {
		a.drop(r)
	}
	clear(a.regions)
	a.free = nil
}
