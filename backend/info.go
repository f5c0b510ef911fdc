package backend

// DeviceType orders devices for automatic selection: a lower value is preferred.
type DeviceType uint8

const (
	Discrete   DeviceType = iota // a GPU with its own memory
	Integrated                   // a GPU that shares the host's memory
	Virtual                      // a GPU seen through a hypervisor
	Host                         // the embedded host backend
	Software                     // a CPU driver of a GPU API; used only when asked for by name
)

func (t DeviceType) String() string {
	return [...]string{"discrete", "integrated", "virtual", "host", "software"}[t]
}

// Heap is one memory heap of a device. BudgetBytes is what this process may currently use according to the driver, or
// SizeBytes if the driver does not report it.
type Heap struct {
	SizeBytes   uint64 `json:"size_bytes"`
	BudgetBytes uint64 `json:"budget_bytes"`
	DeviceLocal bool   `json:"device_local"`
}

// Limits are the limits of a device, always as the device reports them.
type Limits struct {
	MaxAllocationBytes uint64 `json:"max_allocation_bytes"` // of one allocation of memory
	MaxBufferBytes     uint64 `json:"max_buffer_bytes"`     // of one buffer, whatever it is made of
	MaxBlockBytes      uint64 `json:"max_block_bytes"`      // of one device-local block, perhaps of several allocations
	MaxInvocations     uint32 `json:"max_invocations"`      // per workgroup
	MaxSharedBytes     uint32 `json:"max_shared_bytes"`     // per workgroup
	MaxArgumentBytes   uint32 `json:"max_argument_bytes"`   // arguments and parameters of a dispatch
	ArgumentAlignment  uint64 `json:"argument_alignment"`   // of a buffer argument, a power of two
	MaxGroups          uint32 `json:"max_groups"`           // workgroups of one dispatch in one dimension
	ImportAlignment    uint64 `json:"import_alignment"`     // of imported host memory, address and size; 0: no import
}

// BlockBytes is the size of the largest block of a kind of memory: only device-local blocks may consist of several
// allocations.
func (l *Limits) BlockBytes(memory Memory) uint64 {
	if memory == DeviceLocal {
		return l.MaxBlockBytes
	}
	return min(l.MaxAllocationBytes, l.MaxBufferBytes)
}

// QueueFamily is one family of queues of a device.
type QueueFamily struct {
	Count    uint32 `json:"count"`
	Compute  bool   `json:"compute"`
	Graphics bool   `json:"graphics"`
	Transfer bool   `json:"transfer"`
}

// RoleQueue is the queue of a role; roles with the same family and index share a queue.
type RoleQueue struct {
	Role     string `json:"role"`
	Family   uint32 `json:"family"`
	Index    uint32 `json:"index"`
	Computes bool   `json:"computes"` // runs kernels
}

// DeviceInfo describes a device without opening it.
type DeviceInfo struct {
	ID              string        `json:"id"` // stable: backend, driver, and UUID or PCI address
	Index           int           `json:"index"`
	Backend         string        `json:"backend"`
	Name            string        `json:"name"`
	Type            DeviceType    `json:"-"`
	TypeName        string        `json:"type"`
	Driver          string        `json:"driver"`
	DriverVersion   string        `json:"driver_version"`
	APIVersion      string        `json:"api_version"`
	UUID            string        `json:"uuid"` // of the physical device; equal for twins
	PCI             string        `json:"pci,omitempty"`
	VendorID        uint32        `json:"vendor_id"`
	Heaps           []Heap        `json:"heaps"`
	Unified         bool          `json:"unified"` // device-local memory is host memory and mapped
	Limits          Limits        `json:"limits"`
	Subgroups       bool          `json:"subgroups"` // runs kernels with subgroup operations; others get shared=1
	SubgroupSize    uint32        `json:"subgroup_size"`
	MinSubgroupSize uint32        `json:"min_subgroup_size"`
	MaxSubgroupSize uint32        `json:"max_subgroup_size"`
	Features        []string      `json:"features"` // optional features that kernels or transfers can use, sorted
	QueueFamilies   []QueueFamily `json:"queue_families"`
	Queues          []RoleQueue   `json:"queues"`             // of each role that the device has, in the order of roles
	TwinOf          string        `json:"twin_of,omitempty"`  // ID of the same device seen through another driver
	Unusable        string        `json:"unusable,omitempty"` // why it cannot be used; empty if it can
}

// Twins reports whether two devices are one that is seen through two drivers: by UUID or by its place on the bus.
func Twins(a, b *DeviceInfo) bool {
	const unknown = "00000000-0000-0000-0000-000000000000"
	return a.UUID != unknown && a.UUID == b.UUID || a.PCI != "" && a.PCI == b.PCI
}

// AddDevices adds the devices of one more backend to a list: numbered in order, and those marked as twins that are there
// already.
func AddDevices(devices, more []DeviceInfo) []DeviceInfo {
	before := devices
	for _, d := range more {
		d.Index = len(devices)
		d.TypeName = d.Type.String()
		for i := range before {
			if o := &before[i]; o.TwinOf == "" && o.Unusable == "" && Twins(o, &d) {
				d.TwinOf = o.ID
			}
		}
		devices = append(devices, d)
	}
	return devices
}

// MemoryBytes is the size and the budget of the largest device-local heap.
func (i *DeviceInfo) MemoryBytes() (sizeBytes, budgetBytes uint64) {
	for _, h := range i.Heaps {
		if h.DeviceLocal && h.SizeBytes > sizeBytes {
			sizeBytes, budgetBytes = h.SizeBytes, h.BudgetBytes
		}
	}
	return sizeBytes, budgetBytes
}

// Runs reports whether commands may be submitted to a role, and whether kernels are among them.
func (i *DeviceInfo) Runs(role Role) (commands, kernels bool) {
	switch role {
	case Compute, Ingest, Deliver:
		return true, true
	case Upload, Download:
		return true, false
	case Graphics:
		for _, q := range i.Queues {
			if q.Role == role.String() {
				return true, q.Computes
			}
		}
	}
	return false, false
}

// CPULike reports whether kernels run on the host's cores, where a single invocation that processes a tile serially is
// faster than cooperating invocations.
func (i *DeviceInfo) CPULike() bool { return i.Type == Host || i.Type == Software }

// InHostMemory tells whether device-local memory is memory of the host: where cores are the device, and in a processor
// with graphics.
func (i *DeviceInfo) InHostMemory() bool { return i.Unified || i.CPULike() }
