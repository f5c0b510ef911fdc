package vulkan

import (
	"fmt"
	"runtime"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/hugepages"
	"github.com/spirjoin/spirjoin/vulkan/cuda"
)

/*
#include "shim.h"
*/
import "C"

// block is a buffer over memory of its own: one allocation, or, when it is sparse, several.
type block struct {
	d         *driver
	memory    backend.Memory
	sizeBytes uint64 // as the user sees it
	buffer    vk.Buffer
	address   uint64 // of the block's first byte, for kernels
	store     vk.DeviceMemory
	storeSize uint64 // of the VkDeviceMemory, or of all parts
	storeType uint32
	sparse    bool
	parts     []part       // of a sparse block, instead of store
	unbound   bool         // perhaps its binding is still under way
	exports   uint32       // type of handle that the memory can be exported as; 0: none
	cuda      *cuda.Memory // that the block was opened from; nil: Vulkan's own
	mapped    []byte
	pin       runtime.Pinner // of imported memory
	live      bool           // guarded by d.mu
}

func (b *block) SizeBytes() uint64      { return b.sizeBytes }
func (b *block) Memory() backend.Memory { return b.memory }
func (b *block) Bytes() []byte          { return b.mapped }

// Free releases the block; ErrInvalidInput when it was freed before, also by closing its device.
func (b *block) Free() error {
	d := b.d
	d.life.RLock()
	defer d.life.RUnlock()
	d.mu.Lock()
	live := b.live && !d.closed // closed and still live: the device never came to rest
	if live {
		b.live = false
		delete(d.blocks, b)
	}
	d.mu.Unlock()
	if !live {
		return d.misuse("free", "a %v block of %d bytes was freed before, or its device was closed", b.memory,
			b.sizeBytes)
	}
	return b.destroy()
}

// destroy releases what the block holds, as far as it was made. Freeing mapped memory unmaps it.
func (b *block) destroy() error {
	vk.DestroyBuffer(b.d.device, b.buffer, nil)
	vk.FreeMemory(b.d.device, b.store, nil)
	b.freeParts()
	b.buffer, b.store, b.mapped = vk.NullBuffer, vk.NullDeviceMemory, nil
	b.pin.Unpin()
	if b.cuda == nil {
		return nil
	}
	memory := b.cuda
	b.cuda = nil
	return memory.Free()
}

// abandon releases a block that could not be made, at once or, while it may still be in use, with its device.
func (b *block) abandon() {
	if !b.unbound {
		_ = b.destroy() // the error that led here is reported
		return
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.d.blocks[b] = struct{}{}
}

// AllocateBlock implements [backend.Driver]. ErrLimit beyond Limits.BlockBytes.
func (d *driver) AllocateBlock(sizeBytes uint64, memory backend.Memory) (backend.Block, error) {
	if err := d.enter("allocate"); err != nil {
		return nil, err
	}
	defer d.leave()
	if memory > backend.HostVisible {
		return nil, d.misuse("allocate", "%d is neither device-local nor host-visible memory", memory)
	}
	if memory == backend.DeviceLocal {
		if b, ok := d.allocateJoined(sizeBytes); ok {
			return b, nil
		}
	}
	b := &block{d: d, memory: memory, sizeBytes: sizeBytes,
		sparse: memory == backend.DeviceLocal && d.binds != nil && sizeBytes > d.partBytes}
	return d.allocate(b, 0, d.info.Limits.BlockBytes(memory), func(b *block) result {
		if b.sparse {
			return b.allocateParts()
		}
		return result(C.sj_allocate(d.shim, C.uint64_t(b.storeSize), C.uint32_t(b.storeType), 0,
			(*C.uint64_t)(unsafe.Pointer(&b.store))))
	})
}

// allocate makes a block of at most limitBytes whose memory comes from get, which reads storeSize and storeType and
// sets store, or reads parts and fills them.
func (d *driver) allocate(b *block, handleType uint32, limitBytes uint64,
	get func(b *block) result) (backend.Block, error) {
	switch {
	case b.sizeBytes == 0:
		return nil, d.misuse("allocate", "0 bytes")
	case b.sizeBytes > limitBytes:
		return nil, &backend.OpError{Op: "allocate", Device: d.info.Name, Err: backend.ErrLimit,
			Detail: fmt.Sprintf("%d bytes in one block of %v memory, the device allows %d, and %d in one allocation",
				b.sizeBytes, b.memory, limitBytes, d.info.Limits.MaxAllocationBytes)}
	}
	err := b.create(handleType, ^uint32(0), get)
	if err == nil && !b.sparse && b.storeFlags()&memoryVisible != 0 &&
		(b.memory == backend.HostVisible || d.info.Unified) {
		if err = b.mapAll(); err == nil && d.info.Type == backend.Software && handleType == 0 {
			hugepages.Advise(b.mapped)
		}
	}
	if err != nil {
		b.abandon()
		return nil, err
	}
	d.keep(b)
	return b, nil
}

func (d *driver) keep(b *block) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b.live = true
	d.blocks[b] = struct{}{}
}

func (b *block) storeFlags() uint32 { return b.d.p.types[b.storeType].flags }

