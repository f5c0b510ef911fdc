package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// DeviceOptions are the limits of a [Device]; zero values mean the defaults.
type DeviceOptions struct {
	DeviceMemoryBytes uint64        // hard cap of device-local memory; default 80% of the budget of the device
	HostMemoryBytes   uint64        // hard cap of host-visible and imported memory; default a quarter of the device cap, at least 256 MiB
	WaitLimit         time.Duration // the longest that one wait may take; default 60 s
	SubmitBound       time.Duration // predicted device time of one submission; default 50 ms
}

// maxInFlight is the number of unfinished submissions per queue at which Submit waits: enough to keep the device busy, few
// enough that a cancelled query is over after a few times SubmitBound.
const maxInFlight = 4

// Device is an open device as algorithms see it. Its methods may be called from several goroutines; lists submitted to one
// queue by one goroutine keep their order.
type Device struct {
	driver  Driver
	info    DeviceInfo
	options DeviceOptions

	submitMu sync.Mutex // held while a batch is built and handed to the driver
	staging  [Roles]staging

	mu       sync.Mutex // guards what follows
	arenas   [2]arena   // by Memory
	imported []*Buffer
	hazards  *hazardTracker
	pacer    pacer
	next     [Roles]uint64 // value of the last batch submitted
	flights  [Roles][]flight
	kernels  map[string]*Kernel
	live     map[*Buffer]struct{}
	pending  []*Buffer // released, perhaps still in use
	misuse   []string
	failed   error // sticky: the device is lost or closed
}

// flight is a submitted batch whose times were not collected yet.
type flight struct {
	value     uint64
	commands  []Command
	stage     string // that the batch starts in
	profile   *Profile
	submitted time.Time
}

// NewDevice takes ownership of a driver.
func NewDevice(driver Driver, options DeviceOptions) *Device {
	info := *driver.Info()
	_, budget := info.MemoryBytes()
	if options.DeviceMemoryBytes == 0 {
		options.DeviceMemoryBytes = budget / 5 * 4
	}
	if options.HostMemoryBytes == 0 {
		options.HostMemoryBytes = max(options.DeviceMemoryBytes/4, 256<<20)
	}
	if options.WaitLimit == 0 {
		options.WaitLimit = time.Minute
	}
	if options.SubmitBound == 0 {
		options.SubmitBound = paceBound
	}
	guess := 50e9
	if info.CPULike() {
		guess = 1e9
	}
	d := &Device{
		driver: driver, info: info, options: options,
		hazards: newHazardTracker(),
		pacer:   pacer{bound: options.SubmitBound, firstGuess: guess, seconds: make(map[string]float64)},
		kernels: make(map[string]*Kernel),
		live:    make(map[*Buffer]struct{}),
	}
	for m, capBytes := range map[Memory]uint64{DeviceLocal: options.DeviceMemoryBytes, HostVisible: options.HostMemoryBytes} {
		d.arenas[m] = arena{
			memory: m, allocate: driver.AllocateBlock, forget: d.hazards.forget, capBytes: capBytes,
			maxBlock: min(info.Limits.MaxAllocationBytes, info.Limits.MaxBufferBytes) / ArgAlignmentBytes * ArgAlignmentBytes,
		}
	}
	return d
}

// Info describes the device.
func (d *Device) Info() *DeviceInfo { return &d.info }

// Options returns the limits in force, defaults filled in.
func (d *Device) Options() DeviceOptions { return d.options }

// Driver is the driver below, for optional capabilities by type assertion.
func (d *Device) Driver() Driver { return d.driver }

