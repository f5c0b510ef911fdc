//go:build opencl && linux

package opencl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
)

// driver is one open logical device: a context with an in-order queue for each role.
type driver struct {
	backend   *Backend
	p         *physical
	info      backend.DeviceInfo
	context   *cl.Context
	lines     [backend.Graphics]*timeline
	ending    chan struct{} // closed by Close: waits return
	lost      atomic.Pointer[loss]
	enqueueMu sync.Mutex // held while a batch is enqueued, because the arguments of a kernel are part of it
	collect   sync.WaitGroup

	mu       sync.Mutex // guards what follows
	uses     int        // calls in progress, which Close waits for
	closed   bool
	unused   chan struct{} // closed when closed is set and uses is 0
	blocks   map[*block]struct{}
	bytes    uint64 // of the blocks
	programs []*program
}

var _ backend.Driver = (*driver)(nil)

// open makes a logical device. The caller registers it.
func open(b *Backend, p *physical) (*driver, error) {
	d := &driver{backend: b, p: p, info: p.info, ending: make(chan struct{}), unused: make(chan struct{}),
		blocks: make(map[*block]struct{})}
	var err error
	if d.context, err = cl.CreateContext([]*cl.Device{p.device}); err != nil {
		return nil, failure(err, "open", p.info.Name, "making a context")
	}
	for role := range backend.Graphics {
		t := newTimeline(d, role)
		if t.queue, err = d.context.CreateCommandQueue(p.device, cl.CommandQueueProfilingEnable); err != nil {
			d.destroy()
			return nil, failure(err, "open", p.info.Name, "making the %v queue", role)
		}
		d.lines[role] = t
	}
	for _, t := range d.lines {
		d.collect.Go(t.collect)
	}
	if p.info.Unified && p.info.Type != backend.Software {
		p.sharing.Do(func() {
			if p.copies = d.proveInPlace(cl.MemUseHostPtr); p.copies != nil {
				p.direct = false
			}
		})
		if p.copies != nil {
			d.stagedOnly(p.copies)
		}
	}
	if d.info.Subgroups {
		if p.proving.Do(func() { p.proof = d.prove() }); p.proof != nil {
			d.withoutSubgroups(p.proof)
		}
	}
	return d, nil
}

func (d *driver) Info() *backend.DeviceInfo { return &d.info }

// enter begins a use of the device; leave ends it. It fails when the device is closed or lost.
func (d *driver) enter(op string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return d.failClosed(op)
	}
	if err := d.lostError(); err != nil {
		return err
	}
	d.uses++
	return nil
}

func (d *driver) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.uses--; d.closed && d.uses == 0 {
		close(d.unused)
	}
}

func (d *driver) lostError() error {
	if lost := d.lost.Load(); lost != nil {
		return lost.err
	}
	return nil
}

// loss is why a device was lost.
type loss struct {
	result result
	err    error
}

// lose makes the loss of the device sticky, and returns its error. A batch that failed because it waited for another
// one says less than that other one, which may be seen later.
func (d *driver) lose(r result, format string, a ...any) error {
	this := &loss{r, d.fail("run", backend.ErrDeviceLost, "%v: %s", r, fmt.Sprintf(format, a...))}
	if !d.lost.CompareAndSwap(nil, this) && r != awaitedEventFailed {
		if first := d.lost.Load(); first.result == awaitedEventFailed {
			d.lost.CompareAndSwap(first, this)
		}
	}
	for _, t := range d.lines {
		t.mu.Lock()
		t.announce()
		t.mu.Unlock()
	}
	return d.lostError()
}

func (d *driver) fail(op string, sentinel error, format string, a ...any) error {
	return &backend.OpError{Op: op, Device: d.info.Name, Err: sentinel, Detail: fmt.Sprintf(format, a...)}
}

func (d *driver) misuse(op, format string, a ...any) error {
	return d.fail(op, backend.ErrInvalidInput, format, a...)
}

func (d *driver) failClosed(op string) error { return d.misuse(op, "the device was closed") }

func (d *driver) line(op string, role backend.Role) (*timeline, error) {
	switch {
	case role >= backend.Roles:
		return nil, d.misuse(op, "queue %d", role)
	case role >= backend.Graphics:
		return nil, d.fail(op, backend.ErrUnsupported, "the device has no %v queue", role)
	}
	return d.lines[role], nil
}

// Wait implements [backend.Driver]; with a limit of 0 or less it only looks.
func (d *driver) Wait(ctx context.Context, role backend.Role, value uint64, limit time.Duration) error {
	t, err := d.line("wait", role)
	if err != nil {
		return err
	}
	timer := time.NewTimer(max(limit, 0))
	defer timer.Stop()
	for {
		completed, changed := t.state()
		select {
		case <-d.ending:
			return d.failClosed("wait")
		default:
		}
		switch lost := d.lostError(); {
		case completed >= value:
			return nil
		case lost != nil:
			return lost
		case ctx.Err() != nil:
			return d.fail("wait", backend.ContextError(ctx), "")
		case limit <= 0:
			return d.overdue(t, value, limit)
		}
		select {
		case <-changed:
		case <-d.ending:
		case <-ctx.Done():
		case <-timer.C:
			limit = 0 // one more look
		}
	}
}

func (d *driver) overdue(t *timeline, value uint64, limit time.Duration) error {
	return d.fail("wait", backend.ErrTimedOut, "%v batch %d was not done after %v; DeviceOptions.WaitLimit changes the "+
		"limit", t.role, value, limit)
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
	completed, _ := t.state()
	return completed, nil
}

// Times implements [backend.Driver]. ok is false for a batch that is not done or was queried before, and for one
// followed by more than 1024 others.
func (d *driver) Times(role backend.Role, value uint64) (times []time.Duration, ok bool) {
	t, err := d.line("query", role)
	if err != nil || d.enter("query") != nil {
		return nil, false
	}
	defer d.leave()
	t.mu.Lock()
	defer t.mu.Unlock()
	times, ok = t.times[value]
	delete(t.times, value)
	return times, ok
}

// Close waits at most Options.CloseLimit for calls in progress and submitted work, and releases everything; blocks that
// are still allocated are freed and reported. A device that does not come to rest is left as it is and reported as
// ErrTimedOut. Closing twice is harmless.
func (d *driver) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	if d.uses == 0 {
		close(d.unused)
	}
	d.mu.Unlock()
	atRest := make(chan struct{})
	go func() {
		<-d.unused
		for _, t := range d.lines {
			t.end()
		}
		d.collect.Wait()
		close(atRest)
	}()
	timer := time.NewTimer(d.backend.options.CloseLimit)
	defer timer.Stop()
	select {
	case <-atRest:
	case <-timer.C:
		close(d.ending)
		return d.fail("close", backend.ErrTimedOut, "work does not end in %v; the device is left open",
			d.backend.options.CloseLimit)
	}
	close(d.ending)
	var errs []error
	d.mu.Lock() // Free may come at any time
	blocks := d.blocks
	d.blocks = nil
	if n := len(blocks); n > 0 {
		errs = append(errs, d.misuse("close", "%d blocks of %d bytes in all were not freed", n, d.bytes))
	}
	for b := range blocks {
		errs = append(errs, b.destroy())
	}
	d.mu.Unlock()
	d.destroy()
	d.backend.forget(d)
	return errors.Join(errs...)
}

// destroy releases everything but blocks, as far as it was made.
func (d *driver) destroy() {
	for _, p := range d.programs {
		p.release()
	}
	for _, t := range d.lines {
		if t != nil {
			t.release()
		}
	}
	d.context.Release()
}
