package vulkan

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// queue is a VkQueue, which several roles may share.
type queue struct {
	mu     sync.Mutex // held while submitting
	handle vk.Queue
}

// timeline is the in-order queue of a role, or of other work that is waited for: a queue of the device and a timeline
// semaphore. The semaphore has the value of the last batch that is done.
type timeline struct {
	d          *driver
	name       string // of its role, for errors
	queue      *queue
	family     uint32
	semaphore  vk.Semaphore
	computes   bool
	draws      bool    // passes of the rasterizer
	tickMask   uint64  // of valid bits of a time stamp; 0: the queue has none
	nanosecond float64 // of a tick

	mu        sync.Mutex // guards what follows
	submitted uint64
	flying    []*recording // in the order of their values
	idle      []*recording
	ticks     map[uint64][]uint64 // of done batches, until asked for
}

// recording is a command buffer with its time stamps.
type recording struct {
	pool     vk.CommandPool
	commands vk.CommandBuffer
	queries  vk.QueryPool
	capacity uint32 // of queries
	stamps   uint32 // written by the batch
	value    uint64 // that the batch signals
	// push constants while recording; kept here because memory that C sees cannot lie on the stack
	words [maxPushWords]C.uint32_t
	drawing
}

// keptTimes is the number of batches whose times are kept for someone to ask.
const keptTimes = 1024

func newTimeline(d *driver, name string, q *queue, index uint32) (*timeline, error) {
	f := d.p.families[index]
	t := &timeline{d: d, name: name, queue: q, family: index, computes: f.flags&queueCompute != 0,
		nanosecond: d.p.tickNanoseconds, ticks: make(map[uint64][]uint64)}
	if d.p.features&C.SJ_HOST_QUERY_RESET != 0 && f.timestampBits > 0 {
		t.tickMask = ^uint64(0) >> (64 - f.timestampBits)
	}
	var semaphore C.uint64_t
	r := result(C.sj_create_timeline(d.shim, &semaphore))
	t.semaphore = handleOf[vk.Semaphore](semaphore)
	return t, d.check(r, "open", "making the %s timeline", name)
}

// newRecording makes a command buffer.
func (t *timeline) newRecording() (*recording, error) {
	d := t.d
	r := &recording{}
	pool := vk.CommandPoolCreateInfo{SType: vk.StructureTypeCommandPoolCreateInfo, QueueFamilyIndex: t.family}
	var poolHandle vk.CommandPool
	err := d.check(result(vk.CreateCommandPool(d.device, &pool, nil, &poolHandle)), "submit", "making a command pool")
	pool.Free()
	if err != nil {
		return nil, err
	}
	r.pool = poolHandle
	info := vk.CommandBufferAllocateInfo{SType: vk.StructureTypeCommandBufferAllocateInfo, CommandPool: r.pool,
		CommandBufferCount: 1}
	handles := make([]vk.CommandBuffer, 1)
	err = d.check(result(vk.AllocateCommandBuffers(d.device, &info, handles)), "submit", "making a command buffer")
	info.Free()
	if err != nil {
		t.discard(r)
		return nil, err
	}
	r.commands = handles[0]
	return r, nil
}

// reserve makes room for a number of time stamps and clears them.
func (t *timeline) reserve(r *recording, stamps uint32) error {
	if r.capacity < stamps {
		vk.DestroyQueryPool(t.d.device, r.queries, nil)
		r.queries, r.capacity = vk.NullQueryPool, 0
		capacity := max(stamps, 16)
		info := vk.QueryPoolCreateInfo{SType: vk.StructureTypeQueryPoolCreateInfo, QueryType: vk.QueryTypeTimestamp,
			QueryCount: capacity}
		var queries vk.QueryPool
		err := t.d.check(result(vk.CreateQueryPool(t.d.device, &info, nil, &queries)), "submit",
			"making %d time stamps", capacity)
		info.Free()
		if err != nil {
			return err
		}
		r.queries, r.capacity = queries, capacity
	}
	C.sj_reset_queries(t.d.shim, raw(r.queries), C.uint32_t(stamps))
	return nil
}

func (t *timeline) discard(r *recording) {
	r.endDraws(t.d)
	vk.DestroyQueryPool(t.d.device, r.queries, nil)
	vk.DestroyCommandPool(t.d.device, r.pool, nil)
}

// take returns a recording that is not in use, with a command buffer in its initial state.
func (t *timeline) take() (*recording, error) {
	done, err := t.completed()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.harvest(done)
	var r *recording
	if n := len(t.idle); n > 0 {
		r = t.idle[n-1]
		t.idle = t.idle[:n-1]
	}
	t.mu.Unlock()
	if r == nil {
		return t.newRecording()
	}
	if err := t.d.check(result(vk.ResetCommandPool(t.d.device, r.pool, 0)), "submit",
		"resetting a command pool"); err != nil {
		t.discard(r)
		return nil, err
	}
	return r, nil
}

