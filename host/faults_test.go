package host

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// job does a bit of everything that can fail; whatever happens it releases what it allocated.
func job(device *backend.Device) error {
	ctx := context.Background()
	k, err := device.Kernel(increment, nil)
	if err != nil {
		return err
	}
	const rows = 1000
	var buffers []*backend.Buffer
	defer func() {
		for _, b := range buffers {
			b.Release()
		}
	}()
	for i := range 4 {
		b, err := device.Allocate(context.Background(), backend.Memory(i%2), 9<<20, "column") // blocks of their own
		if err != nil {
			return err
		}
		buffers = append(buffers, b)
	}
	imported, err := device.Import(context.Background(), make([]byte, rows*4), "imported")
	if err != nil {
		return err
	}
	buffers = append(buffers, imported)
	for _, role := range []backend.Role{backend.Upload, backend.Compute, backend.Download} {
		var list backend.List
		list.Fill(buffers[0].All(), 1)
		list.Copy(imported.All(), buffers[0].Range(0, rows*4))
		if role == backend.Compute {
			list.DispatchPart(k, 0, (rows+63)/64, []backend.Range{buffers[0].All()}, rows, 5)
		}
		if _, err := device.Submit(ctx, role, &list); err != nil {
			return err
		}
	}
	return device.WaitBuffer(ctx, buffers[0])
}

// TestFaults lets each call that can fail do so, one after the other, until the job comes through.
func TestFaults(t *testing.T) {
	for name, fault := range map[string]struct {
		inject func(f *Faults, n int)
		want   error
		calls  int           // of the job
		limit  time.Duration // of a wait in a run with a fault
	}{
		"device memory": {func(f *Faults, n int) { f.AllocateDevice = n }, backend.ErrDeviceMemory, 2, testLimit},
		"host memory":   {func(f *Faults, n int) { f.AllocateHost = n }, backend.ErrHostMemory, 2, testLimit},
		"import":        {func(f *Faults, n int) { f.Import = n }, backend.ErrHostMemory, 1, testLimit},
		"compile":       {func(f *Faults, n int) { f.Compile = n }, backend.ErrHostMemory, 1, testLimit},
		"device lost":   {func(f *Faults, n int) { f.LoseAtSubmit = n }, backend.ErrDeviceLost, 3, testLimit},
		"hang":          {func(f *Faults, n int) { f.HangBatch = n }, backend.ErrTimedOut, 3, 100 * time.Millisecond},
	} {
		for _, shuffle := range []uint64{0, 3} {
			t.Run(fmt.Sprintf("%s shuffle=%d", name, shuffle), func(t *testing.T) {
				for n := 1; ; n++ {
					options := Options{Shuffle: shuffle, Poison: true, CloseLimit: 20 * time.Millisecond}
					fault.inject(&options.Faults, n)
					b := New(options)
					driver, err := b.Open("host:cpu")
					require.NoError(t, err)
					limit := fault.limit
					if n > fault.calls {
						limit = testLimit
					}
					device := backend.NewDevice(driver, backend.DeviceOptions{WaitLimit: limit})
					err = job(device)
					closed := device.Close()
					assert.Zero(t, b.machine.usedBytes.Load(), "memory after the fault")
					assert.NotErrorIs(t, closed, backend.ErrInvalidInput, "a leak")
					assert.NoError(t, b.Close())
					if n > fault.calls {
						require.NoError(t, errors.Join(err, closed))
						break
					}
					require.ErrorIs(t, err, fault.want, "call %d", n)
					assert.Contains(t, err.Error(), "host:cpu")
				}
			})
		}
	}
}

// badKernel reads beyond its argument in group 7.
var badKernel = &backend.KernelSpec{
	Name: "bad_kernel",
	Args: []backend.ArgSpec{{Name: "values", Access: backend.ReadWrite}},
	Reference: reference(func(args [][]byte, params []uint32, group uint32) {
		if group == 7 {
			backend.Words(args[0])[1<<20]++
		}
	}),
}

func TestPanicOfAReference(t *testing.T) {
	for _, options := range []Options{{}, {Workers: 1}, {Shuffle: 1}} {
		device := openDevice(t, options)
		k, err := device.Kernel(badKernel, nil)
		require.NoError(t, err)
		b, err := device.Allocate(context.Background(), backend.DeviceLocal, 1000, "values")
		require.NoError(t, err)
		var list backend.List
		list.DispatchPart(k, 0, 20, []backend.Range{b.All()})
		err = device.Run(context.Background(), &list)
		require.ErrorIs(t, err, backend.ErrDeviceLost)
		for _, part := range []string{"bad_kernel", "group 7", "index out of range", "host:cpu"} {
			assert.ErrorContains(t, err, part)
		}
		assert.ErrorIs(t, device.Run(context.Background(), &list), backend.ErrDeviceLost, "the device stays lost")
		_, err = device.Driver().AllocateBlock(100, backend.DeviceLocal)
		assert.ErrorIs(t, err, backend.ErrDeviceLost)
		b.Release()
		err = device.Close()
		assert.ErrorIs(t, err, backend.ErrDeviceLost, "Close reports the loss")
		assert.NotErrorIs(t, err, backend.ErrInvalidInput, "and no leak")
		assert.Zero(t, device.Driver().(*Driver).backend.machine.usedBytes.Load())
	}
}

