package vulkan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// inParts opens the selected devices with blocks beyond partBytes made of several allocations. Where a device cannot,
// its test is skipped.
func inParts(t *testing.T, partBytes uint64, run func(t *testing.T, open func(t *testing.T) backend.Driver)) {
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Name, func(t *testing.T) {
			b := partsBackend(t, info, partBytes)
			run(t, func(t *testing.T) backend.Driver { return openIn(t, b, info.ID) })
		})
	}
}

func partsBackend(t testing.TB, info backend.DeviceInfo, partBytes uint64) *vulkan.Backend {
	if !slices.Contains(info.Features, "sparseBinding") {
		t.Skipf("%s makes no blocks of several allocations: it has no sparseBinding", info.Name)
	}
	b, err := vulkan.New(vulkan.Options{Validation: vulkantest.Validation(t), CacheDir: "off", PartBytes: partBytes})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func openIn(t testing.TB, b *vulkan.Backend, id string) backend.Driver {
	d, err := b.Open(id)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		for _, m := range vulkantest.Take(t) {
			if m.ID != sparseCopies {
				t.Errorf("Vulkan validation: %v", m)
			}
		}
	})
	return d
}

// sparseCopies is what the validation layer before 1.3.264 says of right copies between sparse buffers (KhronosGroup/
// Vulkan-ValidationLayers issue 6144). The backend itself refuses wrong ones.
const sparseCopies = "VUID-vkCmdCopyBuffer-pRegions-00117"

func TestSparseConformance(t *testing.T) {
	options := backendtest.Options{}
	if vulkantest.Validation(t) != vulkan.Off {
		options.Effort = backendtest.Short
	}
	inParts(t, 1<<20, func(t *testing.T, open func(t *testing.T) backend.Driver) { backendtest.Run(t, open, options) })
}

func TestSparseBlocks(t *testing.T) {
	const partBytes = 4 << 20
	inParts(t, partBytes, func(t *testing.T, open func(t *testing.T) backend.Driver) {
		d := open(t)
		for _, sizeBytes := range []uint64{1, partBytes, partBytes + 1, 2 * partBytes, 64<<20 + 4} {
			b, err := d.AllocateBlock(sizeBytes, backend.DeviceLocal)
			require.NoError(t, err)
			require.Equal(t, sizeBytes, b.SizeBytes())
			require.Equal(t, backend.DeviceLocal, b.Memory())
			require.Nil(t, b.Bytes())
			require.NoError(t, b.Free())
			require.ErrorIs(t, b.Free(), backend.ErrInvalidInput)
		}
		limits := d.Info().Limits
		require.GreaterOrEqual(t, limits.MaxBlockBytes, limits.MaxAllocationBytes)
		_, err := d.AllocateBlock(limits.MaxBlockBytes+1, backend.DeviceLocal)
		require.ErrorIs(t, err, backend.ErrLimit)
		require.ErrorContains(t, err, fmt.Sprint(limits.MaxBlockBytes))
		require.ErrorContains(t, err, fmt.Sprint(limits.MaxAllocationBytes))
		// one allocation, whatever the size of parts
		if shared, err := d.(backend.SharedMemory).AllocateShared(2*partBytes, false); err == nil {
			require.NoError(t, shared.Free())
		} else {
			require.ErrorIs(t, err, backend.ErrUnsupported)
		}
		leaked, err := d.AllocateBlock(3*partBytes, backend.DeviceLocal)
		require.NoError(t, err)
		require.ErrorContains(t, d.Close(), fmt.Sprintf("1 blocks of %d bytes", 3*partBytes))
		require.ErrorIs(t, leaked.Free(), backend.ErrInvalidInput)
	})
}

// TestSparseMemoryReturns allocates three times the device's memory in turn, and again after an allocation that fails
// in the middle of its parts.
func TestSparseMemoryReturns(t *testing.T) {
	inParts(t, 256<<20, func(t *testing.T, open func(t *testing.T) backend.Driver) {
		d := open(t)
		_, budget := d.Info().MemoryBytes()
		take := func(share uint64) (backend.Block, error) {
			return d.AllocateBlock(budget/10*share, backend.DeviceLocal)
		}
		for range 8 {
			b, err := take(4)
			require.NoError(t, err)
			require.NoError(t, b.Free())
		}
		half, err := take(6)
		require.NoError(t, err)
		size, _ := d.Info().MemoryBytes()
		_, err = d.AllocateBlock(min(size, d.Info().Limits.MaxBlockBytes), backend.DeviceLocal)
		require.ErrorIs(t, err, backend.ErrDeviceMemory)
		third, err := take(3)
		require.NoError(t, err, "what the failed allocation had taken came back")
		require.NoError(t, half.Free())
		require.NoError(t, third.Free())
	})
}

