package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// keptTimes is the number of completed batches per queue whose times are kept until somebody asks.
const keptTimes = 4096

// Driver is an open logical device of the host. It implements backend.Driver, backend.SharedMemory,
// backend.PeerExchange and backend.PeerMemory.
type Driver struct {
	backend *Backend
	index   int
	info    *backend.DeviceInfo
	epoch   time.Time
	joined  atomic.Bool // device-local blocks can be copied directly
	stopped atomic.Bool // closed or lost: running commands end at the next group
	queues  sync.WaitGroup

	mu       sync.Mutex
	changed  sync.Cond // something below changed
	lines    [backend.Roles]timeline
	blocks   map[*block]struct{}
	lost     error
	closed   bool
	shuffler *shuffler // nil in plain mode
}

// timeline is the state of one queue.
type timeline struct {
	pending   []*batch // submitted, not completed; the first may be running
	submitted uint64
	completed uint64
	times     map[uint64][]time.Duration
}

var (
	_ backend.Driver       = (*Driver)(nil)
	_ backend.SharedMemory = (*Driver)(nil)
	_ backend.PeerExchange = (*Driver)(nil)
	_ backend.PeerMemory   = (*Driver)(nil)
	_ backend.Clock        = (*Driver)(nil)
)

func newDriver(b *Backend, index int) *Driver {
	d := &Driver{backend: b, index: index, info: b.infoNow(index), epoch: time.Now(), blocks: make(map[*block]struct{})}
	d.changed.L = &d.mu
	for role := range d.lines {
		d.lines[role].times = make(map[uint64][]time.Duration)
	}
	if b.options.Shuffle != 0 {
		d.shuffler = newShuffler(d, b.options.Shuffle)
		d.queues.Go(d.shuffler.serve)
		return d
	}
	for role := range backend.Graphics {
		d.queues.Go(func() { d.serve(role) })
	}
	return d
}

// Info describes the device; the budget is that at Open.
func (d *Driver) Info() *backend.DeviceInfo { return d.info }

// program implements backend.Program.
type program struct {
	driver    *Driver
	spec      *backend.KernelSpec
	config    backend.Config
	reference backend.Reference
}

// Compile implements backend.Driver. A kernel without a reference is ErrUnsupported; arguments and parameters beyond
// Limits.MaxArgumentBytes and workgroups beyond Limits.MaxInvocations are ErrLimit, as on any device.
func (d *Driver) Compile(spec *backend.KernelSpec, config backend.Config) (backend.Program, error) {
	if err := d.usable("compile"); err != nil {
		return nil, err
	}
	fail := func(err error, format string, a ...any) error {
		return &backend.OpError{Op: "compile", Device: d.info.ID, Kernel: spec.Name, Err: err,
			Detail: fmt.Sprintf(format, a...)}
	}
	full, err := spec.Complete(config)
	if err != nil {
		return nil, err
	}
	limits := &d.info.Limits
	words := 2*len(spec.Args) + len(spec.Params) + 2 // addresses, parameters, range of workgroups
	switch {
	case spec.Reference == nil:
		return nil, fail(backend.ErrUnsupported, "the catalogue has no reference for it")
	case uint64(words)*4 > uint64(limits.MaxArgumentBytes):
		return nil, fail(backend.ErrLimit, "%d bytes of arguments, the device allows %d", words*4,
			limits.MaxArgumentBytes)
	case full["workgroup"] > limits.MaxInvocations:
		return nil, fail(backend.ErrLimit, "workgroup of %d, the device allows %d", full["workgroup"],
			limits.MaxInvocations)
	case slices.ContainsFunc(spec.Constants,
		func(c backend.Constant) bool { return c.Name == "workgroup" && full["workgroup"] == 0 }):
		return nil, fail(backend.ErrInvalidInput, "a workgroup of no invocations")
	case d.backend.faults.compile(&d.backend.options.Faults):
		return nil, fail(backend.ErrHostMemory, "injected fault")
	}
	return &program{driver: d, spec: spec, config: full, reference: spec.Reference(full)}, nil
}

