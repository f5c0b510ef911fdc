package backend

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// compiler is a driver whose compilations take a time of their own and may fail.
type compiler struct {
	fakeDriver
	takes  time.Duration
	begun  atomic.Int32
	mu     sync.Mutex
	failed error
}

func (c *compiler) Compile(*KernelSpec, Config) (Program, error) {
	c.begun.Add(1)
	time.Sleep(c.takes)
	c.mu.Lock()
	defer c.mu.Unlock()
	return new(int), c.failed
}

func (c *compiler) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}

var sized = &KernelSpec{Name: "k", Constants: []Constant{{"workgroup", 1}}}

func ofSize(n int) Config { return Config{"workgroup": uint32(n)} }

// inBubble runs a test whose clock stands still while any goroutine works. The device is closed at its end.
func inBubble(t *testing.T, run func(t *testing.T, c *compiler, d *Device)) {
	synctest.Test(t, func(t *testing.T) {
		c := &compiler{takes: time.Second}
		d := NewDevice(c, DeviceOptions{DeviceMemoryBytes: 1 << 20})
		d.kernels.most = 4
		run(t, c, d)
		require.NoError(t, d.Close())
	})
}

// Kernels are compiled ahead as many at a time as there are cores, and each once, whoever needs it meanwhile.
func TestPrefetch(t *testing.T) {
	inBubble(t, func(t *testing.T, c *compiler, d *Device) {
		start := time.Now()
		for i := range 8 {
			d.Prefetch(sized, ofSize(i+1))
			d.Prefetch(sized, ofSize(i+1)) // is nothing new
		}
		synctest.Wait()
		require.Zero(t, time.Since(start), "nobody waits")
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() {
				for i := range 3 {
					_, err := d.Kernel(sized, ofSize(i+1))
					require.NoError(t, err)
				}
			})
		}
		callers.Wait()
		require.Equal(t, time.Second, time.Since(start), "three kernels that are compiled at the same time")
		time.Sleep(time.Minute)
		require.Equal(t, KernelStats{Compiled: 8, Ahead: 8, Unused: 5, AtOnce: 4, Time: 8 * time.Second,
			Waited: 3 * time.Second}, d.KernelStats())
		_, err := d.Kernel(sized, ofSize(7))
		require.NoError(t, err)
		require.Equal(t, 4, d.KernelStats().Unused)
		require.EqualValues(t, 8, c.begun.Load())
	})
}

// A kernel that waits for its turn is compiled by whoever needs it.
func TestNeededBeforeItsTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, c *compiler, d *Device) {
		start := time.Now()
		for i := range 40 {
			d.Prefetch(sized, ofSize(i+1))
		}
		synctest.Wait()
		_, err := d.Kernel(sized, ofSize(1000))
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(start), "one that nobody has asked for before")
		var callers sync.WaitGroup
		for i := range 40 {
			callers.Go(func() {
				_, err := d.Kernel(sized, ofSize(i+1))
				require.NoError(t, err)
			})
		}
		callers.Wait()
		require.Less(t, time.Since(start), 3*time.Second)
		require.EqualValues(t, 41, c.begun.Load())
	})
}

// If a kernel fails to compile ahead, it is compiled again when needed, and whoever needs it gets the error.
func TestPrefetchFails(t *testing.T) {
	inBubble(t, func(t *testing.T, c *compiler, d *Device) {
		failure := errors.New("the compiler is out of memory")
		c.fail(failure)
		d.Prefetch(sized, ofSize(1))
		d.Prefetch(sized, ofSize(2))
		d.Prefetch(&KernelSpec{Name: "k", Axes: []Axis{{"axis", []uint32{1}}}}, nil) // incomplete
		synctest.Wait()
		_, err := d.Kernel(sized, ofSize(1))
		require.ErrorIs(t, err, failure, "of the compilation that was waited for")
		time.Sleep(time.Minute)
		_, err = d.Kernel(sized, ofSize(1))
		require.ErrorIs(t, err, failure, "of another one")
		c.fail(nil)
		for i := range 2 {
			_, err = d.Kernel(sized, ofSize(i+1))
			require.NoError(t, err)
		}
		require.EqualValues(t, 5, c.begun.Load())
		require.Equal(t, 2, d.KernelStats().Compiled)
		require.Zero(t, d.KernelStats().Unused)
	})
}

// Close waits for the kernels that are being compiled, and for no others. inBubble fails if a goroutine remains.
func TestCloseWhileCompilingAhead(t *testing.T) {
	inBubble(t, func(t *testing.T, c *compiler, d *Device) {
		start := time.Now()
		for i := range 40 {
			d.Prefetch(sized, ofSize(i+1))
		}
		synctest.Wait()
		require.NoError(t, d.Close())
		require.Equal(t, time.Second, time.Since(start))
		d.Prefetch(sized, ofSize(1000))
		time.Sleep(time.Minute)
		require.EqualValues(t, 4, c.begun.Load())
	})
}
