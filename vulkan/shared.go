package vulkan

import (
	"errors"
	"syscall"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// AllocateShared implements [backend.SharedMemory]; ErrUnsupported where the driver cannot export memory as a file
// descriptor.
func (d *driver) AllocateShared(sizeBytes uint64) (backend.Block, error) {
	if err := d.enter("allocate shared"); err != nil {
		return nil, err
	}
	defer d.leave()
	if err := d.canShare(); err != nil {
		return nil, err
	}
	b := &block{d: d, memory: backend.DeviceLocal, sizeBytes: sizeBytes, exportable: true}
	return d.allocate(b, C.SJ_OPAQUE_FD, d.info.Limits.BlockBytes(backend.HostVisible), func(b *block) result {
		return result(C.sj_allocate_exportable(d.shim, C.uint64_t(b.storeSize), C.uint32_t(b.storeType), b.dedicated(), (*C.uint64_t)(unsafe.Pointer(&b.store))))
	})
}

func (d *driver) canShare() error {
	if d.p.shareable {
		return nil
	}
	return &backend.OpError{Op: "share memory", Device: d.info.Name, Err: backend.ErrUnsupported, Detail: "the driver cannot export and import buffers through " + extMemoryFd}
}

func (b *block) dedicated() C.uint64_t {
	if b.d.p.sharedDedicated {
		return raw(b.buffer)
	}
	return 0
}

// OpenShared implements [backend.SharedMemory]. The memory lives until both blocks are freed. ErrInvalidInput for a
// block that is not of owner or not shareable, ErrUnsupported for an owner on another physical device or driver: such
// imports can succeed and yet map other memory.
func (d *driver) OpenShared(owner backend.Driver, shared backend.Block) (backend.Block, error) {
	if err := d.canShare(); err != nil {
		return nil, err
	}
	from, ok := owner.(*driver)
	if !ok || from.info.UUID != d.info.UUID || from.p.driverUUID != d.p.driverUUID {
		return nil, &backend.OpError{Op: "open shared", Device: d.info.Name, Err: backend.ErrUnsupported, Detail: "the owner is another physical device"}
	}
	original, ok := shared.(*block)
	if !ok || original.d != from {
		return nil, d.misuse("open shared", "the block is not of %s", from.info.ID)
	}
	fd, err := from.export(original)
	if err != nil {
		return nil, err
	}
	b := &block{d: d, memory: original.memory, sizeBytes: original.sizeBytes}
	if err := d.openFD(b, fd, original.storeSize, 1<<original.storeType); err != nil {
		return nil, err
	}
	if original.mapped != nil {
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
	if !b.live || !b.exportable {
		return -1, d.misuse("open shared", "the block was freed or does not come from AllocateShared")
	}
	var fd C.int
	err := d.check(result(C.sj_export_fd(d.shim, raw(b.store), &fd)), "open shared", "exporting %d bytes", b.sizeBytes)
	return int(fd), err
}

// openFD makes a block of memory that was exported as an opaque file descriptor, which is closed.
func (d *driver) openFD(b *block, fd int, storeSize uint64, allowed uint32) error {
	defer func() {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}()
	if err := d.enter("open shared"); err != nil {
		return err
	}
	defer d.leave()
	err := b.create(C.SJ_OPAQUE_FD, allowed, func(b *block) result {
		if b.storeSize != storeSize {
			return outOfMemory
		}
		passed := fd
		fd = -1
		return d.importFD(passed, b.storeSize, b.storeType, b.dedicated(), (*C.uint64_t)(unsafe.Pointer(&b.store)))
	})
	if err != nil {
		b.abandon()
		return err
	}
	d.keep(b)
	return nil
}

// importFD opens memory that was exported as an opaque file descriptor, which is used up or closed.
func (d *driver) importFD(fd int, sizeBytes uint64, storeType uint32, dedicated C.uint64_t, memory *C.uint64_t) result {
	r := result(C.sj_import_fd(d.shim, C.uint64_t(sizeBytes), C.uint32_t(storeType), dedicated, C.int(fd), memory))
	if r != success {
		_ = syscall.Close(fd)
	}
	return r
}
