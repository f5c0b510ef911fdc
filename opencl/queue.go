//go:build opencl && linux

package opencl

/*
#include "shim.h"
*/
import "C"

import (
	"sync"
	"time"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
)

// keptTimes is the number of batches whose times are kept for someone to ask.
const keptTimes = 1024

// timeline is the in-order queue of a role. A goroutine waits for its batches one after the other, so that waits of
// callers can end at a limit or with their context.
type timeline struct {
	d     *driver
	role  backend.Role
	queue *cl.CommandQueue
	recording

	mu        sync.Mutex // guards what follows
	arrived   sync.Cond  // flying or ended changed
	changed   chan struct{}
	submitted uint64
	completed uint64           // without a failure up to here
	over      uint64           // ended up to here, with success or without
	flying    []flight         // in the order of their values
	failed    []unsafe.Pointer // stamps of batches that failed
	times     map[uint64][]time.Duration
	ended     bool // nothing more is submitted
}

// flight is a batch that was submitted. stamps are the events of its start, its marks and its end.
type flight struct {
	value  uint64
	stamps []unsafe.Pointer
	after  []backend.QueuePoint // of other queues
}

func (f *flight) end() unsafe.Pointer { return f.stamps[len(f.stamps)-1] }

func newTimeline(d *driver, role backend.Role) *timeline {
	t := &timeline{d: d, role: role, changed: make(chan struct{}), times: make(map[uint64][]time.Duration)}
	t.arrived.L = &t.mu
	return t
}

// collect books batches as they end, until the timeline has ended and is empty.
func (t *timeline) collect() {
	polling := C.int(0)
	if t.d.p.polling {
		polling = 1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		for len(t.flying) == 0 && !t.ended {
			t.arrived.Wait()
		}
		if len(t.flying) == 0 {
			return
		}
		f := t.flying[0]
		t.mu.Unlock()
		r := result(C.sjcl_await(f.end(), polling))
		times := stampTimes(f.stamps)
		if r != success {
			_ = t.d.lose(r, "%v batch %d", t.role, f.value)
		}
		t.settle(f.after)
		t.mu.Lock()
		t.flying = append(t.flying[:0], t.flying[1:]...)
		t.book(f, r, times)
		t.announce()
	}
}

// book notes the end of a batch. After one that failed none is complete, even if it succeeds by itself. t.mu is held.
func (t *timeline) book(f flight, r result, times []time.Duration) {
	if r != success { // PoCL 3.1 still uses an event when it has told its failure
		t.failed = append(t.failed, f.stamps...)
	} else {
		releaseEvents(f.stamps)
		if t.completed == t.over {
			t.completed = f.value
			if times != nil {
				t.times[f.value] = times
			}
			delete(t.times, f.value-keptTimes)
		}
	}
	t.over = f.value
}

// isOver tells whether a batch has ended, with success or without.
func (t *timeline) isOver(value uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over >= value
}

// settle waits until the batches that a complete one followed are booked by their queues, so that who sees its end sees
// theirs, and their times.
func (t *timeline) settle(after []backend.QueuePoint) {
	for _, w := range after {
		for {
			completed, changed := t.d.lines[w.Role].state()
			if completed >= w.Value || t.d.lostError() != nil {
				break
			}
			<-changed
		}
	}
}

// stampTimes are the device times of events; nil if the device does not tell them.
func stampTimes(stamps []unsafe.Pointer) []time.Duration {
	times := make([]time.Duration, len(stamps))
	var at C.uint64_t
	for i, stamp := range stamps {
		if C.sjcl_event_time(stamp, &at) != 0 {
			return nil
		}
		times[i] = time.Duration(at)
	}
	return times
}

// announce wakes those who wait. t.mu is held.
func (t *timeline) announce() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// state returns the value that the timeline has reached, and a channel that is closed when something changes.
func (t *timeline) state() (completed uint64, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.completed, t.changed
}

// endEvent returns the event of the end of a batch, which the caller releases; nil if the batch is done. ok is false
// for a batch that was not submitted.
func (t *timeline) endEvent(value uint64) (event unsafe.Pointer, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if value > t.submitted {
		return nil, false
	}
	for i := range t.flying {
		if t.flying[i].value == value {
			event = t.flying[i].end()
			C.sjcl_retain_event(event)
			break
		}
	}
	return event, true
}

// fly books a batch that was submitted.
func (t *timeline) fly(f flight) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.submitted = f.value
	t.flying = append(t.flying, f)
	t.arrived.Signal()
}

// end lets the goroutine of the timeline end after the last batch.
func (t *timeline) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.arrived.Signal()
}

func releaseEvents(events []unsafe.Pointer) {
	for _, event := range events {
		C.sjcl_release_event(event)
	}
}

func (t *timeline) release() {
	releaseEvents(t.failed)
	for _, s := range t.scratch {
		s.buffer.Release()
	}
	t.queue.Release()
}
