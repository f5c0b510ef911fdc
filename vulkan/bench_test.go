package vulkan_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// What a batch costs beside its work: submission, waiting, recording.
func BenchmarkSubmit(b *testing.B) {
	for _, info := range vulkantest.Devices(b) {
		for name, steps := range map[string]int{"dispatches=0": 0, "dispatches=1": 1, "dispatches=100": 100} {
			b.Run("device="+info.Driver+"/"+name, func(b *testing.B) {
				bench := newBench(b, vulkantest.OpenDevice(b, info.ID))
				buffer := bench.buffer(backend.DeviceLocal, 64)
				step := backend.Step{Command: numbers(iotaKernel(b, bench.device, nil), buffer, 0), Barrier: true}
				batch := &backend.Batch{Role: backend.Compute}
				for range steps {
					batch.Steps = append(batch.Steps, step)
				}
				b.ReportAllocs()
				for b.Loop() {
					batch.Signal++
					require.NoError(b, bench.driver.Submit(batch))
					require.NoError(b, bench.driver.Wait(context.Background(), backend.Compute, batch.Signal, time.Minute))
				}
			})
		}
	}
}

// The bandwidth of the three ways to move bytes inside a device, read and written bytes counted.
func BenchmarkMove(b *testing.B) {
	const words = 4 << 20
	for _, info := range vulkantest.Devices(b) {
		for name, move := range map[string]func(bench *bench, dst, src *backend.Buffer) backend.Command{
			"copy": func(_ *bench, dst, src *backend.Buffer) backend.Command {
				return backend.Command{Kind: backend.Copy, Dst: dst.Range(0, 4*words), Src: src.Range(0, 4*words)}
			},
			"fill": func(_ *bench, dst, _ *backend.Buffer) backend.Command {
				return backend.Command{Kind: backend.Fill, Dst: dst.Range(0, 4*words)}
			},
			"kernel=" + kernel.Iota.Name: func(bench *bench, dst, _ *backend.Buffer) backend.Command {
				return numbers(iotaKernel(bench.t, bench.device, nil), dst, 0)
			},
		} {
			b.Run("device="+info.Driver+"/"+name, func(b *testing.B) {
				bench := newBench(b, vulkantest.OpenDevice(b, info.ID))
				command := move(bench, bench.buffer(backend.DeviceLocal, words), bench.buffer(backend.DeviceLocal, words))
				b.SetBytes(4 * words)
				if name == "copy" {
					b.SetBytes(8 * words)
				}
				value := uint64(0)
				for b.Loop() {
					value++
					bench.submit(backend.Compute, value, backend.Step{Command: command})
					bench.wait(backend.Compute, value)
				}
			})
		}
	}
}
