//go:build opencl && linux

package opencl

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

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
