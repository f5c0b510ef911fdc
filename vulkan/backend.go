// Package vulkan is the backend for Vulkan 1.2 and later. Kernels receive their buffers as device addresses in push
// constants, without descriptor sets; queues signal timeline semaphores.
//
// The core API is called through the Go binding. Functions that the binding lacks, and calls whose slice arguments it
// may free while the driver still reads them, go through a C shim, which declares the few structures that it needs;
// neither a Vulkan development package nor a linked Vulkan library is required.
package vulkan

import (
	"errors"
	"fmt"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Options configure a Backend; the zero value is the default.
type Options struct {
	Validation Validation
	// called immediately with each message, on any thread and inside a Vulkan call; must not use the backend; may be
	// nil
	Sink func(Message)
	// directory of compiled pipelines; default: spirjoin/pipelines in the user's cache directory; "off": they are not
	// kept
	CacheDir string
	AppName  string // reported to the driver; default "spirjoin"
	// size above which a device-local block consists of several allocations, if the device supports it; default: the
	// device's limit for one allocation
	PartBytes uint64
	Shaders   Shaders // source of the kernels; default: those embedded in package shaders
	// HostOrderedCopies makes the host wait between the queues of a device and copies of the CUDA driver, instead of
	// semaphores that both share. For tests, and drivers whose semaphores do not work.
	HostOrderedCopies bool
	// NoSubgroups opens devices as if they had no subgroup operations. For tests, and drivers whose subgroup operations
	// do not work.
	NoSubgroups bool
	// Graphics opens devices with a queue for [backend.Graphics], if they have one. Off by default: on NVIDIA, kernels
	// on a device with such a queue have half the shared memory and take up to 1.7 times as long
	// (docs/notes/2026-11-tuning.md).
	Graphics bool
}

// Shaders finds the SPIR-V of a kernel; config holds a value for each of its axes. Hash identifies all that Find may
// return. Both are called concurrently.
type Shaders interface {
	Find(spec *backend.KernelSpec, config backend.Config) ([]byte, error)
	Hash() string
}

// DrawShaders finds the SPIR-V of draws; Shaders that do not implement it have none. stage is vert or frag. Called
// concurrently.
type DrawShaders interface {
	FindDraw(spec *backend.DrawSpec, config backend.Config, stage string) ([]byte, error)
}

// Backend lists and opens Vulkan devices. Several may be open at a time if their Validation and AppName agree, because
// they share the single instance of the process.
type Backend struct {
	options  Options
	instance *instance
	mailbox  mailbox

	mu      sync.Mutex
	drivers map[*driver]struct{}
	closed  bool
}

var _ backend.Backend = (*Backend)(nil)

// New opens Vulkan. Errors: ErrNoDevice if there is no loader or no driver, ErrUnsupported if validation is requested
// but its layer is not installed, ErrInvalidInput for options that conflict with the options of an open Backend. The
// loader respects VK_DRIVER_FILES and VK_ICD_FILENAMES.
func New(options Options) (*Backend, error) {
	if options.AppName == "" {
		options.AppName = "spirjoin"
	}
	if options.Validation > GPUAssisted {
		return nil, &backend.OpError{Op: "open Vulkan", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("validation %d", options.Validation)}
	}
	if options.Shaders == nil {
		options.Shaders = embedded{}
	}
	b := &Backend{options: options, mailbox: mailbox{sink: options.Sink}, drivers: make(map[*driver]struct{})}
	subscribe(&b.mailbox)
	i, err := acquire(&options)
	if err != nil {
		unsubscribe(&b.mailbox)
		return nil, err
	}
	b.instance = i
	return b, nil
}

func (b *Backend) Name() string { return "vulkan" }

// Messages returns the messages of the validation layer since New. It may be called after Close.
func (b *Backend) Messages() []Message { return b.mailbox.all() }

// Devices lists every physical device of every driver. Sizes and budgets are current.
func (b *Backend) Devices() ([]backend.DeviceInfo, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, err := b.physicals()
	infos := make([]backend.DeviceInfo, len(found))
	for i, p := range found {
		infos[i] = p.info
	}
	return infos, err
}

func (b *Backend) physicals() ([]*physical, error) {
	if b.closed {
		return nil, &backend.OpError{Op: "list devices", Err: backend.ErrInvalidInput,
			Detail: "the Vulkan backend was closed"}
	}
	found, err := enumerate(b.instance.handle, b.options.Graphics)
	for _, p := range found {
		p.info.Subgroups = p.info.Subgroups && !b.options.NoSubgroups
	}
	return found, err
}

// Open opens a device by its ID. ErrNoDevice for an ID that is not listed, ErrUnsupported for a device that is
// unusable.
func (b *Backend) Open(id string) (backend.Driver, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, err := b.physicals()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range found {
		if p.info.ID != id {
			ids = append(ids, p.info.ID)
			continue
		}
		if p.info.Unusable != "" {
			return nil, &backend.OpError{Op: "open", Device: p.info.Name, Err: backend.ErrUnsupported,
				Detail: p.info.Unusable}
		}
		d, err := open(b, p)
		if err != nil {
			return nil, err
		}
		b.drivers[d] = struct{}{}
		return d, nil
	}
	return nil, &backend.OpError{Op: "open", Err: backend.ErrNoDevice, Detail: fmt.Sprintf("%q is not one of %q", id, ids)}
}

// Close releases the instance, if this is the last Backend. A Driver that is still open is closed and reported. Closing
// twice is harmless.
func (b *Backend) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	var open []*driver
	for d := range b.drivers {
		open = append(open, d)
	}
	b.mu.Unlock()
	var errs []error
	for _, d := range open {
		errs = append(errs, &backend.OpError{Op: "close Vulkan", Device: d.info.Name, Err: backend.ErrInvalidInput,
			Detail: "the device was not closed"}, d.Close())
	}
	if !b.idle() {
		return errors.Join(errs...) // a device that never came to rest keeps the instance
	}
	b.instance.release()
	unsubscribe(&b.mailbox)
	return errors.Join(errs...)
}

func (b *Backend) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.drivers) == 0
}

// forget drops a driver whose device is destroyed.
func (b *Backend) forget(d *driver) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.drivers, d)
}
