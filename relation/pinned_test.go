package relation

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
)

// TestPinnedReuse frees a block while the device still copies to it, as after a download that was given up: the block must
// not come back before the copy is done.
func TestPinnedReuse(t *testing.T) {
	driver, err := host.New(host.Options{Devices: []host.Device{{Name: "cpu"}}, Discrete: true, Faults: host.Faults{HangBatch: 2}, CloseLimit: 100 * time.Millisecond}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{WaitLimit: 50 * time.Millisecond})
	allocator := NewPinnedAllocator(device, 1<<30)
	values, err := device.Allocate(context.Background(), backend.DeviceLocal, minPinnedBytes, "values")
	require.NoError(t, err)
	idle, busy := allocator.Allocate(minPinnedBytes), allocator.Allocate(minPinnedBytes)
	require.NoError(t, device.Download(context.Background(), idle, values.All()))
	require.Error(t, device.Download(context.Background(), busy, values.All()), "this one never ends")
	allocator.Free(busy)
	again := allocator.Allocate(minPinnedBytes)
	require.NotSame(t, unsafe.SliceData(busy), unsafe.SliceData(again))
	allocator.Free(idle)
	require.Same(t, unsafe.SliceData(idle), unsafe.SliceData(allocator.Allocate(minPinnedBytes)))
	values.Release()
	allocator.Close()
	require.Error(t, device.Close())
}

// TestPinnedLimit: a block that the device cannot import whole is not even tried.
func TestPinnedLimit(t *testing.T) {
	driver, err := host.New(host.Options{Discrete: true, MaxAllocationBytes: 2 * minPinnedBytes}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	a := NewPinnedAllocator(device, 1<<30)
	large, small := a.Allocate(2*minPinnedBytes+1), a.Allocate(2*minPinnedBytes)
	sizeBytes, declinedBytes := a.Pinned()
	require.Equal(t, uint64(2*minPinnedBytes), sizeBytes)
	require.Equal(t, uint64(2*minPinnedBytes+1), declinedBytes)
	require.Len(t, large, 2*minPinnedBytes+1)
	a.Free(small)
	a.Close()
	require.NoError(t, device.Close())
}

// TestPinnedCap: what exceeds the cap comes from Go's memory, and is counted.
func TestPinnedCap(t *testing.T) {
	a := NewPinnedAllocator(discreteDevice(t), 2*minPinnedBytes)
	defer a.Close()
	first, second := a.Allocate(2*minPinnedBytes), a.Allocate(minPinnedBytes)
	sizeBytes, declinedBytes := a.Pinned()
	require.Equal(t, uint64(2*minPinnedBytes), sizeBytes)
	require.Equal(t, uint64(minPinnedBytes), declinedBytes)
	require.Len(t, second, minPinnedBytes)
	a.Free(first)
	a.Free(second)
}
