// Package host is the backend that runs the Go references of the kernels on all CPU cores. It serves machines without a
// GPU, is the oracle of every kernel, and can inject faults and shuffle the order of commands for tests.
//
// Memory is host memory, so every block is mapped. A plain driver has one goroutine per queue, which runs its batches
// in order; the commands between two barriers are cut into pieces, which all cores draw from one counter. A shuffling
// driver ([Options.Shuffle]) picks, from a seed, a random order wherever the contract leaves the order open.
package host

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// Options configures a backend. The zero value is the one that users get: one device with the memory of the machine.
type Options struct {
	Devices            []Device      // logical devices; empty: one named "cpu"
	Workers            int           // goroutines that share the groups of a dispatch; 0: GOMAXPROCS
	MaxAllocationBytes uint64        // maximum of one block; 0: the memory of the device
	MaxBlockBytes      uint64        // of one device-local block, perhaps larger than one allocation; 0: MaxAllocationBytes
	CloseLimit         time.Duration // how long Close waits for submitted work; 0: 10 s

	// Shuffle is the seed of the shuffling mode; 0: off. See the type shuffler for what it does.
	Shuffle uint64
	// Poison fills new and freed blocks with the byte [Marker] and allocates them on the Go heap, so that nothing can
	// rely on zeros, stale references read the marker, and the race detector sees the accesses of kernels.
	Poison bool
	// Discrete leaves device-local blocks unmapped, as on a GPU with its own memory, to exercise the code that stages
	// through host-visible memory.
	Discrete bool
	// Exchange adds backend.PeerExchange, which copies of links use where it is forced or nothing better works.
	Exchange ExchangeMode
	// DMABuf claims that memory can be shared as a dma-buf, which links use only where it is forced.
	DMABuf bool
	Faults Faults
}

// Device is a logical device of the host. All of them share the cores and the memory of the machine.
type Device struct {
	Name        string // the ID is "host:" and the name
	MemoryBytes uint64 // its own limit; 0: the available memory of the machine
}

// Backend lists and opens the logical devices of the host. It is safe for concurrent use.
type Backend struct {
	options Options
	infos   []*backend.DeviceInfo
	limits  []*account // per device
	machine *account
	faults  faultCounters

	mu      sync.Mutex
	drivers int // that are open
}

var _ backend.Backend = (*Backend)(nil)

// New returns a backend. Its memory limit is what the machine, and the control group of the process, currently have
// available.
func New(options Options) *Backend {
	if options.Workers <= 0 {
		options.Workers = runtime.GOMAXPROCS(0)
	}
	if options.CloseLimit <= 0 {
		options.CloseLimit = 10 * time.Second
	}
	if len(options.Devices) == 0 {
		options.Devices = []Device{{Name: "cpu"}}
	}
	total, available := machineMemory()
	b := &Backend{options: options, machine: &account{limitBytes: available}}
	for i, device := range options.Devices {
		limit := available
		if device.MemoryBytes > 0 {
			limit = min(limit, device.MemoryBytes)
		}
		b.limits = append(b.limits, &account{limitBytes: limit})
		b.infos = append(b.infos, describe(&options, i, total, limit))
	}
	return b
}

// Name returns "host".
func (b *Backend) Name() string { return "host" }

// Devices lists the logical devices. The budget of each is what is currently left of its limit.
func (b *Backend) Devices() ([]backend.DeviceInfo, error) {
	infos := make([]backend.DeviceInfo, len(b.infos))
	for i := range infos {
		infos[i] = *b.infoNow(i)
	}
	return infos, nil
}

// Open opens a logical device. An unknown ID is ErrNoDevice.
func (b *Backend) Open(id string) (backend.Driver, error) {
	for i, info := range b.infos {
		if info.ID == id {
			return b.open(i), nil
		}
	}
	return nil, &backend.OpError{Op: "open", Device: id, Err: backend.ErrNoDevice, Detail: "the host has no device of this ID"}
}

func (b *Backend) open(index int) *Driver {
	b.mu.Lock()
	b.drivers++
	b.mu.Unlock()
	return newDriver(b, index)
}

// Close returns ErrInvalidInput if drivers are still open.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drivers > 0 {
		return &backend.OpError{Op: "close", Device: b.Name(), Err: backend.ErrInvalidInput, Detail: "a driver is still open"}
	}
	return nil
}

// infoNow returns the description of a device with the budget that is left.
func (b *Backend) infoNow(index int) *backend.DeviceInfo {
	info := *b.infos[index]
	heap := info.Heaps[0]
	heap.BudgetBytes = min(b.limits[index].left(), b.machine.left())
	info.Heaps = []backend.Heap{heap}
	return &info
}

// account counts bytes against a limit.
type account struct {
	limitBytes uint64
	usedBytes  atomic.Uint64
}

func (a *account) reserve(sizeBytes uint64) bool {
	for {
		used := a.usedBytes.Load()
		if sizeBytes > a.limitBytes-used {
			return false
		}
		if a.usedBytes.CompareAndSwap(used, used+sizeBytes) {
			return true
		}
	}
}

func (a *account) release(sizeBytes uint64) { a.usedBytes.Add(-sizeBytes) }

func (a *account) left() uint64 { return a.limitBytes - a.usedBytes.Load() }
