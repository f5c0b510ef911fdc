package host

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// increment adds step to every word; a group covers 64 words.
var increment = &backend.KernelSpec{
	Name:      "increment",
	Args:      []backend.ArgSpec{{Name: "values", Access: backend.ReadWrite}},
	Params:    []string{"rows", "step"},
	Constants: []backend.Constant{{Name: "workgroup", Default: 64}},
	Run: func(call *backend.Call, group uint32) {
		values := backend.Words(call.Args[0])[:call.Params[0]]
		lo := uint64(group) * 64
		for i := lo; i < min(lo+64, uint64(len(values))); i++ {
			values[i] += call.Params[1]
		}
	},
}

func openDevice(t *testing.T, options Options) *backend.Device {
	t.Helper()
	b := New(options)
	driver, err := b.Open(b.infos[0].ID)
	require.NoError(t, err)
	return backend.NewDevice(driver, backend.DeviceOptions{WaitLimit: 10 * time.Second})
}

func TestChain(t *testing.T) {
	for _, options := range []Options{{}, {Workers: 4}, {Shuffle: 1}, {Shuffle: 7, Poison: true}} {
		device := openDevice(t, options)
		kernel, err := device.Kernel(increment, nil)
		require.NoError(t, err)
		const rows = 10_000
		values, err := device.Allocate(context.Background(), backend.DeviceLocal, rows*4, "values")
		require.NoError(t, err)
		var list backend.List
		list.Fill(values.All(), 7)
		for range 100 {
			list.Dispatch(kernel, (rows+63)/64, []backend.Range{values.All()}, rows, 1)
		}
		require.NoError(t, device.Run(context.Background(), &list))
		for _, v := range backend.Words(values.Bytes()) {
			require.Equal(t, uint32(107), v)
		}
		values.Release()
		assert.NoError(t, device.Close())
	}
}