// Submit implements backend.Driver.
func (d *Driver) Submit(b *backend.Batch) error {
	if err := d.checkRole("submit", b.Role); err != nil {
		return err
	}
	prepared, err := d.prepare(b)
	if err != nil {
		return err
	}
	lose, hang := d.backend.faults.submit(&d.backend.options.Faults)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usableLocked("submit"); err != nil {
		return err
	}
	line := &d.lines[b.Role]
	if b.Signal != line.submitted+1 {
		return d.fail("submit", backend.ErrInvalidInput, "%v batch signals %d after %d", b.Role, b.Signal,
			line.submitted)
	}
	for _, w := range b.Waits {
		if w.Role >= backend.Roles || w.Role == b.Role || w.Value > d.lines[w.Role].submitted {
			return d.fail("submit", backend.ErrInvalidInput, "waits for point %d of role %d, which was not submitted",
				w.Value, w.Role)
		}
	}
	if lose {
		d.loseLocked(d.fail("submit", backend.ErrDeviceLost, "injected fault"))
		return d.lost
	}
	prepared.hang = hang
	line.submitted = b.Signal
	line.pending = append(line.pending, prepared)
	d.changed.Broadcast()
	return nil
}

// serve runs the batches of one queue in order.
func (d *Driver) serve(role backend.Role) {
	line := &d.lines[role]
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		for !d.stopped.Load() && (len(line.pending) == 0 || !d.mayRun(line.pending[0])) {
			d.changed.Wait()
		}
		if d.stopped.Load() {
			return
		}
		b := line.pending[0]
		if err := d.guarded(b, func() error { return d.run(b) }); err != nil {
			d.loseLocked(err)
		}
		if d.stopped.Load() { // perhaps in the middle of the batch
			return
		}
		d.completeLocked(role, b)
	}
}

// guarded runs a part of a batch with the lock given up, its blocks kept from being unmapped meanwhile.
func (d *Driver) guarded(b *batch, run func() error) error {
	for _, used := range b.blocks {
		if used.freed.Load() {
			return d.fail("run", backend.ErrDeviceLost,
				"a block of %d bytes was freed before the batch that uses it ran", used.SizeBytes())
		}
	}
	for _, used := range b.blocks {
		used.users++
	}
	d.mu.Unlock()
	err := run()
	d.mu.Lock()
	for _, used := range b.blocks {
		used.users--
	}
	d.changed.Broadcast()
	return err
}

// completeLocked signals the first pending batch of a queue.
func (d *Driver) completeLocked(role backend.Role, b *batch) {
	line := &d.lines[role]
	line.pending[0] = nil
	line.pending = line.pending[1:]
	line.completed = b.signal
	for _, r := range b.raises {
		r.Semaphore.(*semaphore).raiseLocked(r.Value)
	}
	line.times[b.signal] = b.times
	delete(line.times, b.signal-keptTimes)
	d.changed.Broadcast()
}

// mayRun reports whether a batch, the first of its queue, may start.
func (d *Driver) mayRun(b *batch) bool { return !b.hang && d.passed(b.waits) && d.reached(b.awaits) }

func (d *Driver) passed(points []backend.QueuePoint) bool {
	for _, p := range points {
		if d.lines[p.Role].completed < p.Value {
			return false
		}
	}
	return true
}

// loseLocked marks the device lost for good; what was pending never completes.
func (d *Driver) loseLocked(err error) {
	if d.lost == nil {
		d.lost = err
	}
	d.stopped.Store(true)
	d.changed.Broadcast()
}

// Wait implements backend.Driver. A limit of 0 polls without waiting. When ctx ends, it returns backend.ContextError,
// and the batch continues.
func (d *Driver) Wait(ctx context.Context, role backend.Role, value uint64, limit time.Duration) error {
	if err := d.checkRole("wait", role); err != nil {
		return err
	}
	deadline := time.Now().Add(limit)
	d.mu.Lock()
	defer d.mu.Unlock()
	line := &d.lines[role]
	armed := false
	for {
		switch {
		case d.closed:
			return d.failClosed("wait")
		case line.completed >= value:
			return nil
		case d.lost != nil:
			return d.lost
		case ctx.Err() != nil:
			return backend.ContextError(ctx)
		case !time.Now().Before(deadline):
			return d.fail("wait", backend.ErrTimedOut, "%v queue at %d of %d after the limit of %v", role,
				line.completed, value, limit)
		}
		if !armed {
			armed = true
			defer context.AfterFunc(ctx, d.wake)()
			defer time.AfterFunc(limit, d.wake).Stop()
			if d.shuffler != nil {
				defer d.shuffler.demandLocked(role, value)()
			}
		}
		d.changed.Wait()
	}
}

