package backend

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeDriver takes batches and runs nothing. Its device-local blocks have no memory, so that they may have any size.
type fakeDriver struct {
	info    DeviceInfo
	batches []*Batch
	last    [Roles]uint64
}

type mappedBlock struct {
	fakeBlock
	bytes []byte
}

func (b *mappedBlock) Bytes() []byte { return b.bytes }

func (d *fakeDriver) Info() *DeviceInfo { return &d.info }

func (d *fakeDriver) AllocateBlock(sizeBytes uint64, memory Memory) (Block, error) {
	if memory == HostVisible {
		return &mappedBlock{fakeBlock{sizeBytes}, make([]byte, sizeBytes)}, nil
	}
	return &fakeBlock{sizeBytes}, nil
}

func (d *fakeDriver) ImportHost([]byte) (Block, error) {
	return nil, &OpError{Op: "import", Err: ErrUnsupported}
}

func (d *fakeDriver) Compile(*KernelSpec, Config) (Program, error) { return nil, nil }

func (d *fakeDriver) Submit(batch *Batch) error {
	d.batches = append(d.batches, batch)
	d.last[batch.Role] = batch.Signal
	return nil
}

func (d *fakeDriver) Wait(context.Context, Role, uint64, time.Duration) error { return nil }

func (d *fakeDriver) Completed(role Role) (uint64, error) { return d.last[role], nil }

func (d *fakeDriver) Times(Role, uint64) ([]time.Duration, bool) {
	return []time.Duration{0, time.Millisecond}, true
}

func (d *fakeDriver) Close() error { return nil }

// taken returns the commands of all batches since the last call, marks apart.
func (d *fakeDriver) taken() (commands []Command) {
	for _, batch := range d.batches {
		for _, step := range batch.Steps {
			if step.Kind != Mark {
				commands = append(commands, step.Command)
			}
		}
	}
	d.batches = nil
	return commands
}

// gapless requires that commands cover the bytes from, in order, and returns where they end.
func gapless(t *testing.T, commands []Command, from uint64, at func(c Command) Range) uint64 {
	t.Helper()
	for i, c := range commands {
		_, offset := at(c).Block()
		require.Equal(t, from, offset, "command %d of %d", i, len(commands))
		require.NotZero(t, at(c).SizeBytes)
		from += at(c).SizeBytes
	}
	return from
}

