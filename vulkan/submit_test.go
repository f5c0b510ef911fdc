package vulkan_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

func iotaKernel(t testing.TB, d *backend.Device, config backend.Config) *backend.Kernel {
	t.Helper()
	full, err := kernel.Defaults(kernel.Iota.KernelSpec, config)
	require.NoError(t, err)
	k, err := d.Kernel(kernel.Iota.KernelSpec, full)
	require.NoError(t, err)
	return k
}

// numbers is a dispatch that writes first, first+1, ... to a buffer.
func numbers(k *backend.Kernel, b *backend.Buffer, first uint32) backend.Command {
	rows := b.SizeBytes() / 4
	return backend.Command{Kind: backend.Dispatch, Kernel: k, EndGroup: kernel.Groups(kernel.Named(k.Config), rows),
		Args: []backend.Range{b.Range(0, b.SizeBytes())}, Params: []uint32{uint32(rows), first}}
}

func fillWithIota(t testing.TB, d *backend.Device, b *backend.Buffer, first uint32) {
	t.Helper()
	list := &backend.List{Commands: []backend.Command{numbers(iotaKernel(t, d, nil), b, first)}}
	require.NoError(t, d.Run(context.Background(), list))
}

// bench is a driver with a device above it that makes buffers and kernels; batches go to the driver directly.
type bench struct {
	t      testing.TB
	driver backend.Driver
	device *backend.Device
}

func newBench(t testing.TB, d backend.Driver) *bench {
	b := &bench{t, d, backend.NewDevice(d, backend.DeviceOptions{})}
	t.Cleanup(func() { require.NoError(t, b.device.Close()) })
	return b
}

func (b *bench) buffer(memory backend.Memory, words int) *backend.Buffer {
	buffer, err := b.device.Allocate(context.Background(), memory, uint64(4*words), "test")
	require.NoError(b.t, err)
	b.t.Cleanup(buffer.Release)
	return buffer
}

func (b *bench) submit(role backend.Role, value uint64, steps ...backend.Step) {
	b.t.Helper()
	require.NoError(b.t, b.driver.Submit(&backend.Batch{Role: role, Signal: value, Steps: steps}))
}

func (b *bench) wait(role backend.Role, value uint64) {
	b.t.Helper()
	require.NoError(b.t, b.driver.Wait(context.Background(), role, value, time.Minute))
}

func TestWait(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		b := newBench(t, d)
		background := context.Background()
		require.NoError(t, d.Wait(background, backend.Compute, 0, 0), "the beginning has passed")
		for _, limit := range []time.Duration{-1, 0, time.Millisecond, 25 * time.Millisecond} {
			began := time.Now()
			require.ErrorIs(t, d.Wait(background, backend.Upload, 1, limit), backend.ErrTimedOut)
			require.GreaterOrEqual(t, time.Since(began), limit)
		}
		ctx, cancel := context.WithCancel(background)
		time.AfterFunc(5*time.Millisecond, cancel)
		err := d.Wait(ctx, backend.Download, 1, time.Hour)
		require.ErrorIs(t, err, backend.ErrCancelled)
		require.ErrorIs(t, err, context.Canceled)

		for value := uint64(1); value <= 5; value++ {
			b.submit(backend.Compute, value)
			b.wait(backend.Compute, value)
			done, err := d.Completed(backend.Compute)
			require.NoError(t, err)
			require.Equal(t, value, done)
		}
		done, err := d.Completed(backend.Upload)
		require.NoError(t, err)
		require.Zero(t, done)
	})
}

