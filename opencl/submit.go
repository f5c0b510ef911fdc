//go:build opencl && linux

package opencl

/*
#include "shim.h"
*/
import "C"

import (
	"math"
	"slices"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
)

// recording is a batch as the shim takes it; its memory is used again by the next batch of the queue.
type recording struct {
	commands []C.sjcl_command
	buffers  []unsafe.Pointer // arguments of dispatches
	words    []C.uint32_t     // and their offsets and parameters
	places   []place
	marks    int
	scratch  []scratch
	replaced []*cl.MemObject // scratch buffers that were too small
	used     []*block
}

// mostInvocations is the limit of one enqueued dispatch; drivers count invocations in 32 bits.
const mostInvocations = math.MaxInt32

// Submit implements [backend.Driver]. What is wrong with a batch is found before any of it is enqueued.
func (d *driver) Submit(b *backend.Batch) error {
	t, err := d.line("submit", b.Role)
	if err != nil {
		return err
	}
	if err := d.enter("submit"); err != nil {
		return err
	}
	defer d.leave()
	if next := t.submitted + 1; b.Signal != next {
		return d.misuse("submit", "%v batch signals %d, the next is %d", b.Role, b.Signal, next)
	}
	if len(b.Awaits)+len(b.Raises) > 0 {
		return d.misuse("submit", "a semaphore of another device")
	}
	defer t.dropReplaced()
	if err := t.record(b); err != nil {
		return err
	}
	var waits []unsafe.Pointer
	defer func() { releaseEvents(waits) }()
	for _, w := range b.Waits {
		other, err := d.line("submit", w.Role)
		if err != nil {
			return err
		}
		event, ok := other.endEvent(w.Value)
		if !ok || other == t {
			return d.misuse("submit", "waits for %v batch %d, which was not submitted", w.Role, w.Value)
		}
		if event != nil {
			waits = append(waits, event)
		}
	}
	if err := d.lostError(); err != nil { // a batch that failed meanwhile has no event
		return err
	}
	return t.enqueue(b, waits)
}

// enqueue hands the recorded batch to OpenCL. A failure in its middle leaves the queue in an unknown state: the device
// is lost.
func (t *timeline) enqueue(batch *backend.Batch, waits []unsafe.Pointer) error {
	d, fault := t.d, (*cl.Event)(nil)
	n := d.backend.faults.submits.Add(1)
	faults := &d.backend.options.Faults
	if n == int64(faults.LoseBatch) || n == int64(faults.HangBatch) {
		var err error
		if fault, err = d.context.CreateUserEvent(); err != nil {
			return failure(err, "submit", d.info.Name, "injected fault")
		}
		waits = append(waits, handle(fault))
		defer fault.Release()
	}
	for _, b := range t.used { // before: commands may run although a later one fails to be enqueued
		b.uses[t.role] = batch.Signal
	}
	stamps := make([]unsafe.Pointer, t.marks+2)
	failed := new(C.uint32_t)
	d.enqueueMu.Lock()
	r := result(C.sjcl_submit(handle(t.queue), unsafe.SliceData(t.commands), C.uint32_t(len(t.commands)),
		unsafe.SliceData(t.buffers), unsafe.SliceData(t.words), unsafe.SliceData(waits), C.uint32_t(len(waits)),
		&stamps[0], failed))
	d.enqueueMu.Unlock()
	if r != success {
		return d.lose(r, "enqueueing command %d of %d of %v batch %d", *failed+1, len(t.commands), t.role, batch.Signal)
	}
	t.fly(flight{batch.Signal, stamps, slices.Clone(batch.Waits)})
	if n == int64(faults.LoseBatch) {
		return failure(fault.SetUserEventStatus(int(outOfResources)), "submit", d.info.Name, "injected fault")
	}
	return nil
}

// place is a range as commands take it; the zero place is an absent argument.
type place struct {
	block        *block
	offset, size uint64
}

// place finds a range in a block of this device, and notes its use.
func (t *timeline) place(r backend.Range) (place, error) {
	owner, offset := r.Block()
	if owner == nil {
		return place{}, nil
	}
	b, ok := owner.(*block)
	switch {
	case !ok || b.d != t.d:
		return place{}, t.d.misuse("submit", "a block of another device")
	case b.buffer == nil:
		return place{}, t.d.misuse("submit", "a block that was freed")
	case offset > b.size || r.SizeBytes > b.size-offset:
		return place{}, t.d.misuse("submit", "%d bytes at %d of a block of %d", r.SizeBytes, offset, b.size)
	}
	if n := len(t.used); n == 0 || t.used[n-1] != b {
		t.used = append(t.used, b)
	}
	return place{b, offset, r.SizeBytes}, nil
}

// record translates the steps of a batch.
func (t *timeline) record(b *backend.Batch) error {
	r := &t.recording
	r.commands, r.buffers, r.words, r.used, r.marks = r.commands[:0], r.buffers[:0], r.words[:0], r.used[:0], 0
	for i := range b.Steps {
		if err := t.command(&b.Steps[i].Command); err != nil {
			return err
		}
	}
	return nil
}

func (t *timeline) add(c C.sjcl_command) { t.commands = append(t.commands, c) }

