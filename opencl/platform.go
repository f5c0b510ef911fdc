//go:build opencl && linux

package opencl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
)

// Built tells whether the program can use OpenCL.
const Built = true

// Backend lists and opens OpenCL devices. It is safe for concurrent use; several may be open at a time.
type Backend struct {
	options Options
	found   []*physical
	faults  faultCounters

	mu      sync.Mutex
	drivers map[*driver]struct{}
	closed  bool
}

var _ backend.Backend = (*Backend)(nil)

// New opens OpenCL and lists its devices. Errors: ErrNoDevice if there is no library, platform or device; ErrTimedOut
// if a driver does not answer in Options.ListLimit. The loader respects OCL_ICD_VENDORS.
func New(options Options) (*Backend, error) {
	options.ListLimit = cmp.Or(options.ListLimit, 20*time.Second)
	options.CloseLimit = cmp.Or(options.CloseLimit, 10*time.Second)
	b := &Backend{options: options, drivers: make(map[*driver]struct{})}
	// A broken driver may never return. Its call is left behind then.
	listed := make(chan error, 1)
	var found []*physical
	go func() {
		err := load()
		if err == nil {
			found, err = enumerate(options.Staged)
		}
		listed <- err
	}()
	select {
	case err := <-listed:
		if err != nil {
			return nil, err
		}
		b.found = found
		return b, nil
	case <-time.After(options.ListLimit):
		return nil, &backend.OpError{Op: "open OpenCL", Err: backend.ErrTimedOut, Detail: fmt.Sprintf(
			"a driver did not list its devices in %v; spirjoin doctor finds out which", options.ListLimit)}
	}
}

// guarded calls a function of the binding that panics where OpenCL returns an error.
func guarded[T any](call func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return call()
}

// enumerate describes every device of every platform, GPUs first. A platform that fails does not hide the others.
func enumerate(staged bool) (all []*physical, err error) {
	platforms, err := guarded(cl.GetPlatforms)
	if len(platforms) == 0 {
		return nil, noDevice("no OpenCL driver is installed (%v); %s", asResult(err), installHint)
	}
	var failed []error
	for _, platform := range platforms {
		name, err := guarded(func() (string, error) { return printable(platform.Name()), nil })
		var devices []*cl.Device
		if err == nil {
			devices, err = platform.GetDevices(cl.DeviceTypeAll)
		}
		if err != nil && err != cl.ErrDeviceNotFound {
			failed = append(failed, fmt.Errorf("%s: %w", name, asResult(err)))
		}
		for _, device := range devices {
			p := propertiesOf(device).describe(cmp.Or(driverNames[name], name), staged)
			p.device = device
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, noDevice("%d OpenCL platforms have no device; %v", len(platforms), errors.Join(failed...))
	}
	slices.SortStableFunc(all, func(a, b *physical) int { return cmp.Compare(a.info.Type, b.info.Type) })
	for i, p := range all {
		p.info.Index = i
	}
	identify(all)
	return all, nil
}

// Name returns "opencl".
func (b *Backend) Name() string { return "opencl" }

// Devices lists the devices of all platforms that were there at New.
func (b *Backend) Devices() ([]backend.DeviceInfo, error) {
	infos := make([]backend.DeviceInfo, len(b.found))
	for i, p := range b.found {
		infos[i] = p.info
	}
	return infos, nil
}

// Open opens a device by its ID. ErrNoDevice for an ID that is not listed, ErrUnsupported for a device that is
// unusable.
func (b *Backend) Open(id string) (backend.Driver, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, &backend.OpError{Op: "open", Device: id, Err: backend.ErrInvalidInput,
			Detail: "the OpenCL backend was closed"}
	}
	var ids []string
	for _, p := range b.found {
		switch {
		case p.info.ID != id:
			ids = append(ids, p.info.ID)
		case p.info.Unusable != "":
			return nil, &backend.OpError{Op: "open", Device: p.info.Name, Err: backend.ErrUnsupported,
				Detail: p.info.Unusable}
		default:
			d, err := open(b, p)
			if err != nil {
				return nil, err
			}
			b.drivers[d] = struct{}{}
			return d, nil
		}
	}
	return nil, &backend.OpError{Op: "open", Err: backend.ErrNoDevice, Detail: fmt.Sprintf("%q is not one of %q", id, ids)}
}

// Close closes and reports drivers that are still open. Closing twice is harmless.
func (b *Backend) Close() error {
	b.mu.Lock()
	b.closed = true
	var open []*driver
	for d := range b.drivers {
		open = append(open, d)
	}
	b.mu.Unlock()
	var errs []error
	for _, d := range open {
		errs = append(errs, &backend.OpError{Op: "close OpenCL", Device: d.info.Name, Err: backend.ErrInvalidInput,
			Detail: "the device was not closed"}, d.Close())
	}
	return errors.Join(errs...)
}

func (b *Backend) forget(d *driver) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.drivers, d)
}
