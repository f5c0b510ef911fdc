package opencl

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// Faults says which calls fail, for tests. Each number is the number of the failing call, counted from 1 across all
// drivers of the backend; 0 means none.
type Faults struct {
	AllocateDevice int // AllocateBlock of device-local memory fails with ErrDeviceMemory
	AllocateHost   int // AllocateBlock of host-visible memory fails with ErrHostMemory
	Import         int // ImportHost fails with ErrHostMemory
	Compile        int // Compile fails with ErrHostMemory
	LoseBatch      int // the batch of this Submit fails on the device, with CL_OUT_OF_RESOURCES
	HangBatch      int // the batch of this Submit never ends
}

// faultCounters counts the calls.
type faultCounters struct {
	device, host, imports, compiles, submits atomic.Int64
}

func (b *Backend) failsToAllocate(memory backend.Memory) bool {
	if memory == backend.DeviceLocal {
		return b.faults.device.Add(1) == int64(b.options.Faults.AllocateDevice)
	}
	return b.faults.host.Add(1) == int64(b.options.Faults.AllocateHost)
}
