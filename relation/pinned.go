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
// and downloads of columns in it need no copy through staging buffers. They are outside Go's heap, in large pages.
// Small blocks, which gain nothing, and blocks beyond the cap or the limit of the device come from [offheap.Shared];
// Pinned returns how much is imported. Freed blocks are kept and reused, because pinning pages is slow. Safe for
// concurrent use. Allocate may wait, up to the time limit of the device, for an abandoned copy that still uses a block.
// Close the allocator before the device; blocks in use then stay readable until they are freed.
type PinnedAllocator struct {
	device   *backend.Device
	capBytes uint64
	small    memory.Allocator

	mu       sync.Mutex
	regions  map[*byte]*pinnedRegion // regions in use, by first byte
	free     []*pinnedRegion
	sizeSum  uint64 // bytes of all regions
	declined uint64 // bytes requested that were not imported
	closed   bool
}

// pinnedRegion is memory of the operating system, which is unmapped when neither the device nor the allocator needs it.
type pinnedRegion struct {
	pages  []byte
	buffer *backend.Buffer
	unmap  func()
	needed atomic.Int32 // references of the device and of the allocator
}

func (r *pinnedRegion) done() {
	if r.needed.Add(-1) == 0 {
		r.unmap()
	}
}

// minPinnedBytes is the minimum size of a block with its own pages.
const minPinnedBytes = 256 << 10

// NewPinnedAllocator returns an allocator that imports at most capBytes at a time into the device. The owner closes it.
func NewPinnedAllocator(device *backend.Device, capBytes uint64) *PinnedAllocator {
	return &PinnedAllocator{device: device, capBytes: capBytes, small: &offheap.Shared,
		regions: make(map[*byte]*pinnedRegion)}
}

// Pinned returns the bytes that are imported now, and those that were requested since the start but came from other
// memory, because of the cap or because the device refused.
func (a *PinnedAllocator) Pinned() (sizeBytes, declinedBytes uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sizeSum, a.declined
}

// CapBytes returns the maximum number of imported bytes.
func (a *PinnedAllocator) CapBytes() uint64 { return a.capBytes }

// Trim releases blocks that are kept for reuse, the oldest first, until at most mostBytes are kept, and returns how
// many bytes are still kept.
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

// Allocate returns memory of the given size in bytes, with undefined content.
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
		// An abandoned copy, of a cancelled download for example, may still be running. Arrow's allocators have no
		// context, so the time limit of the device ends this wait.
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

// importPages returns a new region. It releases kept ones if the cap requires that. It returns nil if no region can be
// had.
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
	offheap.Populate(pages)
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

// drop releases a region that no block uses.
func (a *PinnedAllocator) drop(r *pinnedRegion) {
	a.unpin(r)
	r.done()
}

// Reallocate changes the size of a block and keeps its content. The old block must not be used any more.
func (a *PinnedAllocator) Reallocate(size int, b []byte) []byte {
	if cap(b) >= size && size >= cap(b)/2 {
		return b[:size]
	}
	grown := a.Allocate(size)
	copy(grown, b)
	a.Free(b)
	return grown
}

// Free returns a block to the allocator.
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

// Close ends the import of all memory. Blocks that are still in use become ordinary memory; new ones are not imported.
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
