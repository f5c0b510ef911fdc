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
	Reference: reference(func(args [][]byte, params []uint32, group uint32) {
		values := backend.Words(args[0])[:params[0]]
		lo := uint64(group) * 64
		for i := lo; i < min(lo+64, uint64(len(values))); i++ {
			values[i] += params[1]
		}
	}),
}

// reference makes the reference of a kernel without configuration.
func reference(run func(args [][]byte, params []uint32, group uint32)) func(backend.Config) backend.Reference {
	return func(backend.Config) backend.Reference {
		return func(args [][]byte, params []uint32) func(group uint32) {
			return func(group uint32) { run(args, params, group) }
		}
	}
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
			list.DispatchPart(kernel, 0, (rows+63)/64, []backend.Range{values.All()}, rows, 1)
		}
		require.NoError(t, device.Run(context.Background(), &list))
		for _, v := range backend.Words(values.Bytes()) {
			require.Equal(t, uint32(107), v)
		}
		values.Release()
		assert.NoError(t, device.Close())
	}
}