func TestQueuesWaitForEachOther(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		b := newBench(t, d)
		const words = 1 << 16
		source, local, back := b.buffer(backend.HostVisible, words), b.buffer(backend.DeviceLocal, words),
			b.buffer(backend.HostVisible, words)
		all := func(b *backend.Buffer) backend.Range { return b.Range(0, 4*words) }
		k := iotaKernel(t, b.device, nil)
		for round := uint64(1); round <= 20; round++ {
			for i := range backend.Words(source.Bytes()) {
				backend.Words(source.Bytes())[i] = uint32(round) << 20
			}
			half := local.Range(0, 2*words)
			number := backend.Command{Kind: backend.Dispatch, Kernel: k,
				EndGroup: kernel.Groups(kernel.Named(k.Config), words/2), Args: []backend.Range{half},
				Params: []uint32{words / 2, uint32(round)}}
			require.NoError(t, d.Submit(&backend.Batch{Role: backend.Upload, Signal: round,
				Waits: []backend.QueuePoint{{Role: backend.Download, Value: round - 1}},
				Steps: []backend.Step{
					{Command: backend.Command{Kind: backend.Copy, Dst: all(local), Src: all(source)}}}}))
			require.NoError(t, d.Submit(&backend.Batch{Role: backend.Compute, Signal: round,
				Waits: []backend.QueuePoint{{Role: backend.Upload, Value: round}, {}},
				Steps: []backend.Step{{Command: number}}}))
			require.NoError(t, d.Submit(&backend.Batch{Role: backend.Download, Signal: round,
				Waits: []backend.QueuePoint{{Role: backend.Compute, Value: round}, {Role: backend.Upload, Value: 1}},
				Steps: []backend.Step{
					{Command: backend.Command{Kind: backend.Copy, Dst: all(back), Src: all(local)}}}}))
			b.wait(backend.Download, round)
			for i, word := range backend.Words(back.Bytes()) {
				want := uint32(round) << 20
				if i < words/2 {
					want = uint32(round) + uint32(i)
				}
				require.Equal(t, want, word, "round %d word %d", round, i)
			}
		}
	})
}

// A dispatch of more than one row of workgroups, and parts of its range.
func TestLargeGrids(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		b := newBench(t, d)
		ranges := [][2]uint32{{5, 5}, {6, 5}, {8749, 8750}, {8700, 8750}, {0, 70_000}, {0, 32768}, {32767, 65537},
			{1, 32770}}
		workgroup := uint32(1)
		if vulkantest.Validation(t) == vulkan.GPUAssisted {
			workgroup, ranges = 8, ranges[:4] // instrumented workgroups take 400 us and must be full subgroups
		}
		k := iotaKernel(t, b.device, backend.Config{"workgroup": workgroup, "items": 1})
		const rows = 70_000
		buffer := b.buffer(backend.HostVisible, rows)
		command := numbers(k, buffer, 0)
		for value, groups := range ranges {
			clear(buffer.Bytes())
			command.FirstGroup, command.EndGroup = groups[0], groups[1]
			b.submit(backend.Compute, uint64(value+1), backend.Step{Command: command})
			b.wait(backend.Compute, uint64(value+1))
			for i, word := range backend.Words(buffer.Bytes()) {
				want := uint32(i)
				if want < groups[0]*workgroup || want >= groups[1]*workgroup {
					want = 0
				}
				require.Equal(t, want, word, "groups %v", groups)
			}
		}
		command.FirstGroup, command.EndGroup = 0, ^uint32(0)
		if err := d.Submit(&backend.Batch{Role: backend.Compute, Signal: uint64(len(ranges) + 1),
			Steps: []backend.Step{{Command: command}}}); err != nil {
			require.ErrorIs(t, err, backend.ErrUnsupported)
			require.ErrorContains(t, err, "4294967295 workgroups")
		}
	})
}

func TestTimes(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		b := newBench(t, d)
		buffer := b.buffer(backend.DeviceLocal, 1<<18)
		work := backend.Step{Command: numbers(iotaKernel(t, b.device, nil), buffer, 0), Barrier: true}
		mark := backend.Step{Command: backend.Command{Kind: backend.Mark, Label: "stage"}}
		var before time.Duration
		for value := uint64(1); value <= 10; value++ {
			steps := []backend.Step{work}
			for range 3 * value { // also more than a query pool holds at first
				steps = append(steps, mark, work)
			}
			b.submit(backend.Compute, value, steps...)
			b.wait(backend.Compute, value)
			times, ok := d.Times(backend.Compute, value)
			require.True(t, ok)
			require.Len(t, times, int(3*value)+2)
			for _, at := range times {
				require.GreaterOrEqual(t, at, before)
				before = at
			}
			require.Greater(t, times[len(times)-1], times[0])
			_, ok = d.Times(backend.Compute, value)
			require.False(t, ok, "asked twice")
		}
		_, ok := d.Times(backend.Compute, 11)
		require.False(t, ok, "not submitted")
		_, ok = d.Times(backend.Upload, 1)
		require.False(t, ok, "not submitted")

		for value := uint64(11); value <= 1111; value++ {
			b.submit(backend.Compute, value)
		}
		b.wait(backend.Compute, 1111)
		_, ok = d.Times(backend.Compute, 1111)
		require.True(t, ok)
		_, ok = d.Times(backend.Compute, 11)
		require.False(t, ok, "nobody asked for a long time")
		_, ok = d.Times(backend.Compute, 1000)
		require.True(t, ok)
	})
}

