package opencl_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/opencl"
)

// TestStagedArguments: host-visible arguments that follow each other in one batch share the buffers of the device that
// stand for them, and each is larger than the one before.
func TestStagedArguments(t *testing.T) {
	forEach(t, opencl.Options{Staged: true}, func(t *testing.T, b *opencl.Backend, id string) {
		driver := open(t, b, id)
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		config, err := kernel.Defaults(kernel.Iota.KernelSpec, backend.Config{"workgroup": 64, "items": 2})
		require.NoError(t, err)
		iota, err := device.Kernel(kernel.Iota.KernelSpec, config)
		require.NoError(t, err)
		batch := &backend.Batch{Role: backend.Compute, Signal: 1}
		add := func(c backend.Command) {
			batch.Steps = append(batch.Steps, backend.Step{Command: c, Barrier: true})
		}
		var buffers []*backend.Buffer
		first := func(i int) uint32 { return uint32(i) * 1_000_003 }
		for i, rows := range []uint32{1000, 40_000, 2_000_000, 3, 40_000} {
			b, err := device.Allocate(t.Context(), backend.HostVisible, uint64(4*rows), "numbers")
			require.NoError(t, err)
			clear(b.Bytes())
			buffers = append(buffers, b)
			add(backend.Command{Kind: backend.Dispatch, Kernel: iota, Args: []backend.Range{b.All()},
				EndGroup: kernel.Groups(kernel.Named(config), uint64(rows)), Params: []uint32{rows, first(i)}})
		}
		last := len(buffers) - 1
		add(backend.Command{Kind: backend.Copy, Dst: buffers[last].All(), Src: buffers[1].All()})
		add(backend.Command{Kind: backend.Fill, Dst: buffers[0].All(), Value: 7})
		require.NoError(t, driver.Submit(batch))
		require.NoError(t, driver.Wait(t.Context(), backend.Compute, 1, time.Minute))
		for i, b := range buffers {
			start, step := first(i), uint32(1)
			switch i {
			case 0:
				start, step = 7, 0
			case last:
				start = first(1)
			}
			for row, is := range backend.Words(b.Bytes()) {
				require.Equal(t, start+uint32(row)*step, is, "buffer %d, row %d", i, row)
			}
			b.Release()
		}
		require.NoError(t, device.Close())
	})
}
