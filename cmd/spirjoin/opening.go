package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/tableio"
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
	failed  []error // to tell: drivers that were tried before the CPU was taken, ranks that have few cores
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
			var system *spirjoin.System
			p.engine, system, p.close, err = openEngine(ctx, &o)
			p.failed = o.coreWarnings
			if err == nil && slices.Contains(o.devices, "auto") && p.engine.Device().Type == backend.Host {
				p.failed = append(p.failed, failedDrivers(system.Problems)...)
			}
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
// which is reported first, as other errors may follow from it.
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

// failedDrivers are the problems of drivers that are there and do not work, or that the environment names. To have no
// driver at all is usual.
func failedDrivers(problems []error) (failed []error) {
	for _, problem := range problems {
		if !errors.Is(problem, backend.ErrNoDevice) || os.Getenv("VK_DRIVER_FILES")+os.Getenv("VK_ICD_FILENAMES") != "" {
			failed = append(failed, fmt.Errorf("the CPU is used: %w", problem))
		}
	}
	return failed
}

// openEngine opens the devices. If no device is found, the error says why each backend is missing.
func openEngine(ctx context.Context, o *joinOptions) (_ *spirjoin.Engine, system *spirjoin.System, closeAll func(),
	err error) {
	system, err = spirjoin.Discover(spirjoin.SystemOptions{HostOnly: o.hostOnly(), Devices: o.devices,
		Vulkan: vulkan.Options{Graphics: o.graphics}})
	if o.job != nil {
		err = o.chooseDevices(ctx, system, err)
	}
	if system == nil {
		return nil, nil, nil, err
	}
	if err != nil {
		return nil, nil, nil, errors.Join(command.WithProblems(err, system.Problems), system.Close())
	}
	engine, err := system.Engine(ctx, spirjoin.Options{
		Device: o.devices[0], Others: o.devices[1:], DeviceMemoryBytes: o.deviceMemoryBytes,
		MemoryLimitBytes: o.memoryLimitBytes, TempDir: o.tempDir, TempLimitBytes: o.tempLimitBytes, Trace: o.trace})
	if err != nil {
		return nil, nil, nil, errors.Join(command.WithProblems(err, system.Problems), system.Close())
	}
	return engine, system, func() { _ = errors.Join(engine.Close(), system.Close()) }, nil
}

// tracedBusy has a trace record when anyone is at work on tables; nil without a trace.
func tracedBusy(trace *spirjoin.Trace, name string) *tableio.Busy {
	if trace == nil {
		return nil
	}
	return &tableio.Busy{Each: func(from, to time.Time) { trace.Add(name, from, to) }}
}
