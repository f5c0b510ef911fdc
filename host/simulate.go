package host

import "github.com/spirjoin/spirjoin/backend"

// Simulate opens a device that claims to be another one and runs the reference kernels, for rehearsals. Its user takes
// the same steps as on the device, and reads back what those kernels compute. compile is called with every kernel that
// is asked for, in any goroutine.
func Simulate(info *backend.DeviceInfo, compile func(*backend.KernelSpec, backend.Config)) (backend.Driver, error) {
	below, err := New(Options{Discrete: !info.Unified}).Open("host:cpu")
	if err != nil {
		return nil, err
	}
	return &simulated{below, info, compile}, nil
}

type simulated struct {
	backend.Driver
	info    *backend.DeviceInfo
	compile func(*backend.KernelSpec, backend.Config)
}

func (s *simulated) Info() *backend.DeviceInfo { return s.info }

func (s *simulated) Compile(spec *backend.KernelSpec, config backend.Config) (backend.Program, error) {
	s.compile(spec, config)
	return s.Driver.Compile(spec, config)
}
