package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// onDevice uploads bytes; none are a word.
func onDevice(t *testing.T, device *backend.Device, bytes []byte) *backend.Buffer {
	b := memory(t, device, uint64(len(bytes)))
	point, err := device.Upload(t.Context(), b.Range(0, uint64(len(bytes))), bytes)
	require.NoError(t, err)
	require.NoError(t, point.Wait(t.Context()))
	return b
}

func memory(t *testing.T, device *backend.Device, sizeBytes uint64) *backend.Buffer {
	b, err := device.Allocate(t.Context(), backend.DeviceLocal, max(sizeBytes, 4), "test")
	require.NoError(t, err)
	t.Cleanup(b.Release)
	return b
}

func toHost(t *testing.T, device *backend.Device, from backend.Range) []byte {
	bytes := make([]byte, from.SizeBytes)
	require.NoError(t, device.Download(t.Context(), bytes, from))
	return bytes
}

// A device counts the bytes of a sample as the host does.
func TestDevicesSampleAlike(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		starts := []uint32{0, 30_000, 90_001}
		column := columnOf("runs", 8, 90_001)
		blocks := codec.SampleRows(starts)
		count := uint32(len(blocks) / 2)
		values, sampled := onDevice(t, device, column.Values), onDevice(t, device, backend.AsBytes(blocks))
		bytes := memory(t, device, 4*kernel.CascadeSchemes*uint64(count))
		var list backend.List
		require.NoError(t, ops.CascadeSizes(&list, 8, values.All(), sampled.All(), bytes.All(), count))
		require.NoError(t, device.Run(t.Context(), &list))
		require.Equal(t, codec.Sample(column, starts),
			codec.SizesOf(blocks, backend.Words(toHost(t, device, bytes.All())), 8))
	})
}