// command records one command. The queue runs in order, so barriers are implied.
func (t *timeline) command(c *backend.Command) error {
	switch c.Kind {
	case backend.Dispatch:
		return t.dispatch(c)
	case backend.Copy, backend.Fill:
		return t.transfer(c)
	case backend.Mark:
		t.marks++
		t.add(C.sjcl_command{kind: C.SJCL_MARK})
		return nil
	case backend.Pass:
		return t.d.fail("submit", backend.ErrUnsupported, "the %v queue does not draw", t.role)
	}
	return t.d.misuse("submit", "command %d", c.Kind)
}

// transfer records a copy or a fill. Host-visible memory of a device with its own is one end of a read or a write; a
// copy or fill that has none on the device goes through a scratch buffer.
func (t *timeline) transfer(c *backend.Command) error {
	dst, err := t.place(c.Dst)
	if err != nil {
		return err
	}
	src, err := t.place(c.Src)
	if err != nil {
		return err
	}
	fill := c.Kind == backend.Fill
	overlap := src.block == dst.block && src.offset < dst.offset+dst.size && dst.offset < src.offset+src.size
	switch {
	case dst.block == nil || dst.size == 0 || !fill && (src.size != dst.size || overlap):
		return t.d.misuse("submit", "a copy of %d bytes to %d bytes, overlapping: %v", src.size, dst.size, overlap)
	case fill && (dst.size%4 != 0 || dst.offset%4 != 0):
		return t.d.misuse("submit", "a fill of %d bytes at %d: both must be multiples of 4", dst.size, dst.offset)
	}
	fromHost, toHost := !fill && src.block.staged(), dst.block.staged()
	command := C.sjcl_command{kind: C.SJCL_COPY, dst: handle(dst.block.buffer), dst_offset: C.uint64_t(dst.offset),
		size: C.uint64_t(dst.size), value: C.uint32_t(c.Value)}
	if fill {
		command.kind = C.SJCL_FILL
	} else {
		command.src, command.src_offset = handle(src.block.buffer), C.uint64_t(src.offset)
	}
	if fromHost {
		command.kind, command.src = C.SJCL_WRITE, src.block.at()
	}
	if !toHost {
		t.add(command)
		return nil
	}
	back := command
	back.kind, back.dst = C.SJCL_READ, dst.block.at()
	if fill || fromHost {
		buffer, err := t.takeScratch(0, dst.size)
		if err != nil {
			return err
		}
		back.src, back.src_offset = handle(buffer), 0
		command.dst, command.dst_offset = back.src, 0
		t.add(command)
	}
	t.add(back)
	return nil
}

// dispatch records a kernel: its buffers, their offsets, parameters and the range of groups.
func (t *timeline) dispatch(c *backend.Command) error {
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
	case !d.info.Queues[t.role].Computes:
		return &backend.OpError{Op: "submit", Kernel: p.spec.Name, Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: "the " + t.role.String() + " queue does not compute"}
	case c.EndGroup <= c.FirstGroup:
		return nil
	}
	args := t.places[:0]
	for _, r := range c.Args {
		arg, err := t.place(r)
		if err != nil {
			return err
		}
		args = append(args, arg)
	}
	t.places = args
	shadows, err := t.shadowsOf(args)
	if err != nil {
		return err
	}
	t.stage(p.spec, args, shadows, false)
	most := mostInvocations / p.workgroup
	for first := c.FirstGroup; first < c.EndGroup; {
		groups := min(most, c.EndGroup-first)
		t.arguments(p, args, shadows, c.Params, first, first+groups)
		first += groups
	}
	t.stage(p.spec, args, shadows, true)
	return nil
}

// arguments records one enqueued dispatch. Behind its buffers, a kernel takes a structure with a 64-bit offset for each
// of them, the parameters, and the range of groups, filled up to whole 64-bit words.
func (t *timeline) arguments(p *program, args []place, shadows []shadow, params []uint32, first, end uint32) {
	command := C.sjcl_command{kind: C.SJCL_DISPATCH, kernel: handle(p.kernel), workgroup: C.uint32_t(p.workgroup),
		groups: C.uint64_t(end - first), buffers: C.uint32_t(len(args)), first_buffer: C.uint64_t(len(t.buffers)),
		first_word: C.uint64_t(len(t.words))}
	for _, arg := range args {
		buffer, offset := (*cl.MemObject)(nil), arg.offset
		if arg.block != nil {
			buffer = arg.block.buffer
		}
		if s := find(shadows, arg); s != nil {
			buffer, offset = s.buffer, arg.offset-s.begin
		}
		t.buffers = append(t.buffers, handle(buffer))
		t.words = append(t.words, C.uint32_t(offset), C.uint32_t(offset>>32))
	}
	for _, param := range params {
		t.words = append(t.words, C.uint32_t(param))
	}
	t.words = append(t.words, C.uint32_t(first), C.uint32_t(end))
	if len(args) > 0 && len(params)%2 != 0 {
		t.words = append(t.words, 0)
	}
	command.word_count = C.uint32_t(len(t.words)) - C.uint32_t(command.first_word)
	t.add(command)
}
