package scaling

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// Several devices import a block, which stays after it was freed until the last of them has given it up.
func TestTableMemory(t *testing.T) {
	devicetest.HostTest(t)
	var m tableMemory
	small, large := m.Allocate(100), m.Allocate(leastBlockBytes+1)
	require.Len(t, small, 100)
	require.Len(t, large, leastBlockBytes+1)
	require.Equal(t, leastBlockBytes+1, cap(large))
	block := m.blocks[&large[0]]
	gone := false
	unmap := block.unmap
	block.unmap = func() { gone = true; unmap() }

	var devices []*backend.Device
	var unpins []func()
	for range 2 {
		device := openHost(t, host.Options{Discrete: true}, 0)
		lacking, unpin := m.pin(t.Context(), device)
		require.Zero(t, lacking)
		in, ok := device.Imported(large, 4)
		require.True(t, ok)
		in.Buffer.Release()
		devices, unpins = append(devices, device), append(unpins, unpin)
	}
	m.Free(small)
	m.Free(large)
	require.Empty(t, m.blocks)
	for i, device := range devices {
		require.False(t, gone)
		unpins[i]()
		require.NoError(t, device.Run(t.Context(), new(backend.List)))
		require.NoError(t, device.Close())
	}
	require.True(t, gone)

	inPlace := openHost(t, host.Options{}, 0)
	defer func() { require.NoError(t, inPlace.Close()) }()
	kept := m.Allocate(leastBlockBytes)
	kept[7] = 1
	lacking, unpin := m.pin(t.Context(), inPlace)
	require.Zero(t, lacking)
	_, imported := inPlace.Imported(kept, 4)
	require.False(t, imported, "columns are read in place")
	unpin()
	grown := m.Reallocate(2*leastBlockBytes, kept)
	require.Equal(t, 7, slices.Index(grown, 1))
	m.Free(grown)
}

// What a device does not import is told.
func TestTableMemoryThatIsNotImported(t *testing.T) {
	devicetest.HostTest(t)
	var m tableMemory
	block, other := m.Allocate(12*blockAlignment), m.Allocate(8*blockAlignment)
	defer m.Free(block)
	defer m.Free(other)
	device := openHost(t, host.Options{Discrete: true}, 0)
	defer func() { require.NoError(t, device.Close()) }()
	part, err := device.Import(t.Context(), block[:blockAlignment], "part of a block")
	require.NoError(t, err)
	defer part.Release()
	lacking, unpin := m.pin(t.Context(), device)
	defer unpin()
	require.EqualValues(t, len(block), lacking)
}

func openHost(t *testing.T, options host.Options, deviceMemoryBytes uint64) *backend.Device {
	driver, err := host.New(options).Open("host:cpu")
	require.NoError(t, err)
	return backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: deviceMemoryBytes})
}
