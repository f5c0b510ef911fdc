//go:build linux

package mpi

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/ebitengine/purego"
)

// driver is the goroutine that owns the library. It is locked to a thread, starts operations, and tests which have
// ended. It never waits in the library, so a rank that is silent costs it nothing but tests.
//
// Between tests that find nothing it sleeps: at first for the time that a small message takes, later longer. On
// machines with fewer cores than ranks that leaves the cores to ranks that have work, and is not slower than spinning.
type driver struct {
	*library
	communicator uintptr
	todo         chan func()
	ended        chan struct{} // closed when the goroutine ends
	failed       func(error)   // called when a test fails

	// Of the goroutine alone.
	requests []*request
	handles  []byte // of the requests, in memory outside of Go's heap
	indices  []byte // results of a test, likewise
	stopped  bool
}

// request is an operation of MPI that has begun.
type request struct {
	memory []byte // that it reads or writes: keeps it alive
	done   func(error)
	at     int // place in driver.requests; -1: it has ended
}

const (
	shortestPause = 2 * time.Microsecond
	longestPause  = 500 * time.Microsecond
)

func newDriver(l *library, failed func(error)) *driver {
	return &driver{library: l, todo: make(chan func(), 64), ended: make(chan struct{}), failed: failed}
}

// do has the goroutine call f. f must not wait. After the end of the goroutine nothing happens.
func (d *driver) do(f func()) {
	select {
	case d.todo <- f:
	case <-d.ended:
	}
}

// run calls what do asks for, and tests, until a call has set stopped.
func (d *driver) run() {
	defer close(d.ended)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	pause := shortestPause
	for !d.stopped {
		some := d.calls()
		if d.stopped {
			return
		}
		if d.test() || some {
			pause = shortestPause
			continue
		}
		timer.Reset(pause)
		select {
		case f := <-d.todo:
			f()
			pause = shortestPause
		case <-timer.C:
			pause = min(pause+shortestPause, longestPause)
		}
	}
}

// calls calls what waits.
func (d *driver) calls() (some bool) {
	for !d.stopped {
		select {
		case f := <-d.todo:
			f()
			some = true
		default:
			return some
		}
	}
	return some
}

// test calls done of the requests that have ended.
func (d *driver) test() (some bool) {
	if len(d.requests) == 0 {
		return false
	}
	err := d.call("MPI_Testsome", d.testsome, uintptr(len(d.requests)), address(d.handles), address(d.results),
		address(d.indices), d.noStatuses)
	if err != nil {
		// Which request failed is not known; all of the job counts as lost.
		d.failed(err)
		return false
	}
	count := int(d.result(0)) // negative if there is no active request
	if count <= 0 {
		return false
	}
	ended := make([]*request, count)
	for i := range ended {
		ended[i] = d.requests[binary.LittleEndian.Uint32(d.indices[4*i:])]
	}
	for _, r := range ended {
		d.remove(r)
	}
	for _, r := range ended {
		r.done(nil)
	}
	return true
}

// remove takes a request out. The last one moves to its place.
func (d *driver) remove(r *request) {
	last := len(d.requests) - 1
	moved := d.requests[last]
	copy(d.handles[r.at*d.handleBytes:], d.handles[last*d.handleBytes:][:d.handleBytes])
	d.requests[r.at], moved.at = moved, r.at
	d.requests[last] = nil
	d.requests, r.at = d.requests[:last], -1
}

// start begins an operation, to whose arguments begin adds the address of its handle, and returns its request. done is
// called when it has ended, or now if it does not begin.
func (d *driver) start(memory []byte, done func(error), begin func(handle uintptr) error) *request {
	r := &request{memory: memory, done: done, at: len(d.requests)}
	err := d.grow(len(d.requests) + 1)
	if err == nil {
		err = begin(address(d.handles[r.at*d.handleBytes:]))
	}
	if err != nil {
		r.at = -1
		done(err)
		return r
	}
	d.requests = append(d.requests, r)
	return r
}

// grow makes room for a number of requests.
func (d *driver) grow(count int) error {
	if count*d.handleBytes <= len(d.handles) {
		return nil
	}
	const least = 512
	count = max(least, 2*count)
	handles, err := pages(count * d.handleBytes)
	if err != nil {
		return err
	}
	indices, err := pages(count * 4)
	if err != nil {
		return err
	}
	copy(handles, d.handles)
	if d.handles != nil {
		free(d.handles)
		free(d.indices)
	}
	d.handles, d.indices = handles, indices
	return nil
}

// send begins to send synchronously: the operation ends when the receiver has begun to receive. Messages that nobody
// receives therefore stay here.
func (d *driver) send(memory []byte, to, tag int, done func(error)) *request {
	return d.start(memory, done, func(handle uintptr) error {
		return d.call("MPI_Issend", d.issend, address(memory), uintptr(len(memory)), d.bytes, uintptr(to), uintptr(tag),
			d.communicator, handle)
	})
}

// receive begins to receive at most as much as the memory holds.
func (d *driver) receive(memory []byte, from, tag int, done func(error)) *request {
	return d.start(memory, done, func(handle uintptr) error {
		return d.call("MPI_Irecv", d.irecv, address(memory), uintptr(len(memory)), d.bytes, uintptr(from), uintptr(tag),
			d.communicator, handle)
	})
}

// withdraw cancels receives that have not ended. done is called soon, as if they had.
func (d *driver) withdraw(receives []*request) {
	for _, r := range receives {
		if r.at >= 0 {
			_ = d.call("MPI_Cancel", d.cancel, address(d.handles[r.at*d.handleBytes:]))
		}
	}
}

// finish cancels what is still to be received, ends the library, and stops.
func (d *driver) finish() (err error) {
	d.withdraw(d.requests)
	for limit := time.Now().Add(settle); len(d.requests) > 0; runtime.Gosched() {
		for _, r := range d.requests {
			r.done = func(error) {}
		}
		if d.test(); time.Now().After(limit) {
			err = errors.New("operations of MPI do not end")
			break
		}
	}
	if err == nil {
		err = d.call("MPI_Finalize", d.finalize)
	}
	d.stopped = true
	for _, memory := range slices.Concat([][]byte{d.results}, d.owned()) {
		free(memory)
	}
	return err
}

// owned is the memory of the requests.
func (d *driver) owned() [][]byte {
	if d.handles == nil {
		return nil
	}
	return [][]byte{d.handles, d.indices}
}

// killAll ends all processes of the job with an exit code, this one too: it does not return.
func (d *driver) killAll(code int) {
	purego.SyscallN(d.abort, d.communicator, uintptr(code))
}
