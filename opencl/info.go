//go:build opencl && linux

package opencl

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
)

const (
	vendorIntel   = 0x8086
	leastShared   = 16 << 10
	leastGroup    = 256
	leastArgument = 256
	leastBlock    = 64 << 20
)

// physical is a device of a platform with what opening it needs to know.
type physical struct {
	device *cl.Device
	info   backend.DeviceInfo
	// direct devices use memory of the host in place: cores, and GPUs known to do so that prove it when they are opened
	// for the first time. Others have memory of their own, or may copy.
	direct  bool
	sharing sync.Once
	copies  error // what is wrong with memory of the host; see [driver.proveInPlace]
	// polling is how the end of work is awaited: clWaitForEvents of GPU drivers may keep a core busy.
	polling bool
	build   string // what a compiled kernel depends on: platform, device and driver

	language string // of kernels, for -cl-std
	prelude  string // text before each kernel, which defines subgroup operations; empty if the device has none
	proving  sync.Once
	proof    error // what is wrong with the prelude; see [driver.prove]
}

const pocl = "PoCL"

// driverNames are shorter names of platforms.
var driverNames = map[string]string{"Portable Computing Language": pocl}

// describe decides from the properties of a device how it is used. staged keeps it from using host memory in place.
func (told *properties) describe(driver string, staged bool) *physical {
	p := new(physical)
	i := &p.info
	i.Backend, i.Name, i.Driver, i.DriverVersion = "opencl", told.name, driver, told.driverVersion
	i.APIVersion, i.VendorID, i.PCI = version(told.version), told.vendor, told.pci
	switch {
	case told.cpu:
		i.Type = backend.Software
	case told.unified:
		i.Type = backend.Integrated
	case told.gpu:
		i.Type = backend.Discrete
	default:
		i.Type = backend.Virtual
	}
	i.TypeName = i.Type.String()
	p.direct = !staged && (told.cpu || told.unified && told.vendor == vendorIntel)
	p.polling = !told.cpu
	i.Unified = p.direct

	page := uint64(os.Getpagesize())
	most := told.allocationBytes / page * page // blocks are whole pages
	i.Heaps = []backend.Heap{{SizeBytes: told.memoryBytes, BudgetBytes: told.memoryBytes, DeviceLocal: true}}
	i.Limits = backend.Limits{
		MaxAllocationBytes: most, MaxBufferBytes: most, MaxBlockBytes: most,
		MaxInvocations:   uint32(told.mostInvocations()),
		MaxSharedBytes:   uint32(min(told.localBytes, math.MaxUint32)),
		MaxArgumentBytes: uint32(min(told.parameterBytes/2, 1024)), // each buffer is an argument and an offset
		// The offset of a buffer is added in the kernel, so only whole lines of caches matter.
		ArgumentAlignment: 256,
		MaxGroups:         math.MaxUint32,
	}
	if p.direct {
		i.Limits.ImportAlignment = page
	}
	i.Features = []string{}
	if p.direct {
		i.Features = append(i.Features, "hostMemoryImport")
	}
	i.QueueFamilies = []backend.QueueFamily{{Count: uint32(backend.Graphics), Compute: true, Transfer: true}}
	for role := range backend.Graphics {
		i.Queues = append(i.Queues, backend.RoleQueue{Role: role.String(), Index: uint32(role),
			Computes: role != backend.Upload && role != backend.Download})
	}
	p.findSubgroups(told)
	if len(told.uuid) == 16 {
		i.UUID = uuid(told.uuid)
	}
	i.Unusable = p.lacks(told)
	p.build = strings.Join([]string{driver, i.Name, i.DriverVersion, told.version, fmt.Sprintf("%x", told.driverUUID)},
		"\n")
	return p
}

// lacks says what a device misses of what every device must have; empty when it can be used.
func (p *physical) lacks(told *properties) string {
	var major, minor int
	_, _ = fmt.Sscanf(p.info.APIVersion, "%d.%d", &major, &minor)
	l := &p.info.Limits
	var missing []string
	lacking := func(lacks bool, format string, a ...any) {
		if lacks {
			missing = append(missing, fmt.Sprintf(format, a...))
		}
	}
	lacking(major < 1 || major == 1 && minor < 2, "OpenCL 1.2 (it offers %s)", p.info.APIVersion)
	lacking(told.profile != "FULL_PROFILE", "the full profile")
	lacking(!told.compiler, "a compiler")
	lacking(told.addressBits != 64, "addresses of 64 bits")
	lacking(!told.littleEndian, "little-endian words")
	lacking(told.custom, "a processor that runs any kernel")
	lacking(l.MaxInvocations < leastGroup, "workgroups of %d invocations (it has %d)", leastGroup, l.MaxInvocations)
	lacking(l.MaxSharedBytes < leastShared, "%d bytes of local memory (it has %d)", leastShared, l.MaxSharedBytes)
	lacking(l.MaxArgumentBytes < leastArgument, "%d bytes of kernel arguments (it has %d)", leastArgument,
		l.MaxArgumentBytes)
	lacking(l.MaxBlockBytes < leastBlock, "buffers of %d bytes (it has %d)", leastBlock, l.MaxBlockBytes)
	switch {
	case !told.available:
		return "its driver says that it is not available"
	case len(missing) > 0:
		return "it lacks " + strings.Join(missing, ", ")
	}
	return ""
}

// identify gives each device its ID and marks twins: the same UUID or PCI address through another driver.
func identify(all []*physical) {
	taken := make(map[string]int)
	for _, p := range all {
		i := &p.info
		slug := "opencl:" + strings.ReplaceAll(strings.ToLower(i.Driver), " ", "-") + ":"
		id := slug + i.UUID
		if i.UUID == "" {
			// Without a UUID, one that stays the same: of the driver, the name, and the place on the bus.
			sum := sha256.Sum256([]byte(slug + i.Name + "\n" + i.PCI))
			i.UUID = uuid(sum[:16])
			id = slug + i.UUID
		}
		if taken[id]++; taken[id] > 1 { // of two alike that tell no place, or listed twice
			id = fmt.Sprintf("%s#%d", id, taken[id])
		}
		i.ID = id
	}
	for n, p := range all {
		for _, other := range all[:n] {
			if other.info.TwinOf == "" && other.info.Unusable == "" && backend.Twins(&p.info, &other.info) {
				p.info.TwinOf = other.info.ID
				break
			}
		}
	}
}

func uuid(b []byte) string {
	h := fmt.Sprintf("%x", b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// version is the number in "OpenCL 3.0 and more".
func version(text string) string {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return text
	}
	return fields[1]
}
