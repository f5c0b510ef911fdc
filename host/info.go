package host

import (
	"fmt"
	"math"
	"runtime"

	"github.com/spirjoin/spirjoin/backend"
)

const (
	maxArgumentBytes  = 128     // what every Vulkan device offers, so that a kernel beyond it fails here too
	argumentAlignment = 256     // as on GPUs, so that an offset that fails there fails here too
	maxInvocations    = 1 << 20 // a reference has none; the value of the workgroup constant is bounded only for sanity
	maxSharedBytes    = 1 << 20
	// The UUID of the host's processors: all logical devices are one physical device.
	hostUUID = "686f7374-0000-4000-8000-000000000000"
)

// describe fills in what a logical device reports.
func describe(options *Options, index int, totalBytes, limitBytes uint64) *backend.DeviceInfo {
	device := options.Devices[index]
	size := totalBytes
	if device.MemoryBytes > 0 {
		size = limitBytes
	}
	maxAllocation := size
	if options.MaxAllocationBytes > 0 {
		maxAllocation = options.MaxAllocationBytes
	}
	maxBlock := maxAllocation
	if options.MaxBlockBytes > 0 {
		maxBlock = options.MaxBlockBytes
	}
	features := []string{fmt.Sprintf("cores=%d", options.Workers)}
	if options.Shuffle != 0 {
		features = append(features, fmt.Sprintf("shuffle=%d", options.Shuffle))
	}
	return &backend.DeviceInfo{
		ID:            "host:" + device.Name,
		Index:         index,
		Backend:       "host",
		Name:          processorName(),
		Type:          backend.Host,
		TypeName:      backend.Host.String(),
		Driver:        "Go kernels",
		DriverVersion: runtime.Version(),
		APIVersion:    runtime.GOOS + "/" + runtime.GOARCH,
		UUID:          hostUUID,
		Heaps:         []backend.Heap{{SizeBytes: size, BudgetBytes: limitBytes, DeviceLocal: true}},
		Unified:       !options.Discrete,
		Limits: backend.Limits{
			MaxAllocationBytes: maxAllocation,
			MaxBufferBytes:     max(maxAllocation, maxBlock),
			MaxBlockBytes:      maxBlock,
			MaxInvocations:     maxInvocations,
			MaxSharedBytes:     maxSharedBytes,
			MaxArgumentBytes:   maxArgumentBytes,
			ArgumentAlignment:  argumentAlignment,
			MaxGroups:          math.MaxUint32,
			ImportAlignment:    1,
		},
		Subgroups:       true, // a reference is the same for every shape
		SubgroupSize:    1,
		MinSubgroupSize: 1,
		MaxSubgroupSize: 1,
		Features:        features,
		QueueFamilies:   []backend.QueueFamily{{Count: uint32(backend.Graphics), Compute: true, Transfer: true}},
		Queues:          roleQueues(),
	}
}

// roleQueues lists the roles of every device: all but graphics have a goroutine of their own.
func roleQueues() (queues []backend.RoleQueue) {
	for role := range backend.Graphics {
		computes := role != backend.Upload && role != backend.Download
		queues = append(queues, backend.RoleQueue{Role: role.String(), Index: uint32(role), Computes: computes})
	}
	return queues
}
