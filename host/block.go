package host

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

// Marker is the byte that poisoned memory is filled with.
const Marker = 0xA5

// region is memory that one or, when shared, several blocks map.
type region struct {
	bytes      []byte
	references atomic.Int32
	release    func() error // called when the last block is freed
}

func (r *region) drop() error {
	if r.references.Add(-1) > 0 {
		return nil
	}
	return r.release()
}

// block implements backend.Block.
type block struct {
	driver *Driver
	kind   backend.Memory
	region *region
	joined bool // reached by direct copies of an exchange
	freed  atomic.Bool
	users  int // running batches; guarded by driver.mu
}

func (b *block) SizeBytes() uint64      { return uint64(len(b.region.bytes)) }
func (b *block) Memory() backend.Memory { return b.kind }

// Bytes returns the block's memory; nil once it was freed, and where Options.Discrete hides it.
func (b *block) Bytes() []byte {
	if b.freed.Load() || b.driver.backend.options.Discrete && b.kind == backend.DeviceLocal {
		return nil
	}
	return b.region.bytes
}

// Free gives the memory back. Nothing touches it after that: a batch that runs at this moment, as on a device that was
// lost, is waited for, and one that did not start yet never will. Where the batch does not end within
// Options.CloseLimit the memory is left in place, with ErrTimedOut. Free works after Close of the driver too; a second
// one is ErrInvalidInput.
func (b *block) Free() error {
	if b.freed.Swap(true) {
		return b.driver.fail("free", backend.ErrInvalidInput, "%v block of %d bytes was freed before", b.kind, b.SizeBytes())
	}
	if !b.driver.forget(b) {
		return b.driver.fail("free", backend.ErrTimedOut, "%v block of %d bytes is in use after %v", b.kind, b.SizeBytes(), b.driver.backend.options.CloseLimit)
	}
	if err := b.region.drop(); err != nil {
		return b.driver.fail("free", backend.ErrHostMemory, "%d bytes: %v", b.SizeBytes(), err)
	}
	return nil
}

// AllocateBlock implements backend.Driver. Sizes are rounded up to 256 bytes. DeviceLocal and HostVisible are the same
// memory, but an error names the requested one.
func (d *Driver) AllocateBlock(sizeBytes uint64, memory backend.Memory) (backend.Block, error) {
	if err := d.usable("allocate"); err != nil {
		return nil, err
	}
	if memory != backend.DeviceLocal && memory != backend.HostVisible {
		return nil, d.fail("allocate", backend.ErrInvalidInput, "memory of kind %d", memory)
	}
	exhausted := backend.ErrDeviceMemory
	if memory == backend.HostVisible {
		exhausted = backend.ErrHostMemory
	}
	limit := d.info.Limits.BlockBytes(memory)
	switch {
	case sizeBytes == 0:
		return nil, d.fail("allocate", backend.ErrInvalidInput, "0 bytes")
	case sizeBytes > limit || sizeBytes > math.MaxInt-1<<20:
		return nil, d.fail("allocate", exhausted, "%d bytes, one block may have %d", sizeBytes, limit)
	case d.backend.faults.allocate(&d.backend.options.Faults, memory):
		return nil, d.fail("allocate", exhausted, "%d bytes %v, injected fault", sizeBytes, memory)
	}
	r, err := d.newRegion((sizeBytes+255)&^255, exhausted)
	if err != nil {
		return nil, err
	}
	return d.adopt(memory, r)
}

// newRegion maps memory that is counted against the limits of the device and the machine.
func (d *Driver) newRegion(sizeBytes uint64, exhausted error) (*region, error) {
	device, machine := d.backend.limits[d.index], d.backend.machine
	if !device.reserve(sizeBytes) {
		return nil, d.fail("allocate", exhausted, "%d bytes, %d of %d are left", sizeBytes, device.left(), device.limitBytes)
	}
	if !machine.reserve(sizeBytes) {
		device.release(sizeBytes)
		return nil, d.fail("allocate", exhausted, "%d bytes, %d of the machine's %d are left", sizeBytes, machine.left(), machine.limitBytes)
	}
	uncount := func() {
		device.release(sizeBytes)
		machine.release(sizeBytes)
	}
	r := &region{}
	if d.backend.options.Poison {
		r.bytes = heapMemory(int(sizeBytes))
		poison(r.bytes)
		r.release = func() error {
			poison(r.bytes)
			uncount()
			return nil
		}
		return r, nil
	}
	page := uint64(os.Getpagesize())
	mapped, unmap, err := mapMemory(int((sizeBytes + page - 1) &^ (page - 1)))
	if err != nil {
		uncount()
		return nil, d.fail("allocate", exhausted, "%d bytes: %v", sizeBytes, err)
	}
	r.bytes = mapped[:sizeBytes:sizeBytes]
	r.release = func() error {
		uncount()
		return unmap()
	}
	return r, nil
}

