//go:build opencl && linux

package opencl

/*
#include "shim.h"
*/
import "C"

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"unsafe"

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
	// direct devices use memory of the host in place: cores, and GPUs known to do so. Others have memory of their own,
	// or may copy.
	direct bool
	// polling is how the end of work is awaited: clWaitForEvents of GPU drivers may keep a core busy.
	polling bool
	build   string // what a compiled kernel depends on: platform, device and driver

	language string // of kernels, for -cl-std
	prelude  string // text before each kernel, which defines subgroup operations; empty if the device has none
	proving  sync.Once
	proof    error // what is wrong with the prelude; see [driver.prove]
}

// known asks for a property of a device by a getter of the binding, one that does not panic. A property that the device
// does not know is zero.
func known[P ~uint32, V any](get func(P) (V, error), what P) V {
	value, err := get(what)
	if err != nil {
		return *new(V)
	}
	return value
}

// bytes returns a property that the binding has no getter for: of another type, or a text of more than 1023 bytes. nil
// if the device does not know it.
func (p *physical) bytes(what C.cl_uint) []byte {
	device, need := handle(p.device), new(C.size_t)
	if C.sjcl_device_info(device, what, 0, nil, need) != 0 || *need == 0 {
		return nil
	}
	value := make([]byte, *need)
	if C.sjcl_device_info(device, what, *need, unsafe.Pointer(&value[0]), need) != 0 {
		return nil
	}
	return value
}

// printable is a text without the spaces that some drivers put around names.
func printable(text string) string { return strings.Join(strings.Fields(text), " ") }

const pocl = "PoCL"

// driverNames are shorter names of platforms.
var driverNames = map[string]string{"Portable Computing Language": pocl}