// TestLargeColumns puts columns of more than 2^31 rows, and of many times 2^32 bytes, through everything above a
// driver.
func TestLargeColumns(t *testing.T) {
	const rows, sizeBytes = 1<<31 + 12345, 8 * (1<<31 + 12345)
	driver := &fakeDriver{info: DeviceInfo{Name: "fake",
		Heaps:  []Heap{{SizeBytes: 1 << 40, BudgetBytes: 1 << 40, DeviceLocal: true}},
		Limits: Limits{MaxAllocationBytes: 1<<32 - 1<<21, MaxBufferBytes: 1 << 40, MaxBlockBytes: 1 << 38}}}
	device := NewDevice(driver, DeviceOptions{})
	ctx := context.Background()
	column, err := device.Allocate(context.Background(), DeviceLocal, sizeBytes, "column")
	require.NoError(t, err)
	other, err := device.Allocate(context.Background(), DeviceLocal, sizeBytes, "other")
	require.NoError(t, err)
	require.Equal(t, uint64(sizeBytes), column.SizeBytes())
	dst, src := func(c Command) Range { return c.Dst }, func(c Command) Range { return c.Src }

	var list List
	list.Fill(column.All(), 1)
	require.NoError(t, device.Run(ctx, &list))
	require.Equal(t, uint64(sizeBytes), gapless(t, driver.taken(), 0, dst), "fill")

	const skip = 5 << 31
	list = List{}
	list.Copy(column.Range(skip, sizeBytes-skip), other.Range(0, sizeBytes-skip))
	require.NoError(t, device.Run(ctx, &list))
	copies := driver.taken()
	require.Equal(t, uint64(sizeBytes), gapless(t, copies, skip, dst), "copy")
	require.Equal(t, uint64(sizeBytes-skip), gapless(t, copies, 0, src), "copy")

	k, err := device.Kernel(&KernelSpec{Name: "k", Args: []ArgSpec{{"in", Read}, {"out", Write}},
		Params: []string{"rows"}}, nil)
	require.NoError(t, err)
	list = List{}
	const groups = rows/256 + 1
	list.DispatchPart(k, 0, groups, []Range{other.All(), column.All()}, rows)
	require.NoError(t, device.Run(ctx, &list))
	next := uint32(0)
	for _, c := range driver.taken() {
		require.Equal(t, next, c.FirstGroup)
		require.Equal(t, uint64(sizeBytes), c.Args[1].SizeBytes)
		next = c.EndGroup
	}
	require.Equal(t, uint32(groups), next)

	data := make([]byte, 2*downloadBytes+4)
	point, err := device.Upload(ctx, column.Range(skip+4, uint64(len(data))), data)
	require.NoError(t, err)
	require.NoError(t, point.Wait(ctx))
	uploads := driver.taken() // in any order
	slices.SortFunc(uploads, func(a, b Command) int { return cmp.Compare(a.Dst.OffsetBytes, b.Dst.OffsetBytes) })
	require.Equal(t, skip+4+uint64(len(data)), gapless(t, uploads, skip+4, dst), "upload")
	require.NoError(t, device.Download(ctx, data, column.Range(sizeBytes-uint64(len(data)), uint64(len(data)))))
	require.Equal(t, uint64(sizeBytes), gapless(t, driver.taken(), sizeBytes-uint64(len(data)), src), "download")
	_, err = device.Upload(ctx, column.Range(sizeBytes-4, 8), data[:8])
	require.ErrorIs(t, err, ErrInvalidInput)

	use := device.MemoryUse(DeviceLocal)
	require.GreaterOrEqual(t, use.InUse, uint64(2*sizeBytes))
	_, err = device.Allocate(context.Background(), DeviceLocal, 1<<38+1, "beyond one block")
	require.ErrorIs(t, err, ErrDeviceMemory)
	require.ErrorContains(t, err, "allows 274877906944 of device-local memory, 4292870144 in one allocation")
	_, err = device.Allocate(context.Background(), HostVisible, 1<<32, "beyond one allocation")
	require.ErrorIs(t, err, ErrHostMemory)
	require.ErrorContains(t, err, "allows 4292870144 of host-visible memory, 4292870144 in one allocation")
	column.Release()
	other.Release()
	require.NoError(t, device.Close())
}

// TestHostMemoryOption: what the error names does move the cap of host-visible memory.
func TestHostMemoryOption(t *testing.T) {
	const gibibyte = 1 << 30
	ask := func(unified bool, options DeviceOptions, sizeBytes uint64) error {
		device := NewDevice(&fakeDriver{info: DeviceInfo{Unified: unified, Heaps: []Heap{{5 * gibibyte / 2, 5 * gibibyte / 2,
			true}}, Limits: Limits{MaxAllocationBytes: gibibyte, MaxBufferBytes: gibibyte, MaxBlockBytes: gibibyte}}}, options)
		b, err := device.Allocate(context.Background(), HostVisible, sizeBytes, "staging")
		b.Release()
		require.NoError(t, device.Close())
		return err
	}
	err := ask(false, DeviceOptions{}, gibibyte/2+4096)
	require.ErrorIs(t, err, ErrHostMemory)
	require.ErrorContains(t, err, "raise DeviceOptions.HostMemoryBytes")
	require.NotContains(t, err.Error(), "memory_limit")
	require.NoError(t, ask(false, DeviceOptions{HostMemoryBytes: gibibyte}, gibibyte/2+4096))
	few := DeviceOptions{DeviceMemoryBytes: gibibyte} // of the device, which is the host's memory only if it is unified
	require.NoError(t, ask(false, few, gibibyte/2-4096))
	require.ErrorIs(t, ask(true, few, gibibyte/2-4096), ErrHostMemory)
}
