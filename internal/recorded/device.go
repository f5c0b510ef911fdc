// Package recorded opens simulated devices from a description, and records their work as text: kernels with their
// configurations, groups, arguments and parameters, transfers, and waits of the host. For tests only.
package recorded

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
)

// H200 describes an NVIDIA H200, for which the tuning and rates tables have rows named "nvidia".
func H200() backend.DeviceInfo {
	return describe("NVIDIA H200", "NVIDIA", 32, 139<<30, backend.Limits{
		MaxAllocationBytes: 4<<30 - 2<<20, MaxBufferBytes: 1 << 40, MaxBlockBytes: 139 << 30,
		MaxInvocations: 1024, MaxSharedBytes: 48 << 10, MaxArgumentBytes: 256, MaxGroups: 1<<31 - 1,
		ImportAlignment: 4096,
	})
}

// Plain describes a discrete GPU that no table names, so that it uses the rows "any" and "gpu".
func Plain() backend.DeviceInfo {
	return describe("plain GPU", "plain driver", 64, 16<<30, backend.Limits{
		MaxAllocationBytes: 4<<30 - 2<<20, MaxBufferBytes: 4<<30 - 2<<20, MaxBlockBytes: 4<<30 - 2<<20,
		MaxInvocations: 256, MaxSharedBytes: 32 << 10, MaxArgumentBytes: 128, MaxGroups: 1<<16 - 1,
		ImportAlignment: 4096,
	})
}

func describe(name, driver string, subgroup uint32, memoryBytes uint64, limits backend.Limits) backend.DeviceInfo {
	return backend.DeviceInfo{
		ID: "described:" + name, Backend: "vulkan", Name: name,
		Type: backend.Discrete, TypeName: backend.Discrete.String(),
		Driver: driver, DriverVersion: "1", UUID: name, Limits: limits,
		Heaps:     []backend.Heap{{SizeBytes: memoryBytes, BudgetBytes: memoryBytes, DeviceLocal: true}},
		Subgroups: true, SubgroupSize: subgroup, MinSubgroupSize: subgroup, MaxSubgroupSize: subgroup,
	}
}

// Open opens a described device whose kernels are the Go references, run by this number of workers (0: one per core).
// The host therefore reads back correct results. Device-local memory is not mapped. The device must close cleanly when
// the test ends.
func Open(t testing.TB, info backend.DeviceInfo, options backend.DeviceOptions, workers int) *backend.Device {
	t.Helper()
	b := host.New(host.Options{Discrete: true, Workers: workers})
	below, err := b.Open("host:cpu")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return open(t, described{below, &info}, options)
}

// OpenIdle opens a described device without memory that executes nothing, so that commands over columns of any size can
// be recorded. Data read back from it is undefined.
func OpenIdle(t testing.TB, info backend.DeviceInfo) *backend.Device {
	t.Helper()
	return open(t, described{&idle{}, &info}, backend.DeviceOptions{})
}

func open(t testing.TB, driver backend.Driver, options backend.DeviceOptions) *backend.Device {
	device := backend.NewDevice(driver, options)
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

// described is a driver with the description of another device. It applies that device's limits to kernels.
type described struct {
	backend.Driver
	info *backend.DeviceInfo
}

func (d described) Info() *backend.DeviceInfo { return d.info }

func (d described) Compile(spec *backend.KernelSpec, config backend.Config) (backend.Program, error) {
	limits := &d.info.Limits
	sharedBytes, argumentBytes := uint32(0), uint32(8*len(spec.Args)+4*len(spec.Params)+8)
	if spec.SharedBytes != nil {
		sharedBytes = spec.SharedBytes(config)
	}
	if config["workgroup"] > limits.MaxInvocations || sharedBytes > limits.MaxSharedBytes ||
		argumentBytes > limits.MaxArgumentBytes {
		return nil, &backend.OpError{Op: "compile", Device: d.info.Name, Kernel: spec.Name, Err: backend.ErrLimit,
			Detail: fmt.Sprintf("%v: %d bytes of shared memory, %d of arguments", config, sharedBytes, argumentBytes)}
	}
	return d.Driver.Compile(spec, config)
}

// idle is a driver whose blocks have no memory and whose batches are complete as soon as they are submitted.
type idle struct {
	mu        sync.Mutex
	submitted [backend.Roles]uint64
}

type idleBlock struct {
	sizeBytes uint64
	memory    backend.Memory
}

func (b *idleBlock) SizeBytes() uint64      { return b.sizeBytes }
func (b *idleBlock) Memory() backend.Memory { return b.memory }
func (b *idleBlock) Bytes() []byte          { return nil }
func (b *idleBlock) Free() error            { return nil }

func (d *idle) Info() *backend.DeviceInfo { return nil } // described has it

func (d *idle) AllocateBlock(sizeBytes uint64, memory backend.Memory) (backend.Block, error) {
	return &idleBlock{sizeBytes, memory}, nil
}

func (d *idle) ImportHost(memory []byte) (backend.Block, error) {
	return nil, fmt.Errorf("%w: import of %d bytes on an idle device", backend.ErrUnsupported, len(memory))
}

func (d *idle) Compile(*backend.KernelSpec, backend.Config) (backend.Program, error) {
	return nil, nil
}

func (d *idle) Submit(batch *backend.Batch) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.submitted[batch.Role] = batch.Signal
	return nil
}

func (d *idle) Wait(context.Context, backend.Role, uint64, time.Duration) error { return nil }

func (d *idle) Completed(role backend.Role) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.submitted[role], nil
}

func (d *idle) Times(backend.Role, uint64) ([]time.Duration, bool) {
	return []time.Duration{0, 0}, true
}

func (d *idle) Close() error { return nil }
