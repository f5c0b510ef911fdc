package relation

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/offheap"
)

// PinnedAllocator is an Arrow allocator whose large blocks are host memory that a device has imported, so that uploads
// and downloads of columns in it need no copy through staging buffers. They lie outside Go's heap, in large pages.
// Small blocks, which gain nothing, and blocks beyond the cap or the device's limit come from Go's memory; Pinned says
// how much is imported. Freed blocks are kept and reused, because pinning pages is slow. Safe for concurrent use. A
// call may wait as long as the device's limit of waits for a copy that was given up. Close it before the device;
// blocks that are in use then stay readable until they are freed.
type PinnedAllocator struct {
	device   *backend.Device
	capBytes uint64
	small    memory.Allocator

	mu       sync.Mutex
	regions  map[*byte]*pinnedRegion // in use, by first byte
	free     []*pinnedRegion
	sizeSum  uint64 // of all regions
	declined uint64 // bytes asked for that were not imported
	closed   bool
}

// pinnedRegion is memory of the system that is given back when neither the device nor a block needs it.
type pinnedRegion struct {
	pages  []byte
	buffer *backend.Buffer
	unmap  func()
	needed atomic.Int32 // by the device, and by the allocator
}

func (r *pinnedRegion) done() {
	if r.needed.Add(-1) == 0 {
		r.unmap()
	}
}

// minPinnedBytes is the size from which a block is worth pages of its own.
const minPinnedBytes = 256 << 10

// NewPinnedAllocator returns an allocator that imports at most capBytes at a time into the device.
func NewPinnedAllocator(device *backend.Device, capBytes uint64) *PinnedAllocator {
	return &PinnedAllocator{device: device, capBytes: capBytes, small: memory.NewGoAllocator(),
		regions: make(map[*byte]*pinnedRegion)}
}

// Pinned returns the bytes that are imported now, and those that were asked for since the start and had to come from
// Go's memory because of the cap or because the device refused.
func (a *PinnedAllocator) Pinned() (sizeBytes, declinedBytes uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sizeSum, a.declined
}

// CapBytes is how much is imported at most.
func (a *PinnedAllocator) CapBytes() uint64 { return a.capBytes }

// Trim gives up blocks that are kept for reuse, the oldest first, until at most mostBytes are, and returns how much is.
func (a *PinnedAllocator) Trim(mostBytes uint64) (keptBytes uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.free {
		keptBytes += uint64(len(r.pages))
	}
	for ; keptBytes > mostBytes; a.free = a.free[1:] {
		keptBytes -= uint64(len(a.free[0].pages))
		a.drop(a.free[0])
	}
	return keptBytes
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
	if a.closed {
		return nil
	}
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
		// A copy that was given up, as when a download is cancelled, may still be under way. Arrow's allocators know no
		// context: the limit of the device ends this wait.
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
	alignment = max(alignment, os.Getpagesize())
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
	pages, unmap, err := offheap.Map(size)
	if err != nil {
		return nil
	}
	buffer, err := a.device.Import(context.Background(), pages, "pinned arrow memory")
	if err != nil {
		unmap()
		return nil
	}
	a.sizeSum += uint64(size)
	r := &pinnedRegion{pages: pages, buffer: buffer, unmap: unmap}
	r.needed.Store(2)
	buffer.WhenFreed(r.done)
	return r
}

// unpin ends the import of a region.
func (a *PinnedAllocator) unpin(r *pinnedRegion) {
	a.sizeSum -= uint64(len(r.pages))
	r.buffer.Release()
}

// drop gives up a region that holds no block.
func (a *PinnedAllocator) drop(r *pinnedRegion) {
	a.unpin(r)
	r.done()
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
		if a.closed {
			r.done()
		} else {
			a.free = append(a.free, r)
		}
		return
	}
	a.small.Free(b)
}

// Close unpins all memory. Blocks that are still in use become ordinary memory; new ones come from Go's.
func (a *PinnedAllocator) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.closed = true
	for _, r := range a.regions {
		a.unpin(r)
	}
	for _, r := range a.free {
		a.drop(r)
	}
	a.free = nil
}
