package host

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// Faults says which calls fail. Each number is the number of the failing call, counted from 1 across all drivers of the
// backend; 0 means none.
type Faults struct {
	AllocateDevice int // AllocateBlock of device-local memory fails with ErrDeviceMemory
	ShortOfDevice  int // this AllocateBlock of device-local memory and all that follow fail with ErrDeviceMemory
	AllocateHost   int // AllocateBlock of host-visible memory fails with ErrHostMemory
	Import         int // ImportHost fails with ErrHostMemory
	Compile        int // Compile fails with ErrHostMemory
	LoseAtSubmit   int // Submit fails with ErrDeviceLost, as does everything on that device from then on
	HangBatch      int // the batch of this Submit never runs, so that waits reach their limits
}

// faultCounters counts the calls.
type faultCounters struct {
	device, host, imports, compiles, submits atomic.Int64

	struck atomic.Bool
}

// Struck says whether a call of Options.Faults was made. Its effect may be unseen: a batch hangs unseen where another
// device did the work meanwhile.
func (b *Backend) Struck() bool { return b.faults.struck.Load() }

// strike returns fails, and notes it.
func (c *faultCounters) strike(fails bool) bool {
	if fails {
		c.struck.Store(true)
	}
	return fails
}

func (c *faultCounters) allocate(f *Faults, memory backend.Memory) bool {
	if memory == backend.DeviceLocal {
		n := c.device.Add(1)
		return c.strike(n == int64(f.AllocateDevice) || f.ShortOfDevice > 0 && n >= int64(f.ShortOfDevice))
	}
	return c.strike(c.host.Add(1) == int64(f.AllocateHost))
}

func (c *faultCounters) importHost(f *Faults) bool {
	return c.strike(c.imports.Add(1) == int64(f.Import))
}

func (c *faultCounters) compile(f *Faults) bool {
	return c.strike(c.compiles.Add(1) == int64(f.Compile))
}

func (c *faultCounters) submit(f *Faults) (lose, hang bool) {
	n := c.submits.Add(1)
	return c.strike(n == int64(f.LoseAtSubmit)), c.strike(n == int64(f.HangBatch))
}
