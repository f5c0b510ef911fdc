package vulkan

import (
	"fmt"
	"time"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// Pipeline stages and accesses of barriers.
const (
	stagesCompute   = 0x800
	stagesTransfer  = 0x1000
	stagesHost      = 0x4000
	accessShader    = 0x20 | 0x40
	accessTransfer  = 0x800 | 0x1000
	accessHostRead  = 0x2000
	accessWriteMask = 0x40 | 0x100 | 0x1000
	stagesDraw      = 0x8 | 0x80 | 0x400 // vertex and fragment shaders, colour attachments
	accessTarget    = 0x80 | 0x100
)

// mostSignals is the number of semaphores that a batch sets, with its own.
const mostSignals = 2

// rowGroups is the length of a row of workgroups: kernels compute their group as first_group + y*rowGroups + x.
const rowGroups = 32768

// Submit implements [backend.Driver]. A batch that fails leaves the timeline as it was.
func (d *driver) Submit(batch *backend.Batch) error {
	t, err := d.line("submit", batch.Role)
	if err != nil {
		return err
	}
	if err := d.enter("submit"); err != nil {
		return err
	}
	defer d.leave()
	var semaphores, values [C.SJ_MAX_WAITS]C.uint64_t
	waits, err := d.waits(t, batch, &semaphores, &values)
	if err != nil {
		return err
	}
	signals := [mostSignals]C.uint64_t{raw(t.semaphore)}
	signalValues := [mostSignals]C.uint64_t{C.uint64_t(batch.Signal)}
	if err := d.semaphoresOf(batch.Raises, signals[1:], signalValues[1:]); err != nil {
		return err
	}
	r, err := t.take()
	if err != nil {
		return err
	}
	if err := t.record(r, batch); err != nil {
		t.discard(r)
		return err
	}
	r.value = batch.Signal
	t.mu.Lock() // over the submission: the batch may be done, and its times asked for, before it returns
	defer t.mu.Unlock()
	t.queue.mu.Lock()
	code := result(C.sj_submit(d.shim, unsafe.Pointer(t.queue.handle), unsafe.Pointer(r.commands), &semaphores[0],
		&values[0], C.uint32_t(waits), &signals[0], &signalValues[0], C.uint32_t(1+len(batch.Raises))))
	t.queue.mu.Unlock()
	if err := d.check(code, "submit", "%s batch %d", t.name, batch.Signal); err != nil {
		t.discard(r)
		return err
	}
	t.submitted = batch.Signal
	t.flying = append(t.flying, r)
	return nil
}

// waits fills in the semaphores and values that a batch waits for and returns their number.
func (d *driver) waits(t *timeline, batch *backend.Batch, semaphores,
	values *[C.SJ_MAX_WAITS]C.uint64_t) (count int, err error) {
	if before := t.last(); batch.Signal != before+1 {
		return 0, d.misuse("submit", "%s batch %d after batch %d", t.name, batch.Signal, before)
	}
	var need [backend.Roles]uint64
	for _, p := range batch.Waits {
		other, err := d.line("submit", p.Role)
		if err != nil {
			return 0, err
		}
		if last := other.last(); p.Value > last { // it would never run
			return 0, d.misuse("submit", "a wait for %v batch %d, of which %d were submitted", p.Role, p.Value, last)
		}
		need[p.Role] = max(need[p.Role], p.Value)
	}
	for role, value := range need {
		if other := d.lines[role]; value > 0 && other != t { // its own queue runs in order
			semaphores[count], values[count] = raw(other.semaphore), C.uint64_t(value)
			count++
		}
	}
	err = d.semaphoresOf(batch.Awaits, semaphores[count:], values[count:])
	return count + len(batch.Awaits), err
}

func (t *timeline) last() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.submitted
}

// record writes the commands of a batch.
func (t *timeline) record(r *recording, batch *backend.Batch) error {
	d, commands := t.d, unsafe.Pointer(r.commands)
	r.stamps = 0
	if t.tickMask != 0 {
		stamps := uint32(2)
		for i := range batch.Steps {
			if batch.Steps[i].Kind == backend.Mark {
				stamps++
			}
		}
		if err := t.reserve(r, stamps); err != nil {
			return err
		}
	}
	if err := d.check(result(C.sj_begin(d.shim, commands)), "submit", "beginning a command buffer"); err != nil {
		return err
	}
	stages, access := C.uint32_t(stagesTransfer), C.uint32_t(accessTransfer)
	if t.computes {
		stages, access = stages|stagesCompute, access|accessShader
	}
	if t.draws {
		stages, access = stages|stagesDraw, access|accessShader|accessTarget
	}
	t.stamp(r)
	for i := range batch.Steps {
		step := &batch.Steps[i]
		if step.Barrier {
			C.sj_barrier(d.shim, commands, stages, access, stages, access)
		}
		for _, change := range step.Changes {
			if err := t.change(r, change, stages, access); err != nil {
				return err
			}
		}
		if err := t.command(r, &step.Command); err != nil {
			return err
		}
	}
	// What was written is visible to the host once the timeline says so, and to all that follows in this queue.
	C.sj_barrier(d.shim, commands, stages, access&accessWriteMask, stages|stagesHost, access|accessHostRead)
	t.stamp(r)
	return d.check(result(C.sj_end(d.shim, commands)), "submit", "ending a command buffer")
}

// stamp writes the next time stamp, taken when everything before has ended.
func (t *timeline) stamp(r *recording) {
	if t.tickMask != 0 {
		C.sj_timestamp(t.d.shim, unsafe.Pointer(r.commands), raw(r.queries), C.uint32_t(r.stamps))
		r.stamps++
	}
}

