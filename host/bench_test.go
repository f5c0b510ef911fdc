package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// BenchmarkSubmit measures one submission with one small dispatch and the wait for it.
func BenchmarkSubmit(b *testing.B) {
	benchmark(b, func(device *backend.Device, k *backend.Kernel, values *backend.Buffer) {
		for range b.N {
			var list backend.List
			list.DispatchPart(k, 0, 1, []backend.Range{values.All()}, 64, 1)
			require.NoError(b, device.Run(context.Background(), &list))
		}
	})
}

// BenchmarkDispatch measures one small dispatch in a chain of dependent ones.
func BenchmarkDispatch(b *testing.B) {
	benchmark(b, func(device *backend.Device, k *backend.Kernel, values *backend.Buffer) {
		var list backend.List
		for range b.N {
			list.DispatchPart(k, 0, 16, []backend.Range{values.All()}, 1024, 1)
		}
		require.NoError(b, device.Run(context.Background(), &list))
	})
}

func benchmark(b *testing.B, run func(*backend.Device, *backend.Kernel, *backend.Buffer)) {
	driver, err := New(Options{}).Open("host:cpu")
	require.NoError(b, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	k, err := device.Kernel(increment, nil)
	require.NoError(b, err)
	values, err := device.Allocate(context.Background(), backend.DeviceLocal, 4096, "values")
	require.NoError(b, err)
	run(device, k, values)
	values.Release()
	require.NoError(b, device.Close())
}

// BenchmarkGather measures a gather of random rows; cache and TLB misses take its time.
func BenchmarkGather(b *testing.B) {
	for _, rows := range []int{1 << 16, 1 << 22, 1 << 24} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			benchmark(b, func(device *backend.Device, _ *backend.Kernel, _ *backend.Buffer) {
				k, err := device.Kernel(kernel.Gather.KernelSpec,
					backend.Config{"value_bits": 64, "workgroup": 1, "items": 1 << 14})
				require.NoError(b, err)
				var args []backend.Range
				for _, width := range []int{8, 4, 8} {
					column, err := device.Allocate(context.Background(), backend.DeviceLocal, uint64(rows*width),
						"column")
					require.NoError(b, err)
					defer column.Release()
					clear(column.Bytes())
					args = append(args, column.All())
				}
				ids := backend.Words(args[1].Buffer.Bytes())
				for i := range ids {
					ids[i] = rand.Uint32N(uint32(rows))
				}
				b.SetBytes(int64(rows) * 20)
				b.ResetTimer()
				for range b.N {
					var list backend.List
					list.DispatchPart(k, 0, kernel.Groups(kernel.Named(k.Config), uint64(rows)), args, uint32(rows))
					require.NoError(b, device.Run(context.Background(), &list))
				}
				b.StopTimer()
			})
		})
	}
}
