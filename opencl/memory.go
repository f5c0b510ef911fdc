//go:build opencl && linux

package opencl

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"math"
	"os"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/offheap"
)

// block is a memory object. On a direct device it lies in memory of the host, which both use in place. Otherwise
// device-local blocks are not mapped, and a host-visible block is pinned memory, mapped as long as it lives, which only
// copies reach; see staged.go.
type block struct {
	d      *driver
	kind   backend.Memory
	size   uint64
	buffer *cl.MemObject
	memory []byte         // nil if it is not mapped
	mapped unsafe.Pointer // by OpenCL; nil if it is not
	unmap  func()         // of memory that is the block's own; may be nil
	uses   [backend.Graphics]uint64
	live   bool
}

func (b *block) SizeBytes() uint64      { return b.size }
func (b *block) Memory() backend.Memory { return b.kind }
func (b *block) Bytes() []byte          { return b.memory }

// staged tells whether kernels reach the block through a buffer of the device only.
func (b *block) staged() bool { return b.kind == backend.HostVisible && !b.d.p.direct }

// Free implements [backend.Block]. Memory that an unfinished batch uses is left in place and reported as ErrTimedOut: on
// a lost device the batch may never end. After Close of the driver, which frees all blocks, Free does nothing once.
func (b *block) Free() error {
	d := b.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, mine := d.blocks[b]; !mine {
		if b.live { // freed by Close
			b.live = false
			return nil
		}
		return d.misuse("free", "a %v block of %d bytes was freed before", b.kind, b.size)
	}
	b.live = false
	delete(d.blocks, b)
	d.bytes -= b.size
	for role, value := range b.uses {
		if !d.lines[role].isOver(value) {
			return d.fail("free", backend.ErrTimedOut, "a %v block of %d bytes is in use by %v batch %d", b.kind, b.size,
				backend.Role(role), value)
		}
	}
	return b.destroy()
}

// destroy releases the memory object and what is below it.
func (b *block) destroy() error {
	var err error
	if b.mapped != nil {
		code := C.sjcl_unmap(handle(b.d.lines[backend.Upload].queue), handle(b.buffer), b.mapped)
		err = failure(check(code), "free", b.d.info.Name, "unmapping %d bytes", b.size)
	}
	b.buffer.Release()
	b.buffer, b.memory, b.mapped = nil, nil, nil
	if b.unmap != nil {
		b.unmap()
	}
	return err
}

// AllocateBlock implements [backend.Driver]. Sizes are rounded up to whole pages.
func (d *driver) AllocateBlock(sizeBytes uint64, memory backend.Memory) (backend.Block, error) {
	if err := d.enter("allocate"); err != nil {
		return nil, err
	}
	defer d.leave()
	exhausted := backend.ErrDeviceMemory
	if memory == backend.HostVisible {
		exhausted = backend.ErrHostMemory
	}
	limit := d.info.Limits.BlockBytes(memory)
	page := uint64(os.Getpagesize())
	switch {
	case memory > backend.HostVisible:
		return nil, d.misuse("allocate", "memory of kind %d", memory)
	case sizeBytes == 0:
		return nil, d.misuse("allocate", "0 bytes")
	case sizeBytes > min(limit, math.MaxInt64-page):
		return nil, d.fail("allocate", exhausted, "%d bytes, one block may have %d", sizeBytes, limit)
	case d.backend.failsToAllocate(memory):
		return nil, d.fail("allocate", exhausted, "%d bytes %v, injected fault", sizeBytes, memory)
	}
	b := &block{d: d, kind: memory, size: (sizeBytes + page - 1) &^ (page - 1)}
	if left, enough := d.reserve(b); !enough {
		return nil, d.fail("allocate", exhausted, "%d bytes, %d of %d are left", b.size, left, d.info.Heaps[0].SizeBytes)
	}
	err := b.make()
	if err != nil {
		d.abandon(b)
		return nil, &backend.OpError{Op: "allocate", Device: d.info.Name, Err: exhausted, Detail: err.Error()}
	}
	return b, nil
}