// describe asks a device for all that it tells. staged keeps it from using memory of the host in place.
func describe(d *cl.Device, driver string, staged bool) *physical {
	p := &physical{device: d}
	kind := cl.DeviceType(known(d.GetInfoUlong, C.CL_DEVICE_TYPE))
	unified := known(d.GetInfoBool, C.CL_DEVICE_HOST_UNIFIED_MEMORY)
	i := &p.info
	i.Backend, i.Name, i.Driver = "opencl", printable(known(d.GetInfoString, C.CL_DEVICE_NAME)), driver
	i.DriverVersion = printable(known(d.GetInfoString, C.CL_DRIVER_VERSION))
	offered := printable(known(d.GetInfoString, C.CL_DEVICE_VERSION))
	i.APIVersion = version(offered)
	i.VendorID = uint32(known(d.GetInfoUint, C.CL_DEVICE_VENDOR_ID))
	switch {
	case kind&cl.DeviceTypeCPU != 0:
		i.Type = backend.Software
	case unified:
		i.Type = backend.Integrated
	case kind&cl.DeviceTypeGPU != 0:
		i.Type = backend.Discrete
	default:
		i.Type = backend.Virtual
	}
	i.TypeName = i.Type.String()
	p.direct = !staged && (i.Type == backend.Software || unified && i.VendorID == vendorIntel)
	p.polling = i.Type != backend.Software
	i.Unified = p.direct

	page := uint64(os.Getpagesize())
	size := uint64(known(d.GetInfoUlong, C.CL_DEVICE_GLOBAL_MEM_SIZE))
	most := uint64(known(d.GetInfoUlong, C.CL_DEVICE_MAX_MEM_ALLOC_SIZE)) / page * page // blocks are whole pages
	i.Heaps = []backend.Heap{{SizeBytes: size, BudgetBytes: size, DeviceLocal: true}}
	parameters := known(d.GetInfoSize, C.CL_DEVICE_MAX_PARAMETER_SIZE)
	i.Limits = backend.Limits{
		MaxAllocationBytes: most, MaxBufferBytes: most, MaxBlockBytes: most,
		MaxInvocations:   uint32(known(d.GetInfoSize, C.CL_DEVICE_MAX_WORK_GROUP_SIZE)),
		MaxSharedBytes:   uint32(min(known(d.GetInfoUlong, C.CL_DEVICE_LOCAL_MEM_SIZE), math.MaxUint32)),
		MaxArgumentBytes: uint32(min(parameters/2, 1024)), // each buffer is an argument and an offset
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
	extensions := strings.Fields(strings.Trim(string(p.bytes(C.CL_DEVICE_EXTENSIONS)), "\x00"))
	p.findSubgroups(extensions)
	i.PCI = p.pci(extensions)
	if id := p.bytes(C.CL_DEVICE_UUID_KHR); slices.Contains(extensions, "cl_khr_device_uuid") && len(id) == 16 {
		i.UUID = uuid(id)
	}
	i.Unusable = p.lacks(kind)
	p.build = strings.Join([]string{driver, i.Name, i.DriverVersion, offered, fmt.Sprintf("%x",
		p.bytes(C.CL_DRIVER_UUID_KHR))}, "\n")
	return p
}

// pci is the address of the device on the bus; empty if it does not tell.
func (p *physical) pci(extensions []string) string {
	address := func(domain, bus, device, function uint32) string {
		return fmt.Sprintf("%04x:%02x:%02x.%x", domain, bus, device, function)
	}
	if a := p.bytes(C.CL_DEVICE_PCI_BUS_INFO_KHR); slices.Contains(extensions, "cl_khr_pci_bus_info") && len(a) == 16 {
		words := backend.Words(a)
		return address(words[0], words[1], words[2], words[3])
	}
	if slices.Contains(extensions, "cl_nv_device_attribute_query") {
		get := p.device.GetInfoUint
		if bus, err := get(C.CL_DEVICE_PCI_BUS_ID_NV); err == nil {
			slot := uint32(known(get, C.CL_DEVICE_PCI_SLOT_ID_NV))
			return address(uint32(known(get, C.CL_DEVICE_PCI_DOMAIN_ID_NV)), uint32(bus), slot>>3, slot&7)
		}
	}
	if slices.Contains(extensions, "cl_amd_device_attribute_query") {
		if a := p.bytes(C.CL_DEVICE_TOPOLOGY_AMD); len(a) == 24 {
			return address(0, uint32(a[21]), uint32(a[22]), uint32(a[23])) // behind a type and 17 bytes without meaning
		}
	}
	return ""
}

// lacks says what a device misses of what every device must have; empty when it can be used.
func (p *physical) lacks(kind cl.DeviceType) string {
	d := p.device
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
	lacking(known(d.GetInfoString, C.CL_DEVICE_PROFILE) != "FULL_PROFILE", "the full profile")
	lacking(!known(d.GetInfoBool, C.CL_DEVICE_COMPILER_AVAILABLE), "a compiler")
	lacking(known(d.GetInfoUint, C.CL_DEVICE_ADDRESS_BITS) != 64, "addresses of 64 bits")
	lacking(!known(d.GetInfoBool, C.CL_DEVICE_ENDIAN_LITTLE), "little-endian words")
	lacking(kind&C.CL_DEVICE_TYPE_CUSTOM != 0, "a processor that runs any kernel")
	lacking(l.MaxInvocations < leastGroup, "workgroups of %d invocations (it has %d)", leastGroup, l.MaxInvocations)
	lacking(l.MaxSharedBytes < leastShared, "%d bytes of local memory (it has %d)", leastShared, l.MaxSharedBytes)
	lacking(l.MaxArgumentBytes < leastArgument, "%d bytes of kernel arguments (it has %d)", leastArgument,
		l.MaxArgumentBytes)
	lacking(l.MaxBlockBytes < leastBlock, "buffers of %d bytes (it has %d)", leastBlock, l.MaxBlockBytes)
	switch {
	case !known(d.GetInfoBool, C.CL_DEVICE_AVAILABLE):
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