// place is a range as commands take it.
type place struct {
	buffer    vk.Buffer
	offset    uint64
	address   uint64
	sizeBytes uint64
}

// place finds a range in a block of this device; an absent range gives the zero place.
func (d *driver) place(r backend.Range) (place, error) {
	owner, offset := r.Block()
	if owner == nil {
		return place{}, nil
	}
	b, ok := owner.(*block)
	if !ok || b.d != d {
		return place{}, d.misuse("submit", "a block of another device")
	}
	if b.buffer == vk.NullBuffer {
		return place{}, d.misuse("submit", "a block that was freed")
	}
	if offset > b.sizeBytes || r.SizeBytes > b.sizeBytes-offset {
		return place{}, d.misuse("submit", "%d bytes at %d of a block of %d", r.SizeBytes, offset, b.sizeBytes)
	}
	return place{b.buffer, offset, b.address + offset, r.SizeBytes}, nil
}

func (t *timeline) command(r *recording, c *backend.Command) error {
	d, commands := t.d, unsafe.Pointer(r.commands)
	switch c.Kind {
	case backend.Dispatch:
		return t.dispatch(r, c)
	case backend.Copy:
		dst, err := d.place(c.Dst)
		if err != nil {
			return err
		}
		src, err := d.place(c.Src)
		if err != nil {
			return err
		}
		overlap := src.buffer == dst.buffer && src.offset < dst.offset+dst.sizeBytes &&
			dst.offset < src.offset+src.sizeBytes
		if src.sizeBytes != dst.sizeBytes || src.sizeBytes == 0 || overlap {
			return d.misuse("submit", "a copy of %d bytes to %d bytes, overlapping: %v", src.sizeBytes, dst.sizeBytes,
				overlap)
		}
		C.sj_copy(d.shim, commands, raw(src.buffer), C.uint64_t(src.offset), raw(dst.buffer), C.uint64_t(dst.offset),
			C.uint64_t(dst.sizeBytes))
	case backend.Fill:
		dst, err := d.place(c.Dst)
		if err != nil {
			return err
		}
		if dst.sizeBytes == 0 || dst.sizeBytes%4 != 0 || dst.offset%4 != 0 {
			return d.misuse("submit", "a fill of %d bytes at %d: both must be multiples of 4", dst.sizeBytes,
				dst.offset)
		}
		C.sj_fill(d.shim, commands, raw(dst.buffer), C.uint64_t(dst.offset), C.uint64_t(dst.sizeBytes),
			C.uint32_t(c.Value))
	case backend.Mark:
		t.stamp(r)
	case backend.Pass:
		return t.pass(r, c)
	default:
		return d.misuse("submit", "command %d", c.Kind)
	}
	return nil
}

// dispatch records a kernel: addresses of the arguments, parameters, range of workgroups.
func (t *timeline) dispatch(r *recording, c *backend.Command) error {
	d := t.d
	if c.Kernel == nil {
		return d.misuse("submit", "a dispatch without a kernel")
	}
	p, ok := c.Kernel.Program.(*program)
	switch {
	case !ok || p.d != d:
		return d.misuse("submit", "kernel %s was compiled for another device", c.Kernel.Spec.Name)
	case len(c.Args) != len(p.spec.Args) || len(c.Params) != len(p.spec.Params):
		return d.misuse("submit", "kernel %s takes %d arguments and %d parameters, not %d and %d", p.spec.Name,
			len(p.spec.Args), len(p.spec.Params), len(c.Args), len(c.Params))
	case !t.computes:
		return &backend.OpError{Op: "submit", Kernel: p.spec.Name, Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: fmt.Sprintf("the %s queue does not compute", t.name)}
	case c.EndGroup <= c.FirstGroup:
		return nil
	}
	n, err := t.pushArguments(r, c.Args, c.Params)
	if err != nil {
		return err
	}
	r.words[n], r.words[n+1] = C.uint32_t(c.FirstGroup), C.uint32_t(c.EndGroup)
	groups := c.EndGroup - c.FirstGroup
	rows := (groups-1)/rowGroups + 1
	if limit := d.p.maxGroupsY; rows > limit {
		return &backend.OpError{Op: "submit", Kernel: p.spec.Name, Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: fmt.Sprintf("%d workgroups in one dispatch, the device allows %d", groups, uint64(limit)*rowGroups)}
	}
	C.sj_dispatch(d.shim, unsafe.Pointer(r.commands), raw(p.pipeline), raw(p.layout), &r.words[0], C.uint32_t(n+2),
		C.uint32_t(min(groups, rowGroups)), C.uint32_t(rows))
	return nil
}

// pushArguments writes the push constants of a kernel or draw but for the two words at their end, and returns their
// number.
func (t *timeline) pushArguments(r *recording, args []backend.Range, params []uint32) (n int, err error) {
	for _, arg := range args {
		at, err := t.d.place(arg)
		if err != nil {
			return 0, err
		}
		r.words[n], r.words[n+1] = C.uint32_t(at.address), C.uint32_t(at.address>>32)
		n += 2
	}
	for _, param := range params {
		r.words[n] = C.uint32_t(param)
		n++
	}
	return n, nil
}

func (d *driver) overdue(t *timeline, value uint64, limit time.Duration) error {
	return &backend.OpError{Op: "wait", Device: d.info.Name, Err: backend.ErrTimedOut,
		Detail: fmt.Sprintf("%s batch %d was not done after %v; DeviceOptions.WaitLimit changes the limit", t.name,
			value, limit)}
}
