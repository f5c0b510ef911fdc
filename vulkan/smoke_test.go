package vulkan_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

func TestSmoke(t *testing.T) {
	for _, driver := range vulkantest.Open(t) {
		d := backend.NewDevice(driver, backend.DeviceOptions{})
		config, err := kernel.Defaults(kernel.Iota, backend.Config{})
		require.NoError(t, err)
		k, err := d.Kernel(kernel.Iota, config)
		require.NoError(t, err)
		const rows = 1 << 20
		b, err := d.Allocate(backend.DeviceLocal, 4*rows, "values")
		require.NoError(t, err)
		var list backend.List
		list.Dispatch(k, kernel.Groups(k.Config, rows), []backend.Range{b.Range(0, 4*rows)}, rows, 7)
		require.NoError(t, d.Run(context.Background(), &list))
		out := make([]byte, 4*rows)
		require.NoError(t, d.Download(context.Background(), out, b.Range(0, 4*rows)))
		for i, v := range backend.Words(out) {
			require.Equal(t, uint32(i+7), v)
		}
		b.Release()
		require.NoError(t, d.Close())
	}
}
