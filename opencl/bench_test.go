package opencl_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/opencl/opencltest"
)

// What a batch costs beside its work: recording, submission, waiting.
func BenchmarkSubmit(b *testing.B) {
	ctx := context.Background()
	for _, info := range opencltest.Devices(b) {
		for _, dispatches := range []int{0, 1, 100} {
			b.Run(fmt.Sprintf("device=%s/dispatches=%d", info.Driver, dispatches), func(b *testing.B) {
				driver := opencltest.Open(b, info.ID)
				device := backend.NewDevice(driver, backend.DeviceOptions{})
				defer func() { require.NoError(b, device.Close()) }()
				config, err := kernel.Defaults(kernel.Iota.KernelSpec, nil)
				require.NoError(b, err)
				iota, err := device.Kernel(kernel.Iota.KernelSpec, config)
				require.NoError(b, err)
				buffer, err := device.Allocate(ctx, backend.DeviceLocal, 64*4, "out")
				require.NoError(b, err)
				defer buffer.Release()
				batch := &backend.Batch{Role: backend.Compute}
				for range dispatches {
					batch.Steps = append(batch.Steps, backend.Step{Barrier: true, Command: backend.Command{
						Kind: backend.Dispatch, Kernel: iota, EndGroup: 1,
						Args: []backend.Range{buffer.Range(0, buffer.SizeBytes())}, Params: []uint32{64, 0}}})
				}
				b.ReportAllocs()
				for b.Loop() {
					batch.Signal++
					require.NoError(b, driver.Submit(batch))
					require.NoError(b, driver.Wait(ctx, batch.Role, batch.Signal, time.Minute))
				}
			})
		}
	}
}
