package backend

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// importDriver imports anything, once it may, and never runs what it takes until done is set.
type importDriver struct {
	fakeDriver
	may     chan error // one for each import
	imports atomic.Int32
	freed   atomic.Int32
	done    bool
}

type importedBlock struct {
	mappedBlock
	driver *importDriver
}

func (b *importedBlock) Memory() Memory { return Imported }

func (b *importedBlock) Free() error {
	b.driver.freed.Add(1)
	return nil
}

func (d *importDriver) ImportHost(memory []byte) (Block, error) {
	d.imports.Add(1)
	if err := <-d.may; err != nil {
		return nil, err
	}
	return &importedBlock{mappedBlock{fakeBlock{uint64(len(memory))}, memory}, d}, nil
}

func (d *importDriver) Completed(role Role) (uint64, error) {
	if d.done {
		return d.last[role], nil
	}
	return 0, nil
}

func newImportDevice() (*importDriver, *Device) {
	driver := &importDriver{may: make(chan error, 8)}
	driver.info.Heaps = []Heap{{SizeBytes: 1 << 20, BudgetBytes: 1 << 20, DeviceLocal: true}}
	const most = 1 << 20
	driver.info.Limits = Limits{MaxAllocationBytes: most, MaxBlockBytes: most, MaxBufferBytes: most, ImportAlignment: 4}
	return driver, NewDevice(driver, DeviceOptions{})
}

// TestConcurrentImports: goroutines that import one region meet in one call of the driver; one that is cancelled
// meanwhile leaves, and memory that goes beyond is refused once the import is there.
func TestConcurrentImports(t *testing.T) {
	ctx := context.Background()
	driver, device := newImportDevice()
	memory := make([]byte, 4096)
	var buffers [8]*Buffer
	errs := make([]error, len(buffers))
	var group sync.WaitGroup
	group.Go(func() { buffers[0], errs[0] = device.Import(ctx, memory, "table") })
	require.Eventually(t, func() bool { return driver.imports.Load() == 1 }, time.Minute, time.Millisecond)
	for i := 1; i < len(buffers); i++ {
		group.Go(func() { buffers[i], errs[i] = device.Import(ctx, memory[512*(i-1):512*i], "part") })
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := device.Import(ended, memory, "cancelled")
	require.ErrorIs(t, err, ErrCancelled)
	driver.may <- nil
	group.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, int32(1), driver.imports.Load())

	// The block is freed with its last buffer and its last use.
	var list List
	list.Fill(buffers[3].All(), 1)
	_, err = device.Submit(ctx, Compute, &list)
	require.NoError(t, err)
	for _, b := range buffers {
		require.Zero(t, driver.freed.Load())
		b.Release()
	}
	require.Zero(t, driver.freed.Load(), "still in use")
	again, err := device.Import(ctx, memory[8:16], "again")
	require.NoError(t, err)
	driver.done = true
	require.Zero(t, device.MemoryUse(DeviceLocal).InUse) // settles
	require.Zero(t, driver.freed.Load(), "has an owner again")
	again.Release()
	require.Equal(t, int32(1), driver.freed.Load())
	require.Equal(t, int32(1), driver.imports.Load())
	require.NoError(t, device.Close())
}

// TestFailedImport: whoever waited for an import that failed tries by itself.
func TestFailedImport(t *testing.T) {
	driver, device := newImportDevice()
	memory := make([]byte, 4096)
	driver.may <- &OpError{Op: "import", Err: ErrHostMemory}
	_, err := device.Import(context.Background(), memory, "table")
	require.ErrorIs(t, err, ErrHostMemory)
	driver.may <- nil
	b, err := device.Import(context.Background(), memory[4:], "table")
	require.NoError(t, err)
	b.Release()
	require.Equal(t, int32(1), driver.freed.Load())
	require.NoError(t, device.Close())
}