func TestMisuse(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Name, func(t *testing.T) {
			b, other := newBench(t, vulkantest.OpenDevice(t, info.ID)), newBench(t, vulkantest.OpenDevice(t, info.ID))
			d := b.driver
			mine, theirs := b.buffer(backend.DeviceLocal, 64), other.buffer(backend.DeviceLocal, 64)
			whole, foreign := mine.Range(0, 256), theirs.Range(0, 256)
			k, foreignKernel := iotaKernel(t, b.device, nil), iotaKernel(t, other.device, nil)
			dispatch := func(change func(c *backend.Command)) backend.Command {
				c := numbers(k, mine, 0)
				change(&c)
				return c
			}
			for name, command := range map[string]backend.Command{
				"kind":           {Kind: 99},
				"no kernel":      dispatch(func(c *backend.Command) { c.Kernel = nil }),
				"foreign kernel": dispatch(func(c *backend.Command) { c.Kernel = foreignKernel }),
				"empty kernel": dispatch(func(c *backend.Command) {
					c.Kernel = &backend.Kernel{Spec: kernel.Iota.KernelSpec}
				}),
				"arguments":         dispatch(func(c *backend.Command) { c.Args = nil }),
				"parameters":        dispatch(func(c *backend.Command) { c.Params = make([]uint32, 100) }),
				"foreign argument":  dispatch(func(c *backend.Command) { c.Args = []backend.Range{foreign} }),
				"argument too long": dispatch(func(c *backend.Command) { c.Args[0].SizeBytes = 1 << 40 }),
				"argument outside":  dispatch(func(c *backend.Command) { c.Args[0].OffsetBytes = 1 << 63 }),
				"no destination":    {Kind: backend.Fill},
				"odd fill":          {Kind: backend.Fill, Dst: mine.Range(0, 254)},
				"foreign fill":      {Kind: backend.Fill, Dst: foreign},
				"no source":         {Kind: backend.Copy, Dst: whole},
				"foreign source":    {Kind: backend.Copy, Dst: whole, Src: foreign},
				"sizes":             {Kind: backend.Copy, Dst: mine.Range(0, 64), Src: mine.Range(128, 32)},
				"overlap":           {Kind: backend.Copy, Dst: mine.Range(0, 128), Src: mine.Range(64, 128)},
			} {
				err := d.Submit(&backend.Batch{Role: backend.Compute, Signal: 1,
					Steps: []backend.Step{{Command: command}}})
				require.ErrorIs(t, err, backend.ErrInvalidInput, name)
			}
			for name, batch := range map[string]backend.Batch{
				"value 0": {Role: backend.Compute},
				"value 2": {Role: backend.Compute, Signal: 2},
				"role":    {Role: backend.Roles, Signal: 1},
				"future wait": {Role: backend.Compute, Signal: 1,
					Waits: []backend.QueuePoint{{Role: backend.Upload, Value: 1}}},
				"own future": {Role: backend.Compute, Signal: 1,
					Waits: []backend.QueuePoint{{Role: backend.Compute, Value: 1}}},
				"wait's role": {Role: backend.Compute, Signal: 1, Waits: []backend.QueuePoint{{Role: 17, Value: 0}}},
			} {
				require.ErrorIs(t, d.Submit(&batch), backend.ErrInvalidInput, name)
			}
			_, err := d.Completed(backend.Roles)
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorIs(t, d.Wait(context.Background(), backend.Roles, 0, time.Second), backend.ErrInvalidInput)
			_, ok := d.Times(backend.Roles, 1)
			require.False(t, ok)
			b.submit(backend.Compute, 1, backend.Step{Command: numbers(k, mine, 0)}) // all of it left no trace
			b.wait(backend.Compute, 1)
		})
	}
}

