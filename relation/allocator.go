package relation

import (
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/offheap"
)

// AllocatorFor returns the best allocator of tables and record batches for joins on a device: a new [PinnedAllocator],
// which the caller closes, if the device has memory apart from the host's and can import the host's; otherwise
// offheap.Shared. memoryLimitBytes is the limit of host memory of the joins; 0: none.
func AllocatorFor(device *backend.Device, memoryLimitBytes uint64) memory.Allocator {
	if info := device.Info(); info.Limits.ImportAlignment == 0 || info.Unified {
		return &offheap.Shared
	}
	capBytes := device.Options().HostMemoryBytes
	if memoryLimitBytes > 0 { // of which pinned memory is a part, blocks kept for reuse too
		capBytes = min(capBytes, memoryLimitBytes)
	}
	return NewPinnedAllocator(device, capBytes)
}
