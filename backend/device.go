package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// DeviceOptions are the limits of a [Device]; zero values mean the defaults.
type DeviceOptions struct {
	DeviceMemoryBytes uint64 // hard cap of device-local memory; default 80% of the budget of the device
	// hard cap of host-visible memory, without imported memory, and of memory that is pinned for tables; default a
	// fifth of the budget of the device, or, where that is the host's memory, a quarter of the device cap; at least 256
	// MiB
	HostMemoryBytes uint64
	WaitLimit       time.Duration // the longest that one wait may take; default 60 s
	SubmitBound     time.Duration // predicted device time of one submission; default 50 ms
	// most bytes of the chunks of links, a multiple of [LeastChunkBytes]; default by path. Links of small chunks are
	// sooner made and slower.
	LinkChunkBytes uint64
}

// LeastChunkBytes is the size of the chunks of a link below which no cap brings them.
const LeastChunkBytes = 64 << 10

// Device is an open device as algorithms use it. Safe for concurrent use; lists that one goroutine submits to one queue
// run in that order.
type Device struct {
	driver  Driver
	info    DeviceInfo
	options DeviceOptions

	submitMu     sync.Mutex // held while a batch is built and handed to the driver
	drawMu       sync.Mutex // guards draws, held while one is compiled
	draws        map[drawKey]*DrawProgram
	kernels      kernels
	uploads      ring
	downloads    pair
	observer     atomic.Pointer[func(Event)]
	workObserver atomic.Pointer[func(Work)]
	transfers    atomic.Pointer[Profile]
	refusals     atomic.Int64

	mu        sync.Mutex // guards what follows
	arenas    [2]arena   // by Memory
	imports   []*hostImport
	hazards   *hazardTracker
	pacer     pacer
	next      [Roles]uint64 // value of the last batch submitted
	completed [Roles]uint64 // as of the last settle
	flights   [Roles][]flight
	live      map[holding]struct{}
	pending   []*lease // released, perhaps still in use
	misuse    []string
	failed    error // sticky: the device is lost or closed
	unjoined  error // why memory is not joined with other devices' memory; see package backend/link
}

// NewDevice takes ownership of a driver. A device that needs more than [PlanAlignment] refuses every call with
// ErrUnsupported.
func NewDevice(driver Driver, options DeviceOptions) *Device {
	info := *driver.Info()
	_, budget := info.MemoryBytes()
	if options.DeviceMemoryBytes == 0 {
		options.DeviceMemoryBytes = budget / 5 * 4
	}
	if options.HostMemoryBytes == 0 {
		options.HostMemoryBytes = max(budget/5, 256<<20)
		if info.Unified {
			options.HostMemoryBytes = max(options.DeviceMemoryBytes/4, 256<<20)
		}
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
		kernels: newKernels(),
		draws:   make(map[drawKey]*DrawProgram),
		live:    make(map[holding]struct{}),
	}
	if a := &d.info.Limits.ArgumentAlignment; *a == 0 {
		*a = PlanAlignment
	} else if PlanAlignment%*a != 0 {
		d.failed = &OpError{Op: "open", Device: info.Name, Err: ErrUnsupported, Detail: fmt.Sprintf(
			"arguments must lie at multiples of %d bytes, plans align them to %d", *a, PlanAlignment)}
	}
	d.uploads.free, d.uploads.turn = make(chan *slot, stagedPieces), make(chan struct{}, 1)
	d.downloads.turn = make(chan struct{}, 1)
	for m, capBytes := range map[Memory]uint64{DeviceLocal: options.DeviceMemoryBytes,
		HostVisible: options.HostMemoryBytes} {
		d.arenas[m] = arena{
			memory: m, allocate: d.allocateBlock, forget: func(b Block) { d.hazards.forget(b) },
			capBytes:      capBytes,
			softBytes:     capBytes,
			maxBlock:      info.Limits.BlockBytes(m) / arenaAlignment * arenaAlignment,
			maxAllocation: info.Limits.MaxAllocationBytes,
		}
	}
	return d
}

// Info describes the device.
func (d *Device) Info() *DeviceInfo { return &d.info }

// Options returns the limits in force, with defaults filled in.
func (d *Device) Options() DeviceOptions { return d.options }

// Driver returns the underlying driver, for type assertions to optional capabilities.
func (d *Device) Driver() Driver { return d.driver }

// Lost returns the error by which the device was lost; nil if it was not.
func (d *Device) Lost() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(d.failed, ErrDeviceLost) {
		return d.failed
	}
	return nil
}

// Refusals returns how often the driver had no device memory although the cap allowed it.
func (d *Device) Refusals() int64 { return d.refusals.Load() }

// NoteRefusal counts the error of an allocation if it is one, and returns it.
func (d *Device) NoteRefusal(err error) error {
	if errors.Is(err, ErrDeviceMemory) {
		d.refusals.Add(1)
	}
	return err
}

func (d *Device) allocateBlock(sizeBytes uint64, memory Memory) (Block, error) {
	block, err := d.driver.AllocateBlock(sizeBytes, memory)
	return block, d.NoteRefusal(err)
}

func (d *Device) NoteFailure(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setFailed(err)
	return err
}

// IsLoss reports whether an error is the loss of a device in use, not a wait that was cancelled because another device
// was lost.
func IsLoss(err error) bool { return errors.Is(err, ErrDeviceLost) && !errors.Is(err, ErrCancelled) }

// setFailed makes the loss of the device sticky.
func (d *Device) setFailed(err error) {
	if IsLoss(err) && d.failed == nil {
		d.failed = err
	}
}

// SuppressHazards is for tests of the tests: suppress is called whenever a command needs a barrier or a wait, and if it
// returns true, neither is placed.
func (d *Device) SuppressHazards(suppress func() bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hazards.suppress = suppress
}

// Close waits for submitted work, and for kernels that are being compiled, and closes the driver. If buffers were not
// released, or were released twice, it returns an error that names them.
func (d *Device) Close() error {
	d.kernels.closeAhead()
	var errs []error
	d.mu.Lock()
	points, failed := d.next, d.failed
	d.mu.Unlock()
	for r := range Roles {
		if failed == nil {
			errs = append(errs, d.wait(context.Background(), QueuePoint{r, points[r]}))
		}
	}
	// After a wait that timed out the work will not end either: drivers declare a hung device lost, and the memory of a
	// lost device may be freed.
	errs = append(errs, d.freeAll()...)
	errs = append(errs, d.driver.Close())
	return errors.Join(errs...)
}
