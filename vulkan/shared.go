package vulkan

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// Types of handles of memory.
const (
	opaqueFD = uint32(C.SJ_OPAQUE_FD)
	dmaBuf   = uint32(C.SJ_DMA_BUF)
)

// AllocateShared implements [backend.SharedMemory]; ErrUnsupported where the driver cannot export memory as an opaque
// file descriptor, or as a dma-buf.
func (d *driver) AllocateShared(sizeBytes uint64, asDMABuf bool) (backend.Block, error) {
	handleType := opaqueFD
	if asDMABuf {
		handleType = dmaBuf
	}
	if err := d.enter("allocate shared"); err != nil {
		return nil, err
	}
	defer d.leave()
	if err := d.canShare(handleType); err != nil {
		return nil, err
	}
	b := &block{d: d, memory: backend.DeviceLocal, sizeBytes: sizeBytes, exports: handleType}
	return d.allocate(b, handleType, d.info.Limits.BlockBytes(backend.HostVisible), func(b *block) result {
		return result(C.sj_allocate_exportable(d.shim, C.uint64_t(b.storeSize), C.uint32_t(b.storeType),
			b.dedicated(handleType), C.uint32_t(handleType), (*C.uint64_t)(unsafe.Pointer(&b.store))))
	})
}

// sharing is what the device does with memory as a type of file descriptor that needs an extension.
func (d *driver) sharing(handleType uint32) (s sharing, extension string) {
	if handleType == dmaBuf {
		return d.p.dmaBuf, extDMABuf
	}
	return d.p.opaque, extMemoryFd
}

func (d *driver) canShare(handleType uint32) error {
	s, extension := d.sharing(handleType)
	switch {
	case s.works:
		return nil
	case !d.p.extensions[extension]:
		return d.cannotShare("the driver lacks %s", extension)
	}
	return d.cannotShare("the driver cannot export and import buffers through %s", extension)
}

func (d *driver) cannotShare(format string, a ...any) error {
	return &backend.OpError{Op: "share memory", Device: d.info.Name, Err: backend.ErrUnsupported,
		Detail: fmt.Sprintf(format, a...)}
}

// dedicated is the buffer that shared memory of a block is made for; 0: any.
func (b *block) dedicated(handleType uint32) C.uint64_t {
	if s, _ := b.d.sharing(handleType); s.dedicated {
		return raw(b.buffer)
	}
	return 0
}

// OpenShared implements [backend.SharedMemory]. The memory lives until both blocks are freed. ErrInvalidInput for a
// block that is not of owner or not shareable. Only a dma-buf can be opened on another physical device or driver:
// imports of opaque file descriptors can succeed there and yet map other memory, and are refused with ErrUnsupported.
func (d *driver) OpenShared(owner backend.Driver, shared backend.Block) (backend.Block, error) {
	from, ok := owner.(*driver)
	if !ok {
		return nil, d.cannotShare("the owner is no Vulkan device")
	}
	original, ok := shared.(*block)
	if !ok || original.d != from {
		return nil, d.misuse("open shared", "the block is not of %s", from.info.ID)
	}
	handleType := original.exports
	if err := d.canShare(handleType); err != nil {
		return nil, err
	}
	if handleType != dmaBuf && (from.info.UUID != d.info.UUID || from.p.driverUUID != d.p.driverUUID) {
		return nil, d.cannotShare("the memory is on another physical device")
	}
	fd, err := from.export(original)
	if err != nil {
		return nil, err
	}
	b := &block{d: d, memory: original.memory, sizeBytes: original.sizeBytes}
	if err := d.openFD(b, handleType, fd, original); err != nil {
		return nil, err
	}
	if original.mapped != nil && handleType != dmaBuf {
		if err := b.mapAll(); err != nil {
			return nil, errors.Join(err, b.Free())
		}
	}
	return b, nil
}

// export returns a new file descriptor of a block's memory.
func (d *driver) export(b *block) (int, error) {
	if err := d.enter("open shared"); err != nil {
		return -1, err
	}
	defer d.leave()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !b.live || b.exports == 0 {
		return -1, d.misuse("open shared", "the block was freed or cannot be exported")
	}
	var fd C.int
	err := d.check(result(C.sj_export_fd(d.shim, raw(b.store), C.uint32_t(b.exports), &fd)), "open shared",
		"exporting %d bytes", b.sizeBytes)
	return int(fd), err
}

// openFD makes a block of memory of another block that was exported as a file descriptor, which is closed.
func (d *driver) openFD(b *block, handleType uint32, fd int, original *block) error {
	defer func() {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}()
	if err := d.enter("open shared"); err != nil {
		return err
	}
	defer d.leave()
	allowed := C.uint32_t(1) << original.storeType
	if handleType == dmaBuf {
		r := result(C.sj_fd_memory_types(d.shim, C.uint32_t(handleType), C.int(fd), &allowed))
		if err := d.check(r, "open shared", "types of memory of %d bytes", original.storeSize); err != nil {
			return err
		}
	}
	var misfit error
	err := b.create(handleType, uint32(allowed), func(b *block) result {
		if b.storeSize > original.storeSize || b.storeSize < original.storeSize && handleType != dmaBuf {
			misfit = d.cannotShare("a buffer of %d bytes takes %d here, and %d on %s", b.sizeBytes, b.storeSize,
				original.storeSize, original.d.info.Name)
			return outOfMemory
		}
		passed := fd
		fd = -1
		return d.importFD(handleType, passed, b.storeSize, b.storeType, b.dedicated(handleType),
			(*C.uint64_t)(unsafe.Pointer(&b.store)))
	})
	if misfit != nil {
		err = misfit
	}
	if err != nil {
		b.abandon()
		return err
	}
	d.keep(b)
	return nil
}

// importFD opens memory that was exported as a file descriptor, which is used up or closed.
func (d *driver) importFD(handleType uint32, fd int, sizeBytes uint64, storeType uint32, dedicated C.uint64_t,
	memory *C.uint64_t) result {
	r := result(C.sj_import_fd(d.shim, C.uint64_t(sizeBytes), C.uint32_t(storeType), dedicated, C.uint32_t(handleType),
		C.int(fd), memory))
	if r != success {
		_ = syscall.Close(fd)
	}
	return r
}