// make allocates what the block consists of.
func (b *block) make() (err error) {
	d, queue := b.d, b.d.lines[backend.Upload].queue
	switch {
	case d.p.direct:
		if b.memory, b.unmap, err = offheap.Map(int(b.size)); err != nil {
			return err
		}
		return b.wrap()
	case b.kind == backend.DeviceLocal:
		if err := b.create(b.size, nil, cl.MemReadWrite); err != nil {
			return err
		}
		return b.touch(queue)
	}
	size := b.size + backend.PlanAlignment // mapped memory may begin anywhere
	if err := b.create(size, nil, cl.MemReadWrite|cl.MemAllocHostPtr); err != nil {
		return err
	}
	if err := check(C.sjcl_map(handle(queue), handle(b.buffer), C.size_t(size), &b.mapped)); err != nil {
		return failure(err, "allocate", d.info.Name, "mapping %d bytes", size)
	}
	skip := -uint64(uintptr(b.mapped)) % backend.PlanAlignment
	b.memory = unsafe.Slice((*byte)(b.mapped), size)[skip:][:b.size:b.size]
	return nil
}

// wrap makes the memory object on memory of the host.
func (b *block) wrap() error {
	return b.create(b.size, unsafe.Pointer(&b.memory[0]), cl.MemReadWrite|cl.MemUseHostPtr)
}

func (b *block) create(sizeBytes uint64, host unsafe.Pointer, flags cl.MemFlag) (err error) {
	b.buffer, err = b.d.context.CreateBufferUnsafe(flags, int(sizeBytes), host)
	return failure(err, "allocate", b.d.info.Name, "%d bytes", sizeBytes)
}

// touch writes to the memory object and waits, which makes a driver that allocates late do it now.
func (b *block) touch(queue *cl.CommandQueue) error {
	zero := new(uint32)
	event, err := queue.EnqueueWriteBuffer(b.buffer, true, 0, 4, unsafe.Pointer(zero), nil)
	event.Release()
	return failure(err, "allocate", b.d.info.Name, "%d bytes", b.size)
}

// reserve counts a block against the memory of the device, and registers it.
func (d *driver) reserve(b *block) (leftBytes uint64, enough bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := d.info.Heaps[0].SizeBytes - min(d.bytes, d.info.Heaps[0].SizeBytes) // imports count, too
	if b.size > left && b.kind != backend.Imported {
		return left, false
	}
	d.bytes += b.size
	d.blocks[b] = struct{}{}
	b.live = true
	return left, true
}

// abandon undoes reserve and what was made of a block.
func (d *driver) abandon(b *block) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.blocks, b)
	d.bytes -= b.size
	b.live = false
	if b.buffer != nil {
		b.buffer.Release()
	}
	if b.unmap != nil {
		b.unmap()
	}
}

// ImportHost implements [backend.Driver], on direct devices.
func (d *driver) ImportHost(memory []byte) (backend.Block, error) {
	if err := d.enter("import"); err != nil {
		return nil, err
	}
	defer d.leave()
	alignment := d.info.Limits.ImportAlignment
	address := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(memory))))
	size := uint64(len(memory))
	switch {
	case alignment == 0:
		return nil, d.fail("import", backend.ErrUnsupported, "the device imports no memory of the host")
	case size == 0 || address%alignment != 0 || size%alignment != 0:
		return nil, d.misuse("import", "%d bytes at %#x, both must be multiples of %d", size, address, alignment)
	case size > d.info.Limits.MaxAllocationBytes:
		return nil, d.fail("import", backend.ErrHostMemory, "%d bytes, one block may have %d", size,
			d.info.Limits.MaxAllocationBytes)
	case d.backend.faults.imports.Add(1) == int64(d.backend.options.Faults.Import):
		return nil, d.fail("import", backend.ErrHostMemory, "%d bytes, injected fault", size)
	}
	b := &block{d: d, kind: backend.Imported, size: size, memory: memory[:size:size]}
	d.reserve(b)
	if err := b.wrap(); err != nil {
		d.abandon(b)
		return nil, errors.Join(d.fail("import", backend.ErrHostMemory, "%d bytes", size), err)
	}
	return b, nil
}
