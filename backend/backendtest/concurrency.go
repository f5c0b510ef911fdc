package backendtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

var concurrencyChecks = []check{
	{"driver", checkConcurrentDriver},
	{"device", checkConcurrentDevice},
	{"two drivers", checkTwoDrivers},
	{"many waiters", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		b := r.buffer(backend.DeviceLocal, 1000)
		var group sync.WaitGroup
		errs, roles := make([]error, 64), r.roles()
		for i := range errs {
			p := r.submit(roles[i%len(roles)], nil, after(fillCommand(words(b, i, 1), 1)))
			group.Go(func() {
				ctx, cancel := context.WithCancel(background)
				defer cancel()
				errs[i] = r.driver.Wait(ctx, p.Role, p.Value, waitLimit)
			})
		}
		group.Wait()
		require.NoError(t, errors.Join(errs...))
	}},
}

// checkConcurrentDriver submits to every queue from a goroutine of its own, while others allocate and compile.
func checkConcurrentDriver(t *testing.T, s *suite) {
	r := s.newRig(t)
	driver := r.driver
	rounds := s.pick(100, 20)
	var buffers [backend.Roles]*backend.Buffer
	for _, role := range r.roles() {
		buffers[role] = r.buffer(backend.DeviceLocal, 4096)
	}
	errs := make(chan error, 16)
	var group sync.WaitGroup
	work := func(f func() error) {
		group.Go(func() {
			if err := f(); err != nil {
				errs <- err
			}
		})
	}
	for _, role := range r.roles() {
		work(func() error {
			for i := range uint64(rounds) {
				batch := &backend.Batch{Role: role, Signal: i + 1,
					Steps: []backend.Step{after(fillCommand(buffers[role].All(), uint32(i)+1))}}
				if err := driver.Submit(batch); err != nil {
					return err
				}
				if i%7 != 0 {
					continue
				}
				if err := driver.Wait(background, role, i+1, waitLimit); err != nil {
					return err
				}
				if value, err := driver.Completed(role); err != nil || value < i+1 {
					return fmt.Errorf("completed %d after %d: %w", value, i+1, err)
				}
				driver.Times(role, i+1)
			}
			return driver.Wait(background, role, uint64(rounds), waitLimit)
		})
	}
	for memory := range backend.Imported {
		work(func() error {
			for i := range rounds {
				block, err := driver.AllocateBlock(uint64(1+i*1000), memory)
				if err != nil {
					return err
				}
				if mapped := block.Bytes(); mapped != nil {
					mapped[0], mapped[len(mapped)-1] = 1, 1
				}
				if err := block.Free(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 2 {
		work(func() error {
			for i := range uint32(s.pick(12, 4)) {
				config, err := kernel.Iota.Complete(backend.Config{"workgroup": 32 << (i % 3), "items": 1 + i/3})
				if err == nil {
					_, err = driver.Compile(kernel.Iota.KernelSpec, config)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		assert.NoError(t, err)
	}
	for _, role := range r.roles() {
		r.submitted[role] = uint64(rounds)
		requireWords(t, repeated(uint32(rounds), 4096), r.get(buffers[role]), "%v queue", role)
	}
}

// checkConcurrentDevice lets goroutines upload, work on and download columns of their own on one Device.
func checkConcurrentDevice(t *testing.T, s *suite) {
	device := s.openDevice(t, backend.DeviceOptions{})
	rounds := s.pick(20, 5)
	errs := make([]error, 4)
	var group sync.WaitGroup
	for worker := range errs {
		group.Go(func() {
			for round := range rounds {
				if errs[worker] = roundTrip(device, uint64(worker*1000+round)); errs[worker] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(errs...))
}

// roundTrip uploads a column, rotates it on the device, downloads and compares it.
func roundTrip(device *backend.Device, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 1))
	n := 1 + random.IntN(20_000)
	data := randomWords(seed, n)
	k, err := device.Kernel(kernel.Gather.KernelSpec, backend.Config{"value_bits": 32})
	if err != nil {
		return err
	}
	var buffers [3]*backend.Buffer
	for i, label := range []string{"values", "ids", "rotated"} {
		if buffers[i], err = device.Allocate(background, backend.DeviceLocal, uint64(n)*4, label); err != nil {
			return err
		}
		defer buffers[i].Release()
	}
	for i, content := range [][]uint32{data, rotation(n)} {
		if _, err := device.Upload(background, buffers[i].All(), backend.AsBytes(content)); err != nil {
			return err
		}
	}
	var list backend.List
	list.DispatchPart(k, 0, kernel.Groups(kernel.Named(k.Config), uint64(n)),
		[]backend.Range{buffers[0].All(), buffers[1].All(), buffers[2].All()}, uint32(n))
	if _, err := device.Submit(background, backend.Compute, &list); err != nil {
		return err
	}
	got := make([]uint32, n)
	if err := device.Download(background, backend.AsBytes(got), buffers[2].All()); err != nil {
		return err
	}
	if difference := firstDifference(append(append([]uint32(nil), data[1:]...), data[0]), got); difference != "" {
		return fmt.Errorf("rotation of %d rows, seed %d: %s", n, seed, difference)
	}
	return nil
}

// checkTwoDrivers opens the device twice: timelines, memory and programs are apart.
func checkTwoDrivers(t *testing.T, s *suite) {
	var rigs [2]*rig
	var buffers [2]*backend.Buffer
	for i := range rigs {
		rigs[i] = s.newRig(t)
		buffers[i] = rigs[i].local(make([]uint32, 1000))
	}
	k := [2]*backend.Kernel{rigs[0].kernel(kernel.Iota.KernelSpec, nil), rigs[1].kernel(kernel.Iota.KernelSpec, nil)}
	for round := range uint32(20) {
		for i, r := range rigs {
			first := round*2 + uint32(i)
			r.submit(backend.Compute, nil, after(dispatchCommand(k[i], 0,
				kernel.Groups(kernel.Named(k[i].Config), 1000), []backend.Range{buffers[i].All()}, 1000, first)))
		}
	}
	for i, r := range rigs {
		r.wait(backend.QueuePoint{Role: backend.Compute, Value: r.submitted[backend.Compute]})
		requireWords(t, ascending(38+uint32(i), 1000), r.get(buffers[i]), "driver %d", i)
	}
}

func repeated(value uint32, n int) []uint32 {
	w := make([]uint32, n)
	for i := range w {
		w[i] = value
	}
	return w
}
