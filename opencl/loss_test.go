//go:build opencl && linux

package opencl

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// openFirst opens the first device with options. Without OpenCL the test is skipped.
func openFirst(t *testing.T, options Options) (*Backend, *driver) {
	t.Helper()
	if options.CacheDir == "" {
		options.CacheDir = "off"
	}
	b, err := New(options)
	if errors.Is(err, backend.ErrNoDevice) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	d, err := b.Open(b.found[0].info.ID)
	require.NoError(t, err)
	return b, d.(*driver)
}

// iotaConfig is a complete configuration of a kernel that compiles fast.
var iotaConfig = backend.Config{"workgroup": 64, "items": 2}

// TestLateLoss: a batch that fails long after it was submitted fails every wait, for what follows it in its queue and
// in others, and for what was never submitted; then everything fails. What was done before stays done.
func TestLateLoss(t *testing.T) {
	_, d := openFirst(t, Options{})
	block, err := d.AllocateBlock(1<<16, backend.DeviceLocal)
	require.NoError(t, err)
	submit := func(role backend.Role, signal uint64, waits ...backend.QueuePoint) {
		t.Helper()
		require.NoError(t, d.Submit(&backend.Batch{Role: role, Signal: signal, Waits: waits}))
	}
	wait := func(p backend.QueuePoint, limit time.Duration) error {
		return d.Wait(context.Background(), p.Role, p.Value, limit)
	}
	submit(backend.Compute, 1)
	require.NoError(t, wait(backend.QueuePoint{Role: backend.Compute, Value: 1}, time.Minute))

	gate, err := d.context.CreateUserEvent()
	require.NoError(t, err)
	defer gate.Release()
	late := &backend.Batch{Role: backend.Compute, Signal: 2}
	compute := d.lines[backend.Compute]
	require.NoError(t, compute.record(late))
	require.NoError(t, compute.enqueue(late, []unsafe.Pointer{handle(gate)}))
	submit(backend.Compute, 3)
	submit(backend.Upload, 1, backend.QueuePoint{Role: backend.Compute, Value: 2})
	submit(backend.Download, 1, backend.QueuePoint{Role: backend.Upload, Value: 1})

	points := []backend.QueuePoint{{Role: backend.Compute, Value: 2}, {Role: backend.Compute, Value: 3},
		{Role: backend.Upload, Value: 1}, {Role: backend.Download, Value: 1}, {Role: backend.Compute, Value: 9}}
	waits := make(chan error, len(points))
	for _, p := range points {
		require.ErrorIs(t, wait(p, time.Millisecond), backend.ErrTimedOut)
		go func() { waits <- wait(p, time.Minute) }()
	}
	require.NoError(t, gate.SetUserEventStatus(int(outOfResources)))
	for range points {
		require.ErrorIs(t, <-waits, backend.ErrDeviceLost)
	}

	lost := wait(points[0], time.Minute)
	for _, p := range points {
		require.Equal(t, lost, wait(p, time.Minute), "the first error stays")
	}
	require.NoError(t, wait(backend.QueuePoint{Role: backend.Compute, Value: 1}, 0), "was done before")
	_, err = d.AllocateBlock(64, backend.DeviceLocal)
	require.ErrorIs(t, err, backend.ErrDeviceLost)
	_, err = d.Compile(kernel.Iota.KernelSpec, iotaConfig)
	require.ErrorIs(t, err, backend.ErrDeviceLost)
	require.ErrorIs(t, d.Submit(&backend.Batch{Role: backend.Compute, Signal: 4}), backend.ErrDeviceLost)
	_, err = d.Completed(backend.Compute)
	require.ErrorIs(t, err, backend.ErrDeviceLost)
	_, ok := d.Times(backend.Compute, 1)
	require.False(t, ok)
	require.NoError(t, block.Free(), "memory of a lost device is given back")
	require.NoError(t, d.Close())
}

// TestInjectedFaults: the call that a fault names fails with its error, the one before and the one after do not.
func TestInjectedFaults(t *testing.T) {
	_, d := openFirst(t, Options{Faults: Faults{AllocateDevice: 2, AllocateHost: 2, Import: 2, Compile: 2, LoseBatch: 2}})
	memory := make([]byte, 2*os.Getpagesize())
	skip := -uintptr(unsafe.Pointer(&memory[0])) % uintptr(os.Getpagesize())
	page := memory[skip:][:os.Getpagesize():os.Getpagesize()]
	free := func(b backend.Block, err error) error {
		if err == nil {
			err = b.Free()
		}
		return err
	}
	for _, c := range []struct {
		want error
		call func() error
	}{
		{backend.ErrDeviceMemory, func() error { return free(d.AllocateBlock(64, backend.DeviceLocal)) }},
		{backend.ErrHostMemory, func() error { return free(d.AllocateBlock(64, backend.HostVisible)) }},
		{backend.ErrHostMemory, func() error { return free(d.ImportHost(page)) }},
		{backend.ErrHostMemory, func() error { _, err := d.Compile(kernel.Iota.KernelSpec, iotaConfig); return err }},
	} {
		err := c.call()
		if errors.Is(err, backend.ErrUnsupported) {
			continue // the device does not import
		}
		require.NoError(t, err)
		err = c.call()
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, "injected fault")
		require.NoError(t, c.call())
	}
	for signal := range uint64(2) {
		require.NoError(t, d.Submit(&backend.Batch{Role: backend.Compute, Signal: signal + 1}))
	}
	require.NoError(t, d.Wait(t.Context(), backend.Compute, 1, time.Minute))
	require.ErrorIs(t, d.Wait(t.Context(), backend.Compute, 2, time.Minute), backend.ErrDeviceLost)
	require.NoError(t, d.Close())
}