// TestSparseColumns runs kernels, copies, fills and transfers across the borders of parts.
func TestSparseColumns(t *testing.T) {
	const partBytes = 1 << 20
	inParts(t, partBytes, func(t *testing.T, open func(t *testing.T) backend.Driver) {
		checkColumn(t, backend.NewDevice(open(t), backend.DeviceOptions{}), 8<<20+17)
	})
}

// TestLargeColumn does the same to a column of more than 2^31 rows and 16 GiB, where a device has that much memory, and
// to a small one on every device.
func TestLargeColumn(t *testing.T) {
	for name, rows := range map[string]uint64{"small": 1<<16 + 17, "large": 1<<31 + 1<<20 + 17} {
		t.Run(name, func(t *testing.T) {
			eachDevice(t, func(t *testing.T, d backend.Driver) {
				limits, needBytes := d.Info().Limits, 8*rows
				if limits.MaxBlockBytes < needBytes {
					t.Skipf("%s has no blocks of %d bytes: it allows %d, and %d in one allocation", d.Info().Name,
						needBytes, limits.MaxBlockBytes, limits.MaxAllocationBytes)
				}
				// In one command each: the largest copies and fills that drivers ever see.
				device := backend.NewDevice(d, backend.DeviceOptions{SubmitBound: time.Hour})
				if capBytes := device.Options().DeviceMemoryBytes; capBytes < 2*needBytes {
					t.Skipf("%s has %d bytes of device memory to use, the test needs %d", d.Info().Name, capBytes,
						2*needBytes)
				}
				checkColumn(t, device, rows)
			})
		})
	}
}

// checkColumn writes, gathers, copies and fills a column of 64-bit values and looks at the edges, at the borders of 1
// MiB and 4 GiB, and at rows drawn at random. It closes the device.
func checkColumn(t *testing.T, device *backend.Device, rows uint64) {
	ctx := context.Background()
	var buffers []*backend.Buffer
	defer func() {
		for _, b := range buffers {
			b.Release()
		}
		require.NoError(t, device.Close())
	}()
	allocate := func(sizeBytes uint64) *backend.Buffer {
		b, err := device.Allocate(context.Background(), backend.DeviceLocal, sizeBytes, "column")
		require.NoError(t, err)
		buffers = append(buffers, b)
		return b
	}
	random := rand.New(rand.NewPCG(1, rows))
	looked := []uint32{0, uint32(rows - 1)}
	for border := uint64(1 << 17); border < rows; border += max(1<<17, (rows/64)&^(1<<17-1)) {
		looked = append(looked, uint32(border-1), uint32(border))
	}
	for border := uint64(1 << 29); border < rows; border += 1 << 29 {
		looked = append(looked, uint32(border-1), uint32(border))
	}
	for range 100_000 {
		looked = append(looked, uint32(random.Uint64N(rows)))
	}
	n := uint64(len(looked))
	column, other, ids, gathered := allocate(8*rows), allocate(8*rows), allocate(4*n), allocate(8*n)
	point, err := device.Upload(ctx, ids.All(), backend.AsBytes(looked))
	require.NoError(t, err)
	require.NoError(t, point.Wait(ctx))
	config, err := kernel.Defaults(kernel.Gather.KernelSpec, backend.Config{"value_bits": 64})
	require.NoError(t, err)
	gather, err := device.Kernel(kernel.Gather.KernelSpec, config)
	require.NoError(t, err)
	look := func(at *backend.Buffer, what string, want func(row uint64) uint64) {
		t.Helper()
		got := make([]uint64, n)
		var list backend.List
		list.DispatchPart(gather, 0, kernel.Groups(kernel.Named(config), n),
			[]backend.Range{at.All(), ids.All(), gathered.All()}, uint32(n))
		require.NoError(t, device.Run(ctx, &list))
		require.NoError(t, device.Download(ctx, backend.AsBytes(got), gathered.All()))
		for i, row := range looked {
			if got[i] != want(uint64(row)) {
				require.Equal(t, want(uint64(row)), got[i], "%s: row %d of %d", what, row, rows)
			}
		}
	}

	// The words of the first half count from 0, the words of the second half from 7, so that all values differ.
	half := rows / 2 / 32 * 32
	number := iotaKernel(t, device, nil)
	var list backend.List
	list.DispatchPart(number, 0, kernel.Groups(kernel.Named(number.Config), 2*half),
		[]backend.Range{column.Range(0, 8*half)}, uint32(2*half), 0)
	rest := 2 * (rows - half)
	list.DispatchPart(number, 0, kernel.Groups(kernel.Named(number.Config), rest),
		[]backend.Range{column.Range(8*half, 4*rest)}, uint32(rest), 7)
	require.NoError(t, device.Run(ctx, &list))
	value := func(row uint64) uint64 {
		low := 2 * row
		if row >= half {
			low = 2*(row-half) + 7
		}
		return low | (low+1)<<32
	}
	look(column, "kernel", value)

	const marker, skip = 0xa5a5a5a5, 1001
	list = backend.List{}
	list.Fill(other.All(), marker)
	list.Copy(other.Range(8*skip, 8*(rows-2*skip)), column.Range(0, 8*(rows-2*skip)))
	require.NoError(t, device.Run(ctx, &list))
	look(other, "copy and fill", func(row uint64) uint64 {
		if row < skip || row >= rows-skip {
			return marker | marker<<32
		}
		return value(row - skip)
	})

	at := rows - min(6<<20, rows/3*2) // up to 48 MiB, staged in several chunks
	data := make([]uint64, rows-at)
	require.NoError(t, device.Download(ctx, backend.AsBytes(data), column.Range(8*at, 8*(rows-at))))
	for i := range data {
		if data[i] != value(at+uint64(i)) {
			require.Equal(t, value(at+uint64(i)), data[i], "download: row %d", at+uint64(i))
		}
		data[i] = ^data[i]
	}
	point, err = device.Upload(ctx, column.Range(8*at, 8*(rows-at)), backend.AsBytes(data))
	require.NoError(t, err)
	require.NoError(t, point.Wait(ctx))
	look(column, "upload", func(row uint64) uint64 {
		if row >= at {
			return ^value(row)
		}
		return value(row)
	})
}