// create makes the buffer, gets its memory and joins the two. On failure the caller destroys what is there.
func (b *block) create(handleType, allowed uint32, get func(b *block) result) error {
	d := b.d
	flags := C.uint32_t(0)
	if b.sparse {
		flags = C.SJ_SPARSE_BUFFER
	}
	r := result(C.sj_create_buffer(d.shim, C.uint64_t(b.sizeBytes), flags, C.uint32_t(handleType), &d.families[0],
		C.uint32_t(len(d.families)), (*C.uint64_t)(unsafe.Pointer(&b.buffer))))
	if err := b.failed(r, "creating a buffer"); err != nil {
		return err
	}
	var needs vk.MemoryRequirements
	vk.GetBufferMemoryRequirements(d.device, b.buffer, &needs)
	needs.Deref()
	needs.Free()
	b.storeSize = uint64(needs.Size)
	var ok bool
	b.storeType, ok = chooseType(d.p.types, needs.MemoryTypeBits&allowed, b.memory, d.info.Unified)
	if !ok && handleType == dmaBuf { // memory of another device may be no device-local memory of this one
		b.storeType, ok = chooseType(d.p.types, needs.MemoryTypeBits&allowed, backend.Imported, d.info.Unified)
	}
	if !ok {
		return &backend.OpError{Op: "allocate", Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: fmt.Sprintf("no memory type for %v memory", b.memory)}
	}
	if b.sparse {
		b.parts = planParts(b.storeSize, uint64(needs.Alignment), max(d.partBytes, uint64(needs.Alignment)))
	}
	if err := b.failed(get(b), "allocating"); err != nil {
		return err
	}
	if err := b.bind(); err != nil {
		return err
	}
	b.address = uint64(C.sj_buffer_address(d.shim, raw(b.buffer)))
	if b.address%d.info.Limits.ArgumentAlignment != 0 {
		return &backend.OpError{Op: "allocate", Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: fmt.Sprintf("the driver places %v memory at %#x, not a multiple of %d", b.memory, b.address,
				d.info.Limits.ArgumentAlignment)}
	}
	return nil
}

// bind joins the buffer and its memory.
func (b *block) bind() error {
	if b.sparse {
		return b.bindParts()
	}
	r := result(C.sj_bind(b.d.shim, raw(b.buffer), raw(b.store)))
	return b.failed(r, "binding")
}

func (b *block) mapAll() error {
	var pointer unsafe.Pointer
	r := result(vk.MapMemory(b.d.device, b.store, 0, vk.DeviceSize(vk.WholeSize), 0, &pointer))
	if err := b.failed(r, "mapping"); err != nil {
		return err
	}
	b.mapped = unsafe.Slice((*byte)(pointer), b.sizeBytes)
	return nil
}

// failed wraps a result; a device out of memory means host memory where the block's heap is the host's.
func (b *block) failed(r result, doing string) error {
	if r == outOfMemory && b.memory != backend.DeviceLocal && !b.d.p.types[b.storeType].heapLocal {
		r = outOfHostMemory
	}
	return b.d.check(r, "allocate", "%s %d bytes of %v memory%s", doing, b.sizeBytes, b.memory, b.inParts())
}

func (b *block) inParts() string {
	if !b.sparse {
		return ""
	}
	return fmt.Sprintf(", made of allocations of at most %d", b.d.partBytes)
}

// ImportHost implements [backend.Driver]. ErrUnsupported where the driver cannot import, ErrInvalidInput where address
// or size are not aligned.
func (d *driver) ImportHost(memory []byte) (backend.Block, error) {
	if err := d.enter("import"); err != nil {
		return nil, err
	}
	defer d.leave()
	alignment := d.info.Limits.ImportAlignment
	if alignment == 0 {
		return nil, &backend.OpError{Op: "import", Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: "the driver lacks " + extHostMemory}
	}
	pointer := unsafe.Pointer(unsafe.SliceData(memory))
	size := uint64(len(memory))
	if size == 0 || size%alignment != 0 || uint64(uintptr(pointer))%alignment != 0 {
		return nil, d.misuse("import", "%d bytes at %p: address and size must be multiples of %d", size, pointer,
			alignment)
	}
	if limit := d.info.Limits.BlockBytes(backend.Imported); size > limit {
		return nil, &backend.OpError{Op: "import", Device: d.info.Name, Err: backend.ErrLimit,
			Detail: fmt.Sprintf("%d bytes, the device allows %d", size, limit)}
	}
	var types C.uint32_t
	if err := d.check(result(C.sj_host_memory_types(d.shim, pointer, &types)), "import", "%d bytes at %p", size,
		pointer); err != nil {
		return nil, err
	}
	b := &block{d: d, memory: backend.Imported, sizeBytes: size}
	b.pin.Pin(unsafe.SliceData(memory)) // nothing to pin unless it is on the Go heap
	err := b.create(C.SJ_HOST_ALLOCATION, uint32(types), func(b *block) result {
		return result(C.sj_import_host(d.shim, C.uint64_t(size), C.uint32_t(b.storeType), pointer,
			(*C.uint64_t)(unsafe.Pointer(&b.store))))
	})
	if err != nil {
		b.abandon()
		return nil, err
	}
	b.mapped = memory
	d.keep(b)
	return b, nil
}
