package backend

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"unsafe"
)

// hostImport is host memory that the driver has imported, or is about to. Buffers within it share it, and with it one
// block for hazards; imports never overlap.
type hostImport struct {
	*lease
	label  string // of the first buffer
	memory []byte
	block  Block
	ready  chan struct{} // closed once the driver has answered
}

// Import makes host memory of the caller visible to the device without a copy. The caller keeps ownership, and the
// memory must stay in place until the buffer is released and its last use has passed. Address and size are multiples of
// Limits.ImportAlignment. Memory within a live import shares it: the driver imports it once, and frees it with the last
// of its buffers. Import waits for another import in progress, and for work on released buffers that overlap.
// [Device.Upload] and [Device.Download] recognize slices of imported memory and copy them directly. Errors:
// ErrUnsupported if the device cannot import the memory at its location; ErrInvalidInput if it overlaps an import and
// extends beyond it, because work on the two would not be ordered; ErrCancelled or ErrTimedOut if ctx ends during a
// wait.
func (d *Device) Import(ctx context.Context, memory []byte, label string) (*Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		d.settle()
		if d.failed != nil {
			return nil, d.failed
		}
		other := d.overlapping(memory)
		switch {
		case other == nil:
			return d.importNew(memory, label)
		case other.block == nil:
			if err := d.awaitImport(ctx, other); err != nil {
				return nil, err
			}
		case within(memory, other.memory):
			return d.share(other, memory, label)
		case other.owners > 0:
			return nil, &OpError{Op: "import", Device: d.info.Name, Err: ErrInvalidInput, Detail: fmt.Sprintf(
				"%d bytes for %q overlap the %d of %q and go beyond them", len(memory), label, len(other.memory),
				other.label)}
		default:
			if err := d.waitPending(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// importNew asks the driver, with the lock given up: pinning pages takes long.
func (d *Device) importNew(memory []byte, label string) (*Buffer, error) {
	i := &hostImport{label: label, memory: memory, ready: make(chan struct{})}
	at := sort.Search(len(d.imports), func(n int) bool { return addressOf(d.imports[n].memory) > addressOf(memory) })
	d.imports = slices.Insert(d.imports, at, i)
	d.mu.Unlock()
	block, err := d.driver.ImportHost(memory)
	d.mu.Lock()
	close(i.ready)
	if err != nil {
		d.dropImport(i)
		d.setFailed(err)
		return nil, err
	}
	i.block, i.lease = block, d.leaseOf(block, label)
	free := i.lease.free
	i.lease.free = func() {
		d.dropImport(i)
		free()
	}
	b := d.bufferOf(i, memory, label)
	if d.failed != nil { // closed or lost meanwhile
		d.giveUp(i.lease)
		d.settle()
		return nil, d.failed
	}
	d.live[b] = struct{}{}
	return b, nil
}

func (d *Device) awaitImport(ctx context.Context, i *hostImport) error {
	d.mu.Unlock()
	defer d.mu.Lock()
	select {
	case <-i.ready:
		return nil
	case <-ctx.Done():
		return ContextError(ctx)
	}
}

// share makes a buffer within an import, which may have been released but is still in use.
func (d *Device) share(i *hostImport, memory []byte, label string) (*Buffer, error) {
	if a := max(1, d.info.Limits.ImportAlignment); uint64(addressOf(memory))%a != 0 || uint64(len(memory))%a != 0 {
		return nil, &OpError{Op: "import", Device: d.info.Name, Err: ErrInvalidInput, Detail: fmt.Sprintf(
			"%d bytes at %#x: address and size must be multiples of %d", len(memory), addressOf(memory), a)}
	}
	b := d.bufferOf(i, memory, label)
	d.hold(i.lease)
	d.live[b] = struct{}{}
	return b, nil
}

func (d *Device) bufferOf(i *hostImport, memory []byte, label string) *Buffer {
	return &Buffer{device: d, label: label, sizeBytes: uint64(len(memory)) / 4 * 4, memory: Imported, block: i.block,
		offsetBytes: uint64(addressOf(memory) - addressOf(i.memory)), lease: i.lease}
}

func (d *Device) dropImport(i *hostImport) {
	d.imports = slices.DeleteFunc(d.imports, func(o *hostImport) bool { return o == i })
}

// overlapping returns an import that shares bytes with memory, or nil.
func (d *Device) overlapping(memory []byte) *hostImport {
	lo := addressOf(memory)
	at := sort.Search(len(d.imports), func(i int) bool { // the first that ends behind the beginning
		return addressOf(d.imports[i].memory)+uintptr(len(d.imports[i].memory)) > lo
	})
	if at < len(d.imports) && addressOf(d.imports[at].memory) < lo+uintptr(len(memory)) {
		return d.imports[at]
	}
	return nil
}

// Imported is the range of imported memory that has b, and the bytes that fill up its last word of 4 bytes; ok is false
// if b is not imported, or does not begin at a multiple of alignment, itself a multiple of 4. The caller releases the
// buffer of the range. Kernels read it at the speed of a copy, so that what is read once need not be uploaded.
func (d *Device) Imported(b []byte, alignment uint64) (r Range, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.overlapping(b)
	if i == nil || i.block == nil || i.owners == 0 || addressOf(b) < addressOf(i.memory) {
		return Range{}, false
	}
	offset, sizeBytes := uint64(addressOf(b)-addressOf(i.memory)), (uint64(len(b))+3)&^3
	if offset%alignment != 0 || offset+sizeBytes > uint64(len(i.memory)) {
		return Range{}, false
	}
	d.hold(i.lease)
	return d.bufferOf(i, i.memory, i.label).Range(offset, sizeBytes), true
}

func within(inner, outer []byte) bool {
	lo, from := addressOf(inner), addressOf(outer)
	return lo >= from && lo+uintptr(len(inner)) <= from+uintptr(len(outer))
}

func addressOf(s []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }
