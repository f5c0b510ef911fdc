package relation

import (
	"context"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/hugepages"
)

// TestPinnedReuse frees a block while the device still copies to it, as after an abandoned download. The block must not
// be reused before the copy is done.
func TestPinnedReuse(t *testing.T) {
	driver, err := host.New(host.Options{Devices: []host.Device{{Name: "cpu"}}, Discrete: true,
		Faults: host.Faults{HangBatch: 2}, CloseLimit: 100 * time.Millisecond}).Open("host:cpu")
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

// TestPinnedLimit: the allocator does not try to import a block beyond the limit of the device.
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
	a.Free(large)
	a.Close()
	require.NoError(t, device.Close())
}

// TestPinnedCap: memory beyond the cap is not pinned, and is counted.
func TestPinnedCap(t *testing.T) {
	a := NewPinnedAllocator(discrete(t), 2*minPinnedBytes)
	defer a.Close()
	first, second := a.Allocate(2*minPinnedBytes), a.Allocate(minPinnedBytes)
	sizeBytes, declinedBytes := a.Pinned()
	require.Equal(t, uint64(2*minPinnedBytes), sizeBytes)
	require.Equal(t, uint64(minPinnedBytes), declinedBytes)
	require.Len(t, second, minPinnedBytes)
	a.Free(first)
	a.Free(second)
}

// TestPinnedTrim: blocks that are kept for reuse are released, the oldest first; those in use stay.
func TestPinnedTrim(t *testing.T) {
	a := NewPinnedAllocator(discrete(t), 1<<30)
	defer a.Close()
	var blocks [][]byte
	for range 4 {
		blocks = append(blocks, a.Allocate(minPinnedBytes))
	}
	for _, b := range blocks[:3] {
		a.Free(b)
	}
	require.EqualValues(t, 3*minPinnedBytes, a.Trim(1<<30))
	require.EqualValues(t, minPinnedBytes, a.Trim(2*minPinnedBytes-1))
	sizeBytes, _ := a.Pinned()
	require.EqualValues(t, 2*minPinnedBytes, sizeBytes)
	require.Same(t, unsafe.SliceData(blocks[2]), unsafe.SliceData(a.Allocate(minPinnedBytes)), "the youngest is left")
	require.Zero(t, a.Trim(0))
	a.Free(blocks[2])
	a.Free(blocks[3])
}

// TestPinnedPages: pinned memory begins at a large page outside Go's heap. A block that outlives the allocator stays
// valid, and its pages return to the system with it, once.
func TestPinnedPages(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		if device.Info().Limits.ImportAlignment == 0 {
			t.Skip("the device imports no memory")
		}
		testPinnedPages(t, device)
	})
}

func testPinnedPages(t *testing.T, device *backend.Device) {
	const sizeBytes = 64 << 20
	a := NewPinnedAllocator(device, 2*sizeBytes)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	freed, kept := a.Allocate(sizeBytes), a.Allocate(sizeBytes)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(sizeBytes/2))
	imported, declined := a.Pinned()
	require.Equal(t, uint64(2*sizeBytes), imported)
	require.Zero(t, declined)
	unmapped := 0
	for _, b := range [][]byte{freed, kept} {
		at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
		require.Zero(t, at%hugepages.Bytes)
		require.Zero(t, at%device.Info().Limits.ImportAlignment)
		region := a.regions[unsafe.SliceData(b)]
		unmap := region.unmap
		region.unmap = func() { unmapped++; unmap() }
	}
	var list backend.List // the device sees the same bytes
	region := a.regions[unsafe.SliceData(kept)]
	list.Fill(region.buffer.Range(sizeBytes-8, 8), 7)
	require.NoError(t, device.Run(context.Background(), &list))
	a.Free(freed)
	require.Zero(t, unmapped, "kept for the next block")
	a.Close()
	require.Equal(t, 1, unmapped)
	require.Equal(t, byte(7), kept[sizeBytes-4])
	other := a.Allocate(sizeBytes) // from other memory now
	require.Len(t, other, sizeBytes)
	a.Free(other)
	a.Free(kept)
	require.Equal(t, 2, unmapped)
	imported, _ = a.Pinned()
	require.Zero(t, imported)
}

// discrete opens a device whose memory the host cannot access.
func discrete(t *testing.T) *backend.Device {
	driver, err := host.New(host.Options{Discrete: true, Poison: true}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}