// hanging tells TestHangingBatch, in a separate process, to leave a batch that never ends.
const hanging = "SPIRJOIN_TEST_HANGING"

// TestHangingBatch: waits for a batch that never ends stop at their limit or with their context, and so does closing.
// In a process of its own, because the goroutine that waits for the device stays behind.
func TestHangingBatch(t *testing.T) {
	if os.Getenv(hanging) == "" {
		_, d := openFirst(t, Options{}) // skips the test without a device
		require.NoError(t, d.Close())
		child := exec.Command(os.Args[0], "-test.run=^TestHangingBatch$", "-test.timeout=2m")
		child.Env = append(os.Environ(), hanging+"=1")
		output, err := child.CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.Contains(t, string(output), "closing stopped")
		return
	}
	_, d := openFirst(t, Options{CloseLimit: 50 * time.Millisecond, Faults: Faults{HangBatch: 1}})
	buffer, err := backend.NewDevice(d, backend.DeviceOptions{}).Allocate(t.Context(), backend.DeviceLocal, 64, "filled")
	require.NoError(t, err)
	block, _ := buffer.All().Block()
	fill := backend.Command{Kind: backend.Fill, Dst: buffer.All(), Value: 1}
	require.NoError(t, d.Submit(&backend.Batch{Role: backend.Compute, Signal: 1, Steps: []backend.Step{{Command: fill}}}))
	require.ErrorIs(t, d.Wait(t.Context(), backend.Compute, 1, 10*time.Millisecond), backend.ErrTimedOut)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, d.Wait(ctx, backend.Compute, 1, time.Hour), backend.ErrTimedOut)
	require.ErrorIs(t, block.Free(), backend.ErrTimedOut)
	waiting := make(chan error)
	go func() { waiting <- d.Wait(context.Background(), backend.Compute, 1, time.Hour) }()
	require.ErrorIs(t, d.Close(), backend.ErrTimedOut)
	require.ErrorIs(t, <-waiting, backend.ErrInvalidInput)
	os.Stdout.WriteString("closing stopped\n")
	os.Exit(0)
}

// TestOutOfMemory: what the device has not is refused before a driver sees it, and what is freed comes back.
func TestOutOfMemory(t *testing.T) {
	_, d := openFirst(t, Options{})
	size, _ := d.Info().MemoryBytes()
	limit := d.Info().Limits.MaxBlockBytes
	_, err := d.AllocateBlock(limit+1, backend.DeviceLocal)
	require.ErrorIs(t, err, backend.ErrDeviceMemory)
	var blocks []backend.Block
	for range size/limit + 2 {
		var b backend.Block
		if b, err = d.AllocateBlock(limit, backend.DeviceLocal); err != nil {
			break
		}
		blocks = append(blocks, b)
	}
	require.ErrorIs(t, err, backend.ErrDeviceMemory)
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		require.NoError(t, b.Free())
	}
	b, err := d.AllocateBlock(limit, backend.DeviceLocal)
	require.NoError(t, err, "memory came back")
	require.NoError(t, b.Free())
	require.NoError(t, d.Close())
}

// TestNothingIsCompleteAfterAFailure: a batch that succeeds behind one that failed does not complete that one, but both
// have ended.
func TestNothingIsCompleteAfterAFailure(t *testing.T) {
	line := &timeline{times: make(map[uint64][]time.Duration)}
	for i, r := range []result{success, outOfResources, success} {
		line.book(flight{value: uint64(i) + 1}, r, make([]time.Duration, 2))
	}
	require.EqualValues(t, 1, line.completed)
	require.True(t, line.isOver(3))
	require.False(t, line.isOver(4))
	require.Len(t, line.times, 1)
}

// TestFreeAfterClose: the device frees blocks that are left, and says so; their owner may free them then.
func TestFreeAfterClose(t *testing.T) {
	_, d := openFirst(t, Options{})
	block, err := d.AllocateBlock(1<<16, backend.DeviceLocal)
	require.NoError(t, err)
	require.ErrorContains(t, d.Close(), "1 blocks")
	require.NoError(t, block.Free())
	require.ErrorIs(t, block.Free(), backend.ErrInvalidInput)
}

// TestLostDeviceFreesMemory: blocks of a batch that failed are freed when it has ended.
func TestLostDeviceFreesMemory(t *testing.T) {
	_, d := openFirst(t, Options{Faults: Faults{LoseBatch: 1}})
	device := backend.NewDevice(d, backend.DeviceOptions{})
	buffer, err := device.Allocate(t.Context(), backend.DeviceLocal, 64, "filled")
	require.NoError(t, err)
	block, _ := buffer.All().Block()
	fill := backend.Command{Kind: backend.Fill, Dst: buffer.All(), Value: 1}
	require.NoError(t, d.Submit(&backend.Batch{Role: backend.Compute, Signal: 1, Steps: []backend.Step{{Command: fill}}}))
	require.ErrorIs(t, d.Wait(t.Context(), backend.Compute, 1, time.Minute), backend.ErrDeviceLost)
	require.Eventually(t, func() bool { return d.lines[backend.Compute].isOver(1) }, time.Minute, time.Millisecond)
	require.NoError(t, block.Free())
	require.NoError(t, d.Close())
}