func TestClosedDevice(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		buffer, err := d.AllocateBlock(64<<20, backend.DeviceLocal)
		require.NoError(t, err)
		require.NoError(t, d.Submit(&backend.Batch{Role: backend.Compute, Signal: 1}))
		waiting := make(chan error)
		go func() { waiting <- d.Wait(context.Background(), backend.Compute, 2, time.Hour) }()
		runtime.Gosched()
		require.NoError(t, buffer.Free())
		require.NoError(t, d.Close())
		require.ErrorIs(t, <-waiting, backend.ErrInvalidInput)
		everythingFails(t, d, backend.ErrInvalidInput)
		require.NoError(t, d.Close())
	})
}

func TestLostDevice(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		block, err := d.AllocateBlock(256, backend.DeviceLocal)
		require.NoError(t, err)
		require.NoError(t, d.Submit(&backend.Batch{Role: backend.Compute, Signal: 1}))
		waiting := make(chan error)
		go func() { waiting <- d.Wait(context.Background(), backend.Compute, 2, time.Hour) }()
		require.ErrorIs(t, vulkan.Lose(d), backend.ErrDeviceLost)
		require.ErrorIs(t, <-waiting, backend.ErrDeviceLost)
		everythingFails(t, d, backend.ErrDeviceLost)
		require.NoError(t, block.Free(), "memory of a lost device is given back")
		require.NoError(t, d.Close())
	})
}

func everythingFails(t *testing.T, d backend.Driver, want error) {
	t.Helper()
	_, err := d.AllocateBlock(64, backend.DeviceLocal)
	require.ErrorIs(t, err, want)
	_, err = d.ImportHost(aligned(1<<16, 1<<16))
	require.ErrorIs(t, err, want)
	_, err = d.(backend.SharedMemory).AllocateShared(64, false)
	require.ErrorIs(t, err, want)
	_, err = d.Compile(kernel.Iota.KernelSpec, backend.Config{"workgroup": 64, "items": 8})
	require.ErrorIs(t, err, want)
	require.ErrorIs(t, d.Submit(&backend.Batch{Role: backend.Compute, Signal: 2}), want)
	require.ErrorIs(t, d.Wait(context.Background(), backend.Compute, 1, time.Second), want)
	_, err = d.Completed(backend.Compute)
	require.ErrorIs(t, err, want)
	_, ok := d.Times(backend.Compute, 1)
	require.False(t, ok)
}

// The binding frees the arguments of some calls in finalizers; none of those calls may be used. Without the shim this
// test crashed within seconds.
func TestCollectorTorture(t *testing.T) {
	eachDevice(t, func(t *testing.T, d backend.Driver) {
		rounds := 300
		if vulkantest.Validation(t) != vulkan.Off || testing.Short() {
			rounds = 60
		}
		stop := make(chan struct{})
		var collectors, workers sync.WaitGroup
		for range 2 {
			collectors.Go(func() {
				var keep [64][]byte
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
						keep[i%len(keep)] = make([]byte, 32<<(i%8))
						if i%512 == 0 {
							runtime.GC()
						}
					}
				}
			})
		}
		b := newBench(t, d)
		buffers := [backend.Graphics]*backend.Buffer{}
		for role := range buffers {
			buffers[role] = b.buffer(backend.HostVisible, 4096)
		}
		k := iotaKernel(t, b.device, nil)
		failed := make(chan error, 8)
		for role, buffer := range buffers {
			workers.Go(func() {
				for value := uint64(1); value <= uint64(rounds); value++ {
					command := backend.Command{Kind: backend.Fill, Dst: buffer.Range(0, 4096*4), Value: uint32(value)}
					if backend.Role(role) == backend.Compute {
						command = numbers(k, buffer, uint32(value))
					}
					err := d.Submit(&backend.Batch{Role: backend.Role(role), Signal: value,
						Steps: []backend.Step{{Command: command, Barrier: true}}})
					if err == nil {
						err = d.Wait(context.Background(), backend.Role(role), value, time.Minute)
					}
					if err == nil && backend.Words(buffer.Bytes())[0] != uint32(value) {
						err = backend.ErrDeviceLost
					}
					if err != nil {
						failed <- err
						return
					}
				}
			})
		}
		workers.Go(func() {
			for i := range rounds {
				if _, err := d.Compile(kernel.Iota.KernelSpec,
					backend.Config{"workgroup": uint32(8 + i%16*8), "items": uint32(1 + i)}); err != nil {
					failed <- err
					return
				}
			}
		})
		workers.Wait()
		close(stop)
		collectors.Wait()
		close(failed)
		for err := range failed {
			require.NoError(t, err)
		}
	})
}
