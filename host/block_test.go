package host

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestMemoryLimitsAreShared(t *testing.T) {
	b := New(Options{Devices: []Device{{Name: "small", MemoryBytes: 1 << 20}, {Name: "other"}}})
	a1, err := b.Open("host:small")
	require.NoError(t, err)
	a2, err := b.Open("host:small")
	require.NoError(t, err)
	first, err := a1.AllocateBlock(700<<10, backend.DeviceLocal)
	require.NoError(t, err)
	_, err = a2.AllocateBlock(700<<10, backend.DeviceLocal)
	require.ErrorIs(t, err, backend.ErrDeviceMemory, "the drivers share the memory of the device")
	_, err = a2.AllocateBlock(700<<10, backend.HostVisible)
	require.ErrorIs(t, err, backend.ErrHostMemory)
	infos, err := b.Devices()
	require.NoError(t, err)
	size, budget := infos[0].MemoryBytes()
	assert.Equal(t, uint64(1<<20), size)
	assert.Equal(t, uint64(324<<10), budget, "the budget is what is left")

	other, err := b.Open("host:other")
	require.NoError(t, err)
	_, err = other.AllocateBlock(b.machine.limitBytes-600<<10, backend.DeviceLocal)
	require.ErrorIs(t, err, backend.ErrDeviceMemory, "the devices share the memory of the machine")
	require.NoError(t, first.Free())
	assert.Zero(t, b.machine.usedBytes.Load())
	for _, d := range []backend.Driver{a1, a2, other} {
		require.NoError(t, d.Close())
	}
	require.NoError(t, b.Close())
}

func TestLeaksAreReportedAndStayValid(t *testing.T) {
	b := New(Options{})
	driver, err := b.Open("host:cpu")
	require.NoError(t, err)
	require.ErrorIs(t, b.Close(), backend.ErrInvalidInput, "a driver is open")
	block, err := driver.AllocateBlock(5000, backend.DeviceLocal)
	require.NoError(t, err)
	imported, err := driver.ImportHost(make([]byte, 77))
	require.NoError(t, err)
	err = driver.Close()
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	assert.ErrorContains(t, err, "1 device-local blocks of 5120 bytes, 1 imported blocks of 77 bytes")
	block.Bytes()[0] = 1
	require.NoError(t, block.Free())
	require.NoError(t, imported.Free())
	require.ErrorIs(t, block.Free(), backend.ErrInvalidInput, "freed twice")
	assert.Nil(t, block.Bytes())
	assert.Zero(t, b.machine.usedBytes.Load())
	require.NoError(t, b.Close())
}

func TestPoison(t *testing.T) {
	driver := opener(Options{Poison: true})(t)
	block, err := driver.AllocateBlock(1000, backend.HostVisible)
	require.NoError(t, err)
	stale := block.Bytes()
	for i, v := range stale {
		require.Equal(t, byte(Marker), v)
		stale[i] = 0
	}
	require.NoError(t, block.Free())
	for _, v := range stale {
		require.Equal(t, byte(Marker), v)
	}
	require.NoError(t, driver.Close())
}

func TestSharedMemoryLivesAsLongAsItsBlocks(t *testing.T) {
	b := New(Options{Poison: true})
	var drivers [2]*Driver
	for i := range drivers {
		d, err := b.Open("host:cpu")
		require.NoError(t, err)
		drivers[i] = d.(*Driver)
	}
	block, err := drivers[0].AllocateShared(1<<12, false)
	require.NoError(t, err)
	opened, err := drivers[1].OpenShared(drivers[0], block)
	require.NoError(t, err)
	block.Bytes()[5] = 7
	require.NoError(t, block.Free())
	assert.Equal(t, byte(7), opened.Bytes()[5])
	assert.Equal(t, uint64(1<<12), b.machine.usedBytes.Load())
	require.NoError(t, opened.Free())
	assert.Zero(t, b.machine.usedBytes.Load())
	_, err = drivers[1].OpenShared(drivers[0], block)
	require.ErrorIs(t, err, backend.ErrInvalidInput, "a freed block")
	for _, d := range drivers {
		require.NoError(t, d.Close())
	}
}