// gate is a kernel that says when it runs and writes to its argument when it may.
func gate() (spec *backend.KernelSpec, started, write chan bool) {
	started, write = make(chan bool), make(chan bool)
	return &backend.KernelSpec{Name: "gate", Args: badKernel.Args,
		Reference: reference(func(args [][]byte, _ []uint32, _ uint32) {
			started <- true
			<-write
			args[0][0] = 1
		})}, started, write
}

// TestUnmappedImport takes imported memory away while a kernel works on it.
func TestUnmappedImport(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("memory is not unmapped")
	}
	spec, started, write := gate()
	device := openDevice(t, Options{})
	k, err := device.Kernel(spec, nil)
	require.NoError(t, err)
	memory, unmap, err := mapMemory(1 << 20)
	require.NoError(t, err)
	b, err := device.Import(context.Background(), memory, "imported")
	require.NoError(t, err)
	var list backend.List
	list.DispatchPart(k, 0, 1, []backend.Range{b.All()})
	point, err := device.Submit(context.Background(), backend.Compute, &list)
	require.NoError(t, err)
	<-started
	require.NoError(t, unmap())
	write <- true
	err = point.Wait(context.Background())
	require.ErrorIs(t, err, backend.ErrDeviceLost)
	assert.ErrorContains(t, err, "gate")
	b.Release()
	assert.NotErrorIs(t, device.Close(), backend.ErrInvalidInput)
}

// TestFreeWaitsForTheRunningBatch frees blocks of a running batch, as after a lost device, and of a batch that did not
// start.
func TestFreeWaitsForTheRunningBatch(t *testing.T) {
	spec, started, write := gate()
	device := openDevice(t, Options{})
	driver := device.Driver().(*Driver)
	k, err := device.Kernel(spec, nil)
	require.NoError(t, err)
	var blocks [2]backend.Block
	for i := range blocks {
		b, err := device.Allocate(context.Background(), backend.DeviceLocal, 32<<20, "values")
		require.NoError(t, err)
		blocks[i], _ = b.All().Block()
		require.NoError(t,
			driver.Submit(&backend.Batch{Signal: uint64(i) + 1, Steps: []backend.Step{{Command: backend.Command{
				Kind: backend.Dispatch, Kernel: k, EndGroup: 1, Args: []backend.Range{b.All()}}}}}))
		defer func() {
			b.Release()
			if i == 0 { // the arena frees the blocks again
				assert.ErrorIs(t, device.Close(), backend.ErrInvalidInput)
			}
		}()
	}
	<-started
	freed := make(chan error)
	go func() { freed <- blocks[0].Free() }()
	require.NoError(t, blocks[1].Free(), "its batch does not run yet")
	select {
	case <-freed:
		require.Fail(t, "freed under a running kernel")
	case <-time.After(20 * time.Millisecond):
	}
	write <- true
	require.NoError(t, <-freed)
	err = driver.Wait(context.Background(), backend.Compute, 2, testLimit)
	require.ErrorIs(t, err, backend.ErrDeviceLost)
	assert.ErrorContains(t, err, "freed before the batch")
}

func TestHangEnds(t *testing.T) {
	for _, shuffle := range []uint64{0, 9} {
		driver := opener(Options{Shuffle: shuffle, CloseLimit: 30 * time.Millisecond, Faults: Faults{HangBatch: 2}})(t)
		mark := []backend.Step{{Command: backend.Command{Kind: backend.Mark}}}
		for i := range uint64(3) {
			require.NoError(t, driver.Submit(&backend.Batch{Signal: i + 1, Steps: mark}))
		}
		require.NoError(t, driver.Wait(context.Background(), backend.Compute, 1, testLimit))
		err := driver.Wait(context.Background(), backend.Compute, 3, 20*time.Millisecond)
		require.ErrorIs(t, err, backend.ErrTimedOut)
		assert.ErrorContains(t, err, "at 1 of 3", "how far it came")
		require.NoError(t, driver.Submit(&backend.Batch{Role: backend.Upload, Signal: 1, Steps: mark}))
		require.NoError(t, driver.Wait(context.Background(), backend.Upload, 1, testLimit), "other queues go on")
		require.ErrorIs(t, driver.Close(), backend.ErrTimedOut)
	}
}

// TestKernelThatNeverEnds: Close gives up on it and says so.
func TestKernelThatNeverEnds(t *testing.T) {
	end := make(chan bool)
	spec := &backend.KernelSpec{Name: "endless", Reference: reference(func([][]byte, []uint32, uint32) { <-end })}
	driver := opener(Options{CloseLimit: 30 * time.Millisecond})(t)
	program, err := driver.Compile(spec, nil)
	require.NoError(t, err)
	require.NoError(t, driver.Submit(&backend.Batch{Signal: 1, Steps: []backend.Step{{Command: backend.Command{
		Kind: backend.Dispatch, Kernel: &backend.Kernel{Spec: spec, Program: program}, EndGroup: 1}}}}))
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	require.ErrorIs(t, driver.Wait(ctx, backend.Compute, 1, testLimit), backend.ErrCancelled)
	err = driver.Close()
	require.ErrorIs(t, err, backend.ErrTimedOut)
	assert.True(t, strings.Contains(err.Error(), "does not end"), err)
	close(end)
}
