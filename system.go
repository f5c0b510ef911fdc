package spirjoin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/opencl"
	"github.com/spirjoin/spirjoin/vulkan"
)

// System is the set of backends of this process and the devices that they see.
type System struct {
	Devices  []backend.DeviceInfo // of all backends, numbered in this order
	Problems []error              // why a backend is unavailable; the others work

	backends map[string]backend.Backend
	// An OpenCL driver did not return when it was loaded. It may hold the lock of the dynamic linker, for which Close
	// would wait forever.
	stuck bool
}

// SystemOptions says how the backends are opened.
type SystemOptions struct {
	// HostOnly opens only the host backend: loading the drivers of the others takes up to 100 ms and 60 MB.
	HostOnly bool
	Host     host.Options
	Vulkan   vulkan.Options
	OpenCL   opencl.Options
	// Devices are those that will be opened, in the forms of [backend.SelectDevice]. OpenCL is opened only if one of them
	// is not found without it, or is "auto" and Vulkan has no GPU. nil: every backend is opened.
	Devices []string
}

// Discover opens every backend and lists its devices. A backend that cannot be opened is reported in Problems and is
// not an error: the host backend is always available.
func Discover(options SystemOptions) (*System, error) {
	s := &System{backends: make(map[string]backend.Backend)}
	if !options.HostOnly {
		v, err := vulkan.New(options.Vulkan)
		if err := s.add("vulkan", v, err); err != nil {
			s.Problems = append(s.Problems, err)
		}
	}
	if err := s.add("host", host.New(options.Host), nil); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if !options.HostOnly && s.needsOpenCL(options.Devices) {
		o, err := opencl.New(options.OpenCL)
		err = s.add("opencl", o, err)
		s.stuck = errors.Is(err, backend.ErrTimedOut)
		if err != nil && (options.Devices != nil || !errors.Is(err, backend.ErrNoDevice)) { // which few machines have
			s.Problems = append(s.Problems, err)
		}
	}
	return s, nil
}

func (s *System) needsOpenCL(devices []string) bool {
	return devices == nil || slices.ContainsFunc(devices, func(spec string) bool {
		device, err := backend.SelectDevice(s.Devices, spec)
		return errors.Is(err, backend.ErrNoDevice) ||
			err == nil && device.Type == backend.Host && (spec == "" || spec == "auto")
	})
}

// add adds a backend, unless it could not be opened, and its devices.
func (s *System) add(name string, b backend.Backend, err error) error {
	var devices []backend.DeviceInfo
	if err == nil {
		s.backends[name] = b
		devices, err = b.Devices()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.Devices = backend.AddDevices(s.Devices, devices)
	return nil
}

// Open opens the device that spec selects; see [backend.SelectDevice] for its forms.
func (s *System) Open(ctx context.Context, spec string, options backend.DeviceOptions) (*backend.Device, error) {
	if err := ctx.Err(); err != nil {
		return nil, backend.ContextError(ctx)
	}
	info, err := backend.SelectDevice(s.Devices, spec)
	if err != nil {
		return nil, err
	}
	driver, err := s.backends[info.Backend].Open(info.ID)
	if err != nil {
		return nil, err
	}
	return backend.NewDevice(driver, options), nil
}

// Close closes the backends. All devices must be closed first.
func (s *System) Close() error {
	if s.stuck {
		return nil
	}
	var errs []error
	for _, b := range s.backends {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
