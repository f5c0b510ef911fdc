package vulkan

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan/cuda"
)

/*
#include "shim.h"
*/
import "C"

// driver is one open logical device.
type driver struct {
	backend *Backend
	p       *physical
	info    backend.DeviceInfo
	device  vk.Device
	shim    *C.sj_device

	life     sync.RWMutex // held for reading by every use of the device, for writing while it is destroyed
	closed   bool
	lost     atomic.Pointer[error] // sticky
	families []C.uint32_t          // that share buffers
	lines    [backend.Roles]*timeline
	binds    *timeline  // of the binding of sparse blocks; nil where there are none
	binding  sync.Mutex // held while one is bound
	cache    *pipelineCache

	partBytes uint64 // largest allocation of a device-local block

	mu      sync.Mutex // guards what follows
	blocks  map[*block]struct{}
	joined  []*cuda.GPU                  // that reach blocks, the device's own first; nil: the device was not joined with others
	layouts map[uint32]vk.PipelineLayout // by bytes of push constants
	pipes   []vk.Pipeline
	images  map[*image]struct{}
	raster
}

var (
	_ backend.Driver       = (*driver)(nil)
	_ backend.SharedMemory = (*driver)(nil)
	_ backend.PeerExchange = (*driver)(nil)
	_ backend.PeerMemory   = (*driver)(nil)
	_ backend.Clock        = (*driver)(nil)
	_ backend.Rasterizer   = (*driver)(nil)
)

// closeLimit is how long Close waits for submitted work.
const closeLimit = 10 * time.Second

// open makes a logical device. The caller registers it.
func open(b *Backend, p *physical) (*driver, error) {
	plan, _ := planQueues(p.families, p.graphics)
	slots := plan[:]
	if p.sparse {
		slot, _ := planSparse(p.families, plan)
		slots = append(slots, slot)
	}
	d := &driver{backend: b, p: p, info: p.info, blocks: make(map[*block]struct{}),
		images: make(map[*image]struct{}), raster: newRaster(),
		layouts: make(map[uint32]vk.PipelineLayout)}
	d.partBytes = d.info.Limits.MaxAllocationBytes
	if b.options.PartBytes > 0 {
		d.partBytes = min(d.partBytes, b.options.PartBytes)
	}
	for _, u := range usedFamilies(plan[:]...) {
		d.families = append(d.families, C.uint32_t(u.family))
	}
	var queues []C.sj_queues
	for _, u := range usedFamilies(slots...) {
		queues = append(queues, C.sj_queues{family: C.uint32_t(u.family), count: C.uint32_t(u.index)})
	}
	extensions := slices.DeleteFunc(slices.Clone(usedExtensions), func(name string) bool { return !p.extensions[name] })
	r := result(C.sj_open_device(unsafe.Pointer(p.handle), &queues[0], C.uint32_t(len(queues)), joined(extensions), C.uint32_t(len(extensions)), p.has, p.enabled(), &d.shim))
	if err := failure(r, "open", p.info.Name, ""); err != nil {
		return nil, err
	}
	d.device = vk.Device(C.sj_device_handle(d.shim))
	if err := d.prepare(slots); err != nil {
		d.destroy()
		return nil, err
	}
	return d, nil
}

// prepare creates queues, timelines and the pipeline cache; slots hold the queues of the roles and, where there is one,
// that for sparse blocks.
func (d *driver) prepare(slots []queueSlot) error {
	queues := make(map[queueSlot]*queue)
	for i, slot := range slots {
		if slot == absent {
			continue
		}
		q, ok := queues[slot]
		if !ok {
			q = &queue{}
			var handle vk.Queue
			vk.GetDeviceQueue(d.device, slot.family, slot.index, &handle)
			q.handle = handle
			queues[slot] = q
		}
		role, name, line := backend.Role(i), "sparse binding", &d.binds
		if role < backend.Roles {
			name, line = role.String(), &d.lines[role]
		}
		var err error
		if *line, err = newTimeline(d, name, q, slot.family); err != nil {
			return err
		}
		(*line).draws = role == backend.Graphics
	}
	var err error
	d.cache, err = openCache(d)
	return err
}

func (d *driver) Info() *backend.DeviceInfo { return &d.info }

// check turns a result into an error and remembers the loss of the device.
func (d *driver) check(r result, op, format string, a ...any) error {
	err := failure(r, op, d.info.Name, format, a...)
	if errors.Is(err, backend.ErrDeviceLost) {
		d.lost.CompareAndSwap(nil, &err)
	}
	return err
}

// enter begins a use of the device; leave ends it. It fails when the device is closed or lost.
func (d *driver) enter(op string) error {
	d.life.RLock()
	if d.closed {
		d.life.RUnlock()
		return d.misuse(op, "the device was closed")
	}
	if lost := d.lost.Load(); lost != nil {
		d.life.RUnlock()
		return &backend.OpError{Op: op, Device: d.info.Name, Err: *lost}
	}
	return nil
}

func (d *driver) leave() { d.life.RUnlock() }

func (d *driver) misuse(op, format string, a ...any) error {
	return &backend.OpError{Op: op, Device: d.info.Name, Err: backend.ErrInvalidInput,
		Detail: fmt.Sprintf(format, a...)}
}

// Close waits at most 10 s for submitted work and destroys everything; blocks that are still allocated are freed and
// reported. A device that does not come to rest is left as it is, because destroying it would crash the driver, and
// reported as ErrTimedOut. Closing twice is harmless.
func (d *driver) Close() error {
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if d.lost.Load() == nil { // before the waits below, which a device that hangs does not survive
		if err := d.cache.save(); err != nil {
			d.backend.mailbox.post(Message{Warning, "spirjoin",
				fmt.Sprintf("compiled pipelines are not kept: %v", err)})
		}
	}
	var errs []error
	for _, line := range append(d.lines[:], d.binds) {
		if err := line.drain(closeLimit); err != nil {
			errs = append(errs, err)
			if errors.Is(err, backend.ErrTimedOut) {
				return errors.Join(errs...)
			}
		}
	}
	if d.lost.Load() == nil {
		// A timeline may signal the end of a batch before the driver has released the semaphores that the batch waited
		// for, as with Mesa's queue thread: destroyed now, they would be used after free. All work is done, so this
		// does not wait.
		errs = append(errs, d.check(result(vk.DeviceWaitIdle(d.device)), "close", "letting the driver come to rest"))
	}
	n, bytes := 0, uint64(0)
	for b := range d.blocks {
		if b.live {
			n, bytes = n+1, bytes+b.sizeBytes
		}
		errs = append(errs, b.destroy())
	}
	if n > 0 {
		errs = append(errs, d.misuse("close", "%d blocks of %d bytes in all were not freed", n, bytes))
	}
	errs = append(errs, d.closeImages())
	d.destroy()
	d.backend.forget(d)
	return errors.Join(errs...)
}

// destroy releases everything but blocks, as far as it was made.
func (d *driver) destroy() {
	d.leavePeers()
	d.raster.destroy(d.device)
	for _, p := range d.pipes {
		vk.DestroyPipeline(d.device, p, nil)
	}
	for _, l := range d.layouts {
		vk.DestroyPipelineLayout(d.device, l, nil)
	}
	d.cache.destroy()
	for _, line := range append(d.lines[:], d.binds) {
		line.destroy()
	}
	C.sj_close_device(d.shim)
}