// Kernel compiles a kernel at its first use for a configuration and returns it.
func (d *Device) Kernel(spec *KernelSpec, config Config) (*Kernel, error) {
	full, err := spec.Complete(config)
	if err != nil {
		return nil, err
	}
	key := spec.Name + " " + full.String()
	d.mu.Lock()
	k, ok := d.kernels[key]
	failed := d.failed
	d.mu.Unlock()
	if ok || failed != nil {
		return k, failed
	}
	program, err := d.driver.Compile(spec, full)
	if err != nil {
		return nil, d.noteFailure(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if k, ok = d.kernels[key]; !ok {
		k = &Kernel{Spec: spec, Config: full, Program: program, key: key}
		d.kernels[key] = k
	}
	return k, nil
}

// Allocate returns an undefined buffer of at least sizeBytes (0 gives an empty one), aligned for kernel arguments. Where
// the cap or the device has no room it waits for released memory still in use; then ErrDeviceMemory or ErrHostMemory,
// naming what was asked for, what is in use and the option that changes the limit.
func (d *Device) Allocate(memory Memory, sizeBytes uint64, label string) (*Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if memory > HostVisible {
		return nil, &OpError{Op: "allocate", Device: d.info.Name, Err: ErrInvalidInput, Detail: "imported memory comes from Import"}
	}
	d.reclaim()
	a := &d.arenas[memory]
	if sizeBytes > a.maxBlock { // said by take; here so that rounding up cannot overflow
		sizeBytes = a.maxBlock/4*4 + 4
	}
	for {
		if d.failed != nil {
			return nil, d.failed
		}
		block, offset, err := a.take((sizeBytes + 3) / 4 * 4)
		if err == nil {
			b := &Buffer{device: d, label: label, sizeBytes: (sizeBytes + 3) / 4 * 4, memory: memory, block: block, offsetBytes: offset}
			d.live[b] = struct{}{}
			return b, nil
		}
		if len(d.pending) > 0 {
			d.waitPending()
			continue
		}
		before := a.blockBytes
		if trimErr := a.trim(); trimErr != nil {
			return nil, errors.Join(err, trimErr)
		}
		if a.blockBytes < before {
			continue
		}
		d.setFailed(err)
		return nil, fmt.Errorf("%q on %s: %w", label, d.info.Name, err)
	}
}

// Import makes host memory of the caller visible to the device without a copy; it stays the caller's and must stay in
// place until the buffer is released and its last use has passed. ErrUnsupported where the device cannot import it as it
// lies. [Device.Upload] and [Device.Download] recognise slices of imported memory and copy them directly.
func (d *Device) Import(memory []byte, label string) (*Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil {
		return nil, d.failed
	}
	block, err := d.driver.ImportHost(memory)
	if err != nil {
		d.setFailed(err)
		return nil, err
	}
	b := &Buffer{device: d, label: label, sizeBytes: uint64(len(memory)) / 4 * 4, memory: Imported, block: block}
	d.live[b] = struct{}{}
	d.imported = append(d.imported, b)
	return b, nil
}

// Submit hands a list to a queue and returns the point that passes when all of it is done. Barriers, waits for other
// queues and the division into submissions are decided here. Submit itself blocks only while too many earlier submissions
// of the queue are unfinished. When it fails or ctx ends, a part of the list may have been submitted.
func (d *Device) Submit(ctx context.Context, role Role, list *List) (Point, error) {
	d.mu.Lock()
	for i := range list.Commands {
		if err := list.Commands[i].validate(d); err != nil {
			d.mu.Unlock()
			return Point{}, err
		}
	}
	pieces := d.pacer.split(list.Commands)
	point := Point{role, d.next[role]}
	d.mu.Unlock()

	stage := ""
	for _, commands := range pieces {
		if err := d.throttle(ctx, role); err != nil {
			return point, err
		}
		var err error
		if point, err = d.submitOne(role, commands, stage, list.Profile); err != nil {
			return point, err
		}
		for _, c := range commands {
			if c.Kind == Mark {
				stage = c.Label
			}
		}
	}
	return point, nil
}

// throttle waits until the queue has room for another submission.
func (d *Device) throttle(ctx context.Context, role Role) error {
	for {
		if err := ctx.Err(); err != nil {
			return ContextError(ctx)
		}
		d.mu.Lock()
		var oldest uint64
		if n := len(d.flights[role]); n >= maxInFlight {
			oldest = d.flights[role][n-maxInFlight].value
		}
		d.mu.Unlock()
		if oldest == 0 {
			return nil
		}
		if err := d.Wait(ctx, Point{role, oldest}); err != nil {
			return err
		}
	}
}

// submitOne places barriers and waits and hands one batch to the driver.
func (d *Device) submitOne(role Role, commands []Command, stage string, profile *Profile) (Point, error) {
	d.submitMu.Lock()
	defer d.submitMu.Unlock()
	d.mu.Lock()
	if d.failed != nil {
		d.mu.Unlock()
		return Point{}, d.failed
	}
	value := d.next[role] + 1
	batch := &Batch{Role: role, Signal: value, Steps: make([]Step, len(commands))}
	var waits [Roles]uint64
	var spans []span
	for i, c := range commands {
		spans = spans[:0]
		c.accesses(func(r Range, access Access) {
			block, offset := r.Block()
			spans = append(spans, span{block, offset, offset + r.SizeBytes, access})
			r.Buffer.uses[role] = value
		})
		barrier, w := d.hazards.need(role, value, spans)
		for r := range Roles {
			waits[r] = max(waits[r], w[r])
		}
		batch.Steps[i] = Step{Command: c, Barrier: barrier}
	}
	for r := range Roles {
		if waits[r] > 0 {
			batch.Waits = append(batch.Waits, Point{r, waits[r]})
		}
	}
	d.next[role] = value
	d.flights[role] = append(d.flights[role], flight{value, commands, stage, profile, time.Now()})
	d.mu.Unlock()
	if err := d.driver.Submit(batch); err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		// Nothing will ever signal this point, so the queue cannot go on.
		d.failed = fmt.Errorf("%w: the queue stopped: %w", ErrDeviceLost, err)
		return Point{}, err
	}
	return Point{role, value}, nil
}

// Wait blocks until the point has passed. ErrTimedOut after Options.WaitLimit, ErrCancelled when ctx ends.
func (d *Device) Wait(ctx context.Context, point Point) error {
	if point.Value == 0 {
		return nil
	}
	d.mu.Lock()
	failed := d.failed
	d.mu.Unlock()
	if failed != nil {
		return failed
	}
	if err := d.driver.Wait(ctx, point.Role, point.Value, d.options.WaitLimit); err != nil {
		return d.noteFailure(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.collect(point.Role, point.Value)
	d.reclaim()
	return nil
}

// WaitBuffer blocks until no submitted work uses the buffer, so that the host may touch its mapped memory.
func (d *Device) WaitBuffer(ctx context.Context, b *Buffer) error {
	d.mu.Lock()
	uses := b.uses
	d.mu.Unlock()
	for r := range Roles {
		if err := d.Wait(ctx, Point{r, uses[r]}); err != nil {
			return err
		}
	}
	return nil
}

// Run submits a list to the compute queue and waits for it.
func (d *Device) Run(ctx context.Context, list *List) error {
	point, err := d.Submit(ctx, Compute, list)
	if err != nil {
		return err
	}
	return d.Wait(ctx, point)
}

// collect reads the times of the batches up to value: stages go to their profiles, rates to the pacer.
func (d *Device) collect(role Role, value uint64) {
	n := 0
	for _, f := range d.flights[role] {
		if f.value > value {
			break
		}
		n++
		times, ok := d.driver.Times(role, f.value)
		if !ok || len(times) < 2 {
			d.pacer.measured(f.commands, time.Since(f.submitted))
			continue
		}
		d.pacer.measured(f.commands, times[len(times)-1]-times[0])
		stage, at := f.stage, 0
		for _, c := range f.commands {
			if c.Kind == Mark && at+2 < len(times) {
				f.profile.addNamed(stage, times[at+1]-times[at])
				stage, at = c.Label, at+1
			}
		}
		f.profile.addNamed(stage, times[len(times)-1]-times[at])
	}
	d.flights[role] = slices.Delete(d.flights[role], 0, n)
}

func (p *Profile) addNamed(stage string, took time.Duration) {
	if stage != "" {
		p.Add(stage, took)
	}
}

// reclaim returns the ranges of released buffers whose last use has passed.
func (d *Device) reclaim() {
	if len(d.pending) == 0 {
		return
	}
	var completed [Roles]uint64
	for r := range Roles {
		completed[r], _ = d.driver.Completed(r) // on failure nothing has passed; the failure shows at the next wait
	}
	d.pending = slices.DeleteFunc(d.pending, func(b *Buffer) bool {
		for r := range Roles {
			if b.uses[r] > completed[r] && d.failed == nil {
				return false
			}
		}
		if b.memory != Imported {
			d.arenas[b.memory].give(b.block, b.offsetBytes, b.sizeBytes)
			return true
		}
		d.imported = slices.DeleteFunc(d.imported, func(i *Buffer) bool { return i == b })
		d.hazards.forget(b.block)
		if err := b.block.Free(); err != nil {
			d.misuse = append(d.misuse, fmt.Sprintf("freeing %q: %v", b.label, err))
		}
		return true
	})
}

// waitPending waits, with the lock given up, until the first released buffer is free.
func (d *Device) waitPending() {
	uses := d.pending[0].uses
	d.mu.Unlock()
	var err error
	for r := range Roles {
		if uses[r] > 0 && err == nil {
			err = d.driver.Wait(context.Background(), r, uses[r], d.options.WaitLimit)
		}
	}
	d.mu.Lock()
	if err != nil && d.failed == nil {
		d.failed = err
	}
	d.reclaim()
}

func (d *Device) noteFailure(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setFailed(err)
	return err
}

// setFailed makes the loss of the device sticky.
func (d *Device) setFailed(err error) {
	if errors.Is(err, ErrDeviceLost) && d.failed == nil {
		d.failed = err
	}
}

// SuppressHazards is for tests of the tests: whenever a command needs a barrier or a wait, suppress is asked, and when it
// returns true neither is placed.
func (d *Device) SuppressHazards(suppress func() bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hazards.suppress = suppress
}

// MemoryUse is the account of one kind of memory, in bytes.
type MemoryUse struct {
	InUse, Peak, Blocks, Cap uint64
}

// MemoryUse returns the account of device-local or host-visible memory; ResetPeak starts Peak anew.
func (d *Device) MemoryUse(memory Memory) MemoryUse {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reclaim()
	a := &d.arenas[memory]
	return MemoryUse{a.usedBytes, a.peakBytes, a.blockBytes, a.capBytes}
}

// ResetPeak sets the peak of both kinds of memory to what is in use now.
func (d *Device) ResetPeak() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for m := range d.arenas {
		d.arenas[m].peakBytes = d.arenas[m].usedBytes
	}
}

// Close waits for submitted work and closes the driver. Buffers that were not released, or released twice, are an error
// that names them.
func (d *Device) Close() error {
	var errs []error
	d.mu.Lock()
	points, failed := d.next, d.failed
	d.mu.Unlock()
	for r := range Roles {
		if failed == nil {
			errs = append(errs, d.Wait(context.Background(), Point{r, points[r]}))
		}
	}
	// Where a wait ran out, the work will not end either: drivers make a device that hangs a lost one, whose memory may go.
	errs = append(errs, d.freeAll()...)
	errs = append(errs, d.driver.Close())
	return errors.Join(errs...)
}

// freeAll gives all memory back to the driver and reports what was not released as it should have been.
func (d *Device) freeAll() (errs []error) {
	for r := range d.staging {
		d.staging[r].release()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = &OpError{Op: "use", Device: d.info.Name, Err: ErrInvalidInput, Detail: "the device was closed"}
	}
	var problems []string
	for b := range d.live {
		problems = append(problems, fmt.Sprintf("%q (%d bytes)", b.label, b.sizeBytes))
		b.released.Store(true)
		d.pending = append(d.pending, b)
	}
	clear(d.live)
	d.reclaim()
	for m := range d.arenas {
		errs = append(errs, d.arenas[m].trim())
	}
	slices.Sort(problems)
	if problems = append(problems, d.misuse...); len(problems) > 0 {
		errs = append(errs, &OpError{Op: "close", Device: d.info.Name, Err: ErrInvalidInput, Detail: "buffers not released properly: " + strings.Join(problems, ", ")})
	}
	return errs
}

// ContextError is the error of an ended context: ErrTimedOut for a deadline, otherwise ErrCancelled, with the cause.
func ContextError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrTimedOut, context.Cause(ctx))
	}
	return fmt.Errorf("%w: %w", ErrCancelled, context.Cause(ctx))
}