// BenchmarkSparse gathers a column by sequential ids, which is a copy, and by scattered ones, from and to blocks of one
// allocation (parts=0) and of parts of some size. SPIRJOIN_BENCH_ROWS is a power of two.
func BenchmarkSparse(b *testing.B) {
	rows := uint64(devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<20))
	require.Zero(b, rows&(rows-1), "a power of two")
	for _, info := range vulkantest.Devices(b) {
		for _, partBytes := range []uint64{0, 2 << 20, 64 << 20, 1 << 30} {
			for _, order := range []string{"sequential", "scattered"} {
				b.Run(fmt.Sprintf("rows=%d/ids=%s/parts=%d/device=%s", rows, order, partBytes, info.Driver),
					func(b *testing.B) {
						benchParts(b, info, partBytes, rows, order == "scattered")
					})
			}
		}
	}
}

func benchParts(b *testing.B, info backend.DeviceInfo, partBytes, rows uint64, scattered bool) {
	var driver backend.Driver
	if partBytes == 0 {
		driver = vulkantest.OpenDevice(b, info.ID)
	} else {
		if 4*rows <= partBytes {
			b.Skipf("%d bytes are one part", 4*rows)
		}
		driver = openIn(b, partsBackend(b, info, partBytes), info.ID)
	}
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	ctx := context.Background()
	var columns [3]*backend.Buffer // values, ids, gathered
	for i := range columns {
		var err error
		columns[i], err = device.Allocate(context.Background(), backend.DeviceLocal, 4*rows, "bench")
		require.NoError(b, err)
	}
	defer func() {
		for _, c := range columns {
			c.Release()
		}
		require.NoError(b, device.Close())
	}()
	ids := make([]uint32, rows)
	for i := range ids {
		ids[i] = uint32(i)
		if scattered {
			ids[i] = uint32(i) * 2654435761 & uint32(rows-1) // an odd factor permutes
		}
	}
	const first = 5
	fillWithIota(b, device, columns[0], first)
	point, err := device.Upload(ctx, columns[1].All(), backend.AsBytes(ids))
	require.NoError(b, err)
	require.NoError(b, point.Wait(ctx))
	config, err := kernel.Defaults(kernel.Gather.KernelSpec, backend.Config{"value_bits": 32})
	require.NoError(b, err)
	k, err := device.Kernel(kernel.Gather.KernelSpec, config)
	require.NoError(b, err)
	run := func() time.Duration {
		list := backend.List{Profile: new(backend.Profile)}
		list.Stage("gather")
		list.DispatchPart(k, 0, kernel.Groups(kernel.Named(config), rows),
			[]backend.Range{columns[0].All(), columns[1].All(), columns[2].All()}, uint32(rows))
		require.NoError(b, device.Run(ctx, &list))
		stages := list.Profile.Stages()
		require.Len(b, stages, 1)
		return stages[0].Time
	}
	for start := time.Now(); time.Since(start) < time.Second; { // an idle GPU runs at a fraction of its clock
		run()
	}
	gathered := make([]uint32, rows)
	require.NoError(b, device.Download(ctx, backend.AsBytes(gathered), columns[2].All()))
	for i, id := range ids {
		if gathered[i] != id+first {
			b.Fatalf("row %d is %d, want %d", i, gathered[i], id+first)
		}
	}
	var times []time.Duration
	b.ResetTimer()
	for range b.N {
		times = append(times, run())
	}
	slices.Sort(times)
	median := times[len(times)/2]
	b.ReportMetric(median.Seconds()*1000, "ms-median")
	b.ReportMetric(float64(12*rows)/median.Seconds()/1e9, "GB/s")
}