// Completed implements backend.Driver.
func (d *Driver) Completed(role backend.Role) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.checkRole("query", role); err != nil {
		return 0, err
	}
	if d.shuffler != nil {
		d.shuffler.pollLocked()
	}
	if d.closed {
		return 0, d.failClosed("query")
	}
	return d.lines[role].completed, d.lost
}

// Times implements backend.Driver; times are durations since Open. They are kept for the last 4,096 batches of a queue.
func (d *Driver) Times(role backend.Role, value uint64) (times []time.Duration, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if role >= backend.Roles || d.closed {
		return nil, false
	}
	times, ok = d.lines[role].times[value]
	delete(d.lines[role].times, value)
	return times, ok
}

// Compare implements backend.Clock: the device has the clock of the host, from Open on.
func (d *Driver) Compare() (device time.Duration, host time.Time, deviation time.Duration, ok bool) {
	return 0, d.epoch, 0, true
}

// Close implements backend.Driver. It waits for submitted work for up to Options.CloseLimit, then stops it and returns
// ErrTimedOut. A lost device is reported here too, and blocks that were not freed as ErrInvalidInput; these stay valid
// until they are freed. A second Close does nothing.
func (d *Driver) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	deadline := time.Now().Add(d.backend.options.CloseLimit)
	err := d.drainLocked(deadline)
	d.closed = true
	d.stopped.Store(true)
	d.changed.Broadcast()
	if leaks := d.leaks(); leaks != "" {
		err = errors.Join(err, d.fail("close", backend.ErrInvalidInput, "not freed: %s", leaks))
	}
	d.mu.Unlock()

	// A reference that never ends cannot be stopped; its goroutine is left behind rather than Close.
	ended := make(chan struct{})
	go func() {
		d.queues.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(max(time.Until(deadline), time.Second)):
		err = errors.Join(err, d.fail("close", backend.ErrTimedOut, "a kernel does not end"))
	}
	d.backend.mu.Lock()
	defer d.backend.mu.Unlock()
	d.backend.drivers--
	return err
}

// drainLocked waits until nothing is pending.
func (d *Driver) drainLocked(deadline time.Time) error {
	for role := range backend.Roles {
		line := &d.lines[role]
		if d.shuffler != nil {
			defer d.shuffler.demandLocked(role, line.submitted)()
		}
		if !d.untilLocked(deadline, func() bool { return d.lost != nil || line.completed == line.submitted }) {
			return d.fail("close", backend.ErrTimedOut, "%v queue at %d of %d after the limit of %v",
				role, line.completed, line.submitted, d.backend.options.CloseLimit)
		}
	}
	return d.lost
}

func (d *Driver) usable(op string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.usableLocked(op)
}

func (d *Driver) usableLocked(op string) error {
	if d.closed {
		return d.failClosed(op)
	}
	return d.lost
}

func (d *Driver) checkRole(op string, role backend.Role) error {
	switch {
	case role >= backend.Roles:
		return d.fail(op, backend.ErrInvalidInput, "role %d", role)
	case role == backend.Graphics:
		return d.fail(op, backend.ErrUnsupported, "the device has no %v queue", role)
	}
	return nil
}

func (d *Driver) failClosed(op string) error {
	return d.fail(op, backend.ErrInvalidInput, "the device was closed")
}

func (d *Driver) fail(op string, err error, format string, a ...any) error {
	return &backend.OpError{Op: op, Device: d.info.ID, Err: err, Detail: fmt.Sprintf(format, a...)}
}