// ImportHost implements backend.Driver. Any slice of at least one byte can be imported.
func (d *Driver) ImportHost(memory []byte) (backend.Block, error) {
	if err := d.usable("import"); err != nil {
		return nil, err
	}
	if len(memory) == 0 {
		return nil, d.fail("import", backend.ErrInvalidInput, "0 bytes")
	}
	if d.backend.faults.importHost(&d.backend.options.Faults) {
		return nil, d.fail("import", backend.ErrHostMemory, "%d bytes, injected fault", len(memory))
	}
	r := &region{bytes: memory[:len(memory):len(memory)], release: func() error { return nil }}
	return d.adopt(backend.Imported, r)
}

// AllocateShared implements backend.SharedMemory; every block can be shared.
func (d *Driver) AllocateShared(sizeBytes uint64, asDMABuf bool) (backend.Block, error) {
	if asDMABuf && !d.backend.options.DMABuf {
		return nil, d.fail("allocate", backend.ErrUnsupported, "host memory is no dma-buf")
	}
	return d.AllocateBlock(sizeBytes, backend.DeviceLocal)
}

// OpenShared implements backend.SharedMemory. The memory is released when both blocks have been freed.
func (d *Driver) OpenShared(owner backend.Driver, shared backend.Block) (backend.Block, error) {
	if err := d.usable("open shared"); err != nil {
		return nil, err
	}
	b, ok := shared.(*block)
	if !ok || owner != backend.Driver(b.driver) || b.freed.Load() || b.kind != backend.DeviceLocal {
		return nil, d.fail("open shared", backend.ErrInvalidInput, "the block is not a live device-local block of the owner")
	}
	return d.adopt(backend.DeviceLocal, b.region)
}

// adopt makes a block of the driver that maps r. Where the driver was closed meanwhile, the memory goes back.
func (d *Driver) adopt(kind backend.Memory, r *region) (backend.Block, error) {
	r.references.Add(1)
	b := &block{driver: d, kind: kind, region: r, joined: kind == backend.DeviceLocal && d.joined.Load()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.Join(d.failClosed("allocate"), r.drop())
	}
	d.blocks[b] = struct{}{}
	return b, nil
}

// forget takes a freed block out of the driver's books and waits until no batch runs that uses it.
func (d *Driver) forget(b *block) (unused bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.blocks, b)
	return d.untilLocked(time.Now().Add(d.backend.options.CloseLimit), func() bool { return b.users == 0 })
}

// untilLocked waits until a condition holds and reports whether it did before the deadline.
func (d *Driver) untilLocked(deadline time.Time, holds func() bool) bool {
	if holds() {
		return true
	}
	defer time.AfterFunc(time.Until(deadline), d.wake).Stop()
	for !holds() {
		if !time.Now().Before(deadline) {
			return false
		}
		d.changed.Wait()
	}
	return true
}

// wake makes those look again who wait for something to change.
func (d *Driver) wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed.Broadcast()
}

// leaks describes the live blocks; empty where there are none. The caller holds d.mu.
func (d *Driver) leaks() string {
	var count [backend.Imported + 1]int
	var size [backend.Imported + 1]uint64
	for b := range d.blocks {
		count[b.kind]++
		size[b.kind] += b.SizeBytes()
	}
	text := ""
	for kind, n := range count {
		if n > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%d %v blocks of %d bytes", n, backend.Memory(kind), size[kind])
		}
	}
	return text
}

// heapMemory returns page-aligned memory of the Go heap.
func heapMemory(sizeBytes int) []byte {
	page := os.Getpagesize()
	b := make([]byte, sizeBytes+page)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (page - 1)
	return b[skip : skip+sizeBytes : skip+sizeBytes]
}

// poison fills a block, whose size is a multiple of 8, with the marker. The race detector sees its first 64 KiB only, so
// that it reports a kernel that still runs on a freed block without keeping a shadow, of twice the size, of all memory
// that nothing else touches.
func poison(b []byte) {
	seen := min(len(b), 64<<10)
	fill(b[:seen], Marker*0x01010101)
	fillUnseen(b[seen:], Marker*0x0101010101010101)
}

// fillUnseen sets every word by a store, because go:norace does not reach into copy.
//
//go:norace
func fillUnseen(dst []byte, value uint64) {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)/8)
	for i := range words {
		words[i] = value
	}
}