// harvest collects the time stamps of the batches up to done and makes their recordings idle. t.mu is held.
func (t *timeline) harvest(done uint64) {
	n := 0
	for ; n < len(t.flying) && t.flying[n].value <= done; n++ {
		r := t.flying[n]
		if r.stamps > 0 {
			ticks := make([]uint64, r.stamps)
			if result(C.sj_query_results(t.d.shim, raw(r.queries), C.uint32_t(r.stamps),
				(*C.uint64_t)(unsafe.Pointer(&ticks[0])))) == success {
				t.ticks[r.value] = ticks
			}
			delete(t.ticks, r.value-keptTimes)
		}
		r.endDraws(t.d)
		t.idle = append(t.idle, r)
	}
	t.flying = append(t.flying[:0], t.flying[n:]...)
}

// completed returns the value that the timeline has reached.
func (t *timeline) completed() (uint64, error) {
	var value C.uint64_t
	r := result(C.sj_timeline_value(t.d.shim, raw(t.semaphore), &value))
	return uint64(value), t.d.check(r, "query", "the %s timeline", t.name)
}

// slice is the longest that one call to the driver waits, so that a cancelled wait returns soon.
const slice = 10 * time.Millisecond

// await waits once, for at most limit; false when the time is over.
func (t *timeline) await(value uint64, limit time.Duration) (bool, error) {
	r := result(C.sj_wait(t.d.shim, raw(t.semaphore), C.uint64_t(value), C.uint64_t(max(limit, 0))))
	return r == success, t.d.check(r, "wait", "for %s batch %d", t.name, value)
}

// drain waits for everything submitted; the caller holds the device. On a lost device, waits end by themselves.
func (t *timeline) drain(limit time.Duration) error {
	if t == nil {
		return nil
	}
	reached, err := t.await(t.last(), limit)
	switch {
	case t.d.lost.Load() != nil:
		return nil
	case err == nil && !reached:
		err = &backend.OpError{Op: "close", Device: t.d.info.Name, Err: backend.ErrTimedOut,
			Detail: "work on the " + t.name + " queue does not end; the device is left open"}
	}
	return err
}

func (t *timeline) destroy() {
	if t == nil {
		return
	}
	for _, r := range append(t.flying, t.idle...) {
		t.discard(r)
	}
	vk.DestroySemaphore(t.d.device, t.semaphore, nil)
}

func (d *driver) line(op string, role backend.Role) (*timeline, error) {
	if role >= backend.Roles {
		return nil, d.misuse(op, "queue %d", role)
	}
	if d.lines[role] == nil {
		return nil, &backend.OpError{Op: op, Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: fmt.Sprintf("the device has no %v queue", role)}
	}
	return d.lines[role], nil
}

// Completed implements [backend.Driver].
func (d *driver) Completed(role backend.Role) (uint64, error) {
	t, err := d.line("query", role)
	if err != nil {
		return 0, err
	}
	if err := d.enter("query"); err != nil {
		return 0, err
	}
	defer d.leave()
	return t.completed()
}

// Wait implements [backend.Driver]; with a limit of 0 or less it only looks.
func (d *driver) Wait(ctx context.Context, role backend.Role, value uint64, limit time.Duration) error {
	t, err := d.line("wait", role)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(limit); ; {
		left := time.Until(deadline)
		reached, err := d.waitSlice(t, value, min(left, slice))
		switch {
		case err != nil || reached:
			return err
		case ctx.Err() != nil:
			return &backend.OpError{Op: "wait", Device: d.info.Name, Err: backend.ContextError(ctx)}
		case left <= 0:
			return d.overdue(t, value, limit)
		}
	}
}

func (d *driver) waitSlice(t *timeline, value uint64, limit time.Duration) (bool, error) {
	if err := d.enter("wait"); err != nil {
		return false, err
	}
	defer d.leave()
	return t.await(value, limit)
}

// Times implements [backend.Driver]. ok is false where the queue has no timestamps, for a batch that is not done or was
// queried before, and for one followed by more than 1024 others.
func (d *driver) Times(role backend.Role, value uint64) (times []time.Duration, ok bool) {
	t, err := d.line("query", role)
	if err != nil || d.enter("query") != nil {
		return nil, false
	}
	defer d.leave()
	done, err := t.completed()
	if err != nil {
		return nil, false
	}
	t.mu.Lock()
	t.harvest(done)
	ticks, ok := t.ticks[value]
	delete(t.ticks, value)
	t.mu.Unlock()
	return t.durations(ticks), ok
}

// durations converts the time stamps of a batch, whose counter may wrap once.
func (t *timeline) durations(ticks []uint64) (times []time.Duration) {
	for i, tick := range ticks {
		tick &= t.tickMask
		if i > 0 && tick < ticks[0]&t.tickMask {
			tick += t.tickMask + 1
		}
		at := time.Duration(tick)
		if t.nanosecond != 1 { // exact where it can be: nanoseconds of a clock exceed the precision of a float64
			at = time.Duration(float64(tick) * t.nanosecond)
		}
		times = append(times, at)
	}
	return times
}
