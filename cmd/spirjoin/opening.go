package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/vulkan"
)

// opening is a device that is being opened while tables are read.
type opening struct {
	reading context.Context // ends if the device cannot be opened
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when all that follows is known
	engine  *spirjoin.Engine
	close   func()
	err     error
	seconds float64
}

// begin begins to open the device of a join. If that fails, the returned context ends. The caller calls end.
func begin(ctx context.Context, o joinOptions) (context.Context, *opening) {
	reading, cancel := context.WithCancelCause(ctx)
	p := &opening{reading: reading, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		start := time.Now()
		p.err = exec.Protect("open device", func() (err error) {
			p.engine, p.close, err = openEngine(ctx, o)
			return err
		})
		if p.err != nil {
			cancel(p.err)
		}
		o.trace.Add("open device", start, time.Now())
		p.seconds = time.Since(start).Seconds()
	}()
	return reading, p
}

// wait returns the engine when its device is open.
func (p *opening) wait() (*spirjoin.Engine, error) {
	<-p.done
	return p.engine, p.err
}

// then calls f as soon as the device is open. finish returns when f has, or when the device could not be opened.
func (p *opening) then(f func(*spirjoin.Engine)) (finish func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if engine, err := p.wait(); err == nil {
			err = exec.Protect("prepare", func() error { f(engine); return nil })
			if err != nil {
				p.cancel(err)
			}
		}
	}()
	return func() { <-done }
}

// end closes the device. It returns what ended the command: err, or what kept the device from being opened or used,
// which is told first, as other errors may follow from it.
func (p *opening) end(err error) error {
	defer p.cancel(nil)
	if _, failed := p.wait(); failed != nil {
		return failed
	}
	p.close()
	if panicked := new(exec.PanicError); errors.As(context.Cause(p.reading), &panicked) {
		return panicked
	}
	return err
}

// hostOnly tells whether all devices are the host, so that no driver has to be looked for.
func (o *joinOptions) hostOnly() bool {
	return !slices.ContainsFunc(o.devices, func(device string) bool { return device != spirjoin.HostDevice })
}

// openEngine opens the devices. What kept a backend away is told where no device is found.
func openEngine(ctx context.Context, o joinOptions) (_ *spirjoin.Engine, closeAll func(), err error) {
	system, err := spirjoin.Discover(spirjoin.SystemOptions{HostOnly: o.hostOnly(),
		Vulkan: vulkan.Options{Graphics: o.graphics}})
	if err != nil {
		return nil, nil, err
	}
	engine, err := system.Engine(ctx, spirjoin.Options{
		Device: o.devices[0], Others: o.devices[1:], DeviceMemoryBytes: o.deviceMemoryBytes, MemoryLimitBytes: o.memoryLimitBytes,
		TempDir: o.tempDir, TempLimitBytes: o.tempLimitBytes, Trace: o.trace})
	if err != nil {
		if errors.Is(err, backend.ErrNoDevice) {
			err = errors.Join(append([]error{err}, system.Problems...)...)
		}
		return nil, nil, errors.Join(err, system.Close())
	}
	return engine, func() { _ = errors.Join(engine.Close(), system.Close()) }, nil
}
