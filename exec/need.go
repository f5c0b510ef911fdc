package exec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// Unlimited is the amount of memory in a [Budget] that means no limit.
const Unlimited = math.MaxUint64

// Need is an amount of memory of every kind, in bytes.
//
// All memory of the host counts towards one cap: Host, Pinned, Shared, and the device memory of devices whose memory is
// host memory ([backend.DeviceInfo.InHostMemory]), which also counts as device memory.
type Need struct {
	Device map[*backend.Device]uint64 // including the rounding of sizes by the arena
	Pinned uint64                     // host memory that a device has imported
	Host   uint64                     // other than pinned and shared memory
	// Shared is host memory that several queries may need, such as tables that they all read. The key is any comparable
	// value that identifies it. It counts once, however many grants have it.
	Shared map[any]uint64
	Disk   uint64
}

// kind is a kind of memory.
type kind uint8

const (
	deviceMemory kind = iota
	pinnedMemory
	hostMemory // all memory of the host
	diskSpace
	sharedMemory // a part of host memory, see [Budget.cost]
)

func (k kind) String() string {
	return [...]string{"device memory", "pinned memory", "host memory", "disk space"}[k]
}

// option names the setting that raises the limit.
func (k kind) option() string {
	return [...]string{"device_memory", "memory_limit", "memory_limit", "temp_limit"}[k]
}

func (k kind) sentinel() error {
	return [...]error{backend.ErrDeviceMemory, backend.ErrHostMemory, backend.ErrHostMemory, backend.ErrDiskSpace}[k]
}

// resource is memory of a kind: for device memory the memory of one device, for shared memory one piece of it.
type resource struct {
	kind   kind
	device *backend.Device // nil for other kinds
	shared any             // nil for other kinds
}

// hostTotal is all memory of the host.
var hostTotal = resource{kind: hostMemory}

func (r resource) name() string {
	if r.device == nil {
		return ""
	}
	return r.device.Info().Name
}

// amounts are bytes of each resource.
type amounts map[resource]uint64

// amounts are what a need takes of a budget. Pinned memory, and device memory that is host memory, also count as host
// memory.
func (n Need) amounts() amounts {
	a := n.limits()
	a[hostTotal] += n.Pinned
	for d, bytes := range n.Device {
		if d.Info().InHostMemory() {
			a[hostTotal] += bytes
		}
	}
	for what, bytes := range n.Shared {
		a[resource{kind: sharedMemory, shared: what}] = bytes
	}
	return a
}

// Add adds another need.
func (n *Need) Add(m Need) {
	n.Pinned, n.Host, n.Disk = n.Pinned+m.Pinned, n.Host+m.Host, n.Disk+m.Disk
	n.Device, n.Shared = maps.Clone(n.Device), maps.Clone(n.Shared)
	for d, bytes := range m.Device {
		if n.Device == nil {
			n.Device = make(map[*backend.Device]uint64)
		}
		n.Device[d] += bytes
	}
	for what, bytes := range m.Shared {
		if n.Shared == nil {
			n.Shared = make(map[any]uint64)
		}
		n.Shared[what] = bytes
	}
}

// limits are the amounts of a whole budget, field by field.
func (n Need) limits() amounts {
	a := amounts{{kind: pinnedMemory}: n.Pinned, hostTotal: n.Host, {kind: diskSpace}: n.Disk}
	for d, bytes := range n.Device {
		a[resource{kind: deviceMemory, device: d}] = bytes
	}
	return a
}

// need is the inverse of [Need.limits]; shared memory is left out.
func (a amounts) need() Need {
	need := Need{Device: make(map[*backend.Device]uint64)}
	for r, bytes := range a {
		switch r.kind {
		case deviceMemory:
			need.Device[r.device] = bytes
		case pinnedMemory:
			need.Pinned = bytes
		case hostMemory:
			need.Host = bytes
		case diskSpace:
			need.Disk = bytes
		}
	}
	return need
}

// onDevice returns what sizeBytes of memory of a device take of a budget.
func onDevice(d *backend.Device, sizeBytes uint64) amounts {
	a := amounts{{kind: deviceMemory, device: d}: sizeBytes}
	if d.Info().InHostMemory() {
		a[hostTotal] = sizeBytes
	}
	return a
}

func (a amounts) covers(need amounts) bool {
	for r, bytes := range need {
		if bytes > a[r] {
			return false
		}
	}
	return true
}

func (a amounts) add(more amounts) {
	for r, bytes := range more {
		a[r] += bytes
	}
}

func (a amounts) subtract(less amounts) {
	for r, bytes := range less {
		a[r] -= bytes
	}
}

// lack returns an error if a, which is free of total, does not cover a need. It names the first resource that is short.
func (a amounts) lack(need, total amounts, op string) error {
	r, detail := a.lacking(need, total)
	if detail == "" {
		return nil
	}
	return &backend.OpError{Op: op, Device: r.name(), Err: r.kind.sentinel(), Detail: detail}
}

// lacking says what a need lacks of a, what is left of total: a resource, how much of it, and what moves its limit; ""
// where a covers the need.
func (a amounts) lacking(need, total amounts) (r resource, detail string) {
	if a.covers(need) {
		return r, ""
	}
	order := slices.SortedFunc(maps.Keys(need), func(x, y resource) int {
		if x.kind != y.kind {
			return int(x.kind) - int(y.kind)
		}
		return strings.Compare(x.name(), y.name())
	})
	r = order[slices.IndexFunc(order, func(r resource) bool { return need[r] > a[r] })]
	return r, fmt.Sprintf("%d more bytes of %v are needed, %d of %d are free; raise %s", need[r], r.kind, a[r], total[r],
		r.kind.option())
}
