package codec_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
)

// partsOf are a column's values, destination by destination, in memory of their own.
func partsOf(column codec.Column, starts []uint32) (parts [][]byte) {
	for i, start := range starts[:len(starts)-1] {
		parts = append(parts, slices.Clone(column.Values[int(start)*column.ValueBytes:int(starts[i+1])*column.ValueBytes]))
	}
	return parts
}

func testCoder(t *testing.T, coder codec.Coder) {
	starts := []uint32{0, 5000, 5000, 5001, 70_000, 72_048}
	for _, kind := range []string{"runs", "random", "equal"} {
		for _, valueBytes := range []int{4, 8} {
			column := columnOf(kind, valueBytes, starts[len(starts)-1])
			want, parts := encoded(t, column, starts, 7), partsOf(column, starts)
			var to [][]byte
			for _, values := range parts {
				to = append(to, make([]byte, codec.MostMessageBytes(uint32(len(values)/valueBytes), valueBytes)))
			}
			sizes, err := coder.Encode(t.Context(), valueBytes, parts, 7, to)
			require.NoError(t, err)
			for i, size := range sizes {
				require.True(t, slices.Equal(want[i], to[i][:size]), "%s, %d bytes, destination %d", kind, valueBytes, i)
				m, err := codec.Open(to[i][:size])
				require.NoError(t, err)
				decoded := codec.Column{Values: make([]byte, len(parts[i])), ValueBytes: valueBytes}
				require.NoError(t, coder.Decode(t.Context(), decoded, m))
				require.True(t, slices.Equal(parts[i], decoded.Values), "%s, %d bytes, destination %d", kind, valueBytes, i)
				if m.Rows == 0 {
					continue
				}
				require.ErrorIs(t, coder.Decode(t.Context(), codec.Column{Values: decoded.Values[valueBytes:],
					ValueBytes: valueBytes}, m), backend.ErrInvalidInput)
				last := len(m.Directory) - 1
				m.Payload[before(m, last)] |= 127 << 3 // a width that no value has
				require.ErrorIs(t, coder.Decode(t.Context(), decoded, m), backend.ErrInvalidInput)
			}
		}
	}
	rates, err := coder.Rates(t.Context(), columnOf("runs", 8, 100_000).Values)
	require.NoError(t, err)
	for scheme := 1; scheme < 8; scheme++ {
		require.Positive(t, rates.Encode[scheme])
		require.Positive(t, rates.Decode[scheme])
	}
}

// before is the word at which a block begins.
func before(m codec.Message, block int) uint32 {
	if block == 0 {
		return 0
	}
	return m.Directory[block-1]
}

func TestHostCoder(t *testing.T) { testCoder(t, codec.Host{}) }

// A device makes the messages of the host and decodes them, whole and in pieces, within the memory that it was given.
func TestDeviceCoder(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		for _, sizeBytes := range []uint64{codec.LeastDeviceBytes, 64 << 20} {
			budget := exec.NewBudget(exec.Need{Device: map[*backend.Device]uint64{device: sizeBytes},
				Host: exec.Unlimited})
			grant, err := budget.Acquire(t.Context(), exec.Need{Device: map[*backend.Device]uint64{device: sizeBytes}})
			require.NoError(t, err)
			device.ResetPeak()
			testCoder(t, codec.NewDevice(ops, grant, sizeBytes))
			require.LessOrEqual(t, device.MemoryUse(backend.DeviceLocal).Peak, sizeBytes)
			grant.Release()
		}
	})
}
