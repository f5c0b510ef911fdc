package opencl

/*
#include "shim.h"
*/
import "C"

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

// Queries of platforms and devices.
const (
	platformName = 0x0902

	deviceType            = 0x1000
	deviceVendorID        = 0x1001
	deviceWorkgroup       = 0x1004
	deviceMaxAllocation   = 0x1010
	deviceAddressBits     = 0x100D
	deviceParameterBytes  = 0x1017
	deviceMemory          = 0x101F
	deviceLocalMemory     = 0x1023
	deviceLittleEndian    = 0x1026
	deviceAvailable       = 0x1027
	deviceCompiler        = 0x1028
	deviceName            = 0x102B
	deviceDriverVersion   = 0x102D
	deviceProfile         = 0x102E
	deviceVersion         = 0x102F
	deviceExtensions      = 0x1030
	deviceUnified         = 0x1035
	deviceUUID            = 0x106A // cl_khr_device_uuid
	deviceDriverUUID      = 0x106B
	deviceTopologyAMD     = 0x4037 // cl_amd_device_attribute_query
	devicePCIBusNVIDIA    = 0x4008 // cl_nv_device_attribute_query
	devicePCISlotNVIDIA   = 0x4009
	devicePCIDomainNVIDIA = 0x400A
	devicePCI             = 0x410F // cl_khr_pci_bus_info

	typeCPU    = 2
	typeGPU    = 4
	typeCustom = 16
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
	platform, device unsafe.Pointer
	info             backend.DeviceInfo
	// direct devices use memory of the host in place: cores, and GPUs known to do so. Others have memory of their own,
	// or may copy.
	direct bool
	// polling is how the end of work is awaited: clWaitForEvents of GPU drivers may keep a core busy.
	polling bool
	build   string // what a compiled kernel depends on: platform, device and driver
}

// query returns the value of a property; nil if the device does not know it.
func (p *physical) query(what C.uint32_t) []byte {
	return queried(func(size C.size_t, value unsafe.Pointer, need *C.size_t) C.sjcl_result {
		return C.sjcl_device_info(p.device, what, size, value, need)
	})
}

func queried(get func(size C.size_t, value unsafe.Pointer, need *C.size_t) C.sjcl_result) []byte {
	need := new(C.size_t)
	if get(0, nil, need) != 0 || *need == 0 {
		return nil
	}
	value := make([]byte, *need)
	if get(*need, unsafe.Pointer(&value[0]), need) != 0 {
		return nil
	}
	return value
}

// number returns a property of 4 or 8 bytes; 0 if it is not known.
func (p *physical) number(what C.uint32_t) uint64 {
	switch value := p.query(what); len(value) {
	case 4:
		return uint64(binary.NativeEndian.Uint32(value))
	case 8:
		return binary.NativeEndian.Uint64(value)
	}
	return 0
}

func (p *physical) text(what C.uint32_t) string { return printable(p.query(what)) }

// printable is a C string without the spaces that some drivers put around names.
func printable(value []byte) string {
	return strings.Join(strings.Fields(strings.Trim(string(value), "\x00")), " ")
}

const pocl = "PoCL"

// driverNames are shorter names of platforms.
var driverNames = map[string]string{"Portable Computing Language": pocl}

// describe asks a device for all that it tells. staged keeps it from using memory of the host in place.
func describe(platform, device unsafe.Pointer, driver string, staged bool) *physical {
	p := &physical{platform: platform, device: device}
	kind := p.number(deviceType)
	unified := p.number(deviceUnified) != 0
	i := &p.info
	i.Backend, i.Name, i.Driver = "opencl", p.text(deviceName), driver
	i.DriverVersion = p.text(deviceDriverVersion)
	i.APIVersion = version(p.text(deviceVersion))
	i.VendorID = uint32(p.number(deviceVendorID))
	switch {
	case kind&typeCPU != 0:
		i.Type = backend.Software
	case unified:
		i.Type = backend.Integrated
	case kind&typeGPU != 0:
		i.Type = backend.Discrete
	default:
		i.Type = backend.Virtual
	}
	i.TypeName = i.Type.String()
	p.direct = !staged && (i.Type == backend.Software || unified && i.VendorID == vendorIntel)
	p.polling = i.Type != backend.Software
	i.Unified = p.direct

	page := uint64(os.Getpagesize())
	size, most := p.number(deviceMemory), p.number(deviceMaxAllocation)/page*page // blocks are whole pages
	i.Heaps = []backend.Heap{{SizeBytes: size, BudgetBytes: size, DeviceLocal: true}}
	parameters := p.number(deviceParameterBytes)
	i.Limits = backend.Limits{
		MaxAllocationBytes: most, MaxBufferBytes: most, MaxBlockBytes: most,
		MaxInvocations:   uint32(p.number(deviceWorkgroup)),
		MaxSharedBytes:   uint32(min(p.number(deviceLocalMemory), math.MaxUint32)),
		MaxArgumentBytes: uint32(min(parameters/2, 1024)), // each buffer is an argument and an offset
		// The offset of a buffer is added in the kernel, so only whole lines of caches matter.
		ArgumentAlignment: 256,
		MaxGroups:         math.MaxUint32,
	}
	if p.direct {
		i.Limits.ImportAlignment = page
	}
	i.SubgroupSize, i.MinSubgroupSize, i.MaxSubgroupSize = 1, 1, 1
	i.Features = []string{}
	if p.direct {
		i.Features = append(i.Features, "hostMemoryImport")
	}
	i.QueueFamilies = []backend.QueueFamily{{Count: uint32(backend.Graphics), Compute: true, Transfer: true}}
	for role := range backend.Graphics {
		i.Queues = append(i.Queues, backend.RoleQueue{Role: role.String(), Index: uint32(role),
			Computes: role != backend.Upload && role != backend.Download})
	}
	extensions := strings.Fields(p.text(deviceExtensions))
	i.PCI = p.pci(extensions)
	if id := p.query(deviceUUID); slices.Contains(extensions, "cl_khr_device_uuid") && len(id) == 16 {
		i.UUID = uuid(id)
	}
	i.Unusable = p.lacks(kind)
	p.build = strings.Join([]string{driver, i.Name, i.DriverVersion, p.text(deviceVersion), fmt.Sprintf("%x",
		p.query(deviceDriverUUID))}, "\n")
	return p
}

// pci is the address of the device on the bus; empty if it does not tell.
func (p *physical) pci(extensions []string) string {
	address := func(domain, bus, device, function uint32) string {
		return fmt.Sprintf("%04x:%02x:%02x.%x", domain, bus, device, function)
	}
	if a := p.query(devicePCI); slices.Contains(extensions, "cl_khr_pci_bus_info") && len(a) == 16 {
		words := backend.Words(a)
		return address(words[0], words[1], words[2], words[3])
	}
	if slices.Contains(extensions, "cl_nv_device_attribute_query") && p.query(devicePCIBusNVIDIA) != nil {
		slot := uint32(p.number(devicePCISlotNVIDIA))
		return address(uint32(p.number(devicePCIDomainNVIDIA)), uint32(p.number(devicePCIBusNVIDIA)), slot>>3, slot&7)
	}
	if a := p.query(deviceTopologyAMD); slices.Contains(extensions, "cl_amd_device_attribute_query") && len(a) == 24 {
		return address(0, uint32(a[21]), uint32(a[22]), uint32(a[23])) // behind a type and 17 bytes without meaning
	}
	return ""
}

// lacks says what a device misses of what every device must have; empty when it can be used.
func (p *physical) lacks(kind uint64) string {
	var major, minor int
	_, _ = fmt.Sscanf(p.info.APIVersion, "%d.%d", &major, &minor)
	l := &p.info.Limits
	var missing []string
	for what, lacking := range map[string]bool{
		"OpenCL 1.2 (it offers " + p.info.APIVersion + ")": major < 1 || major == 1 && minor < 2,
		"the full profile":                 p.text(deviceProfile) != "FULL_PROFILE",
		"a compiler":                       p.number(deviceCompiler) == 0,
		"addresses of 64 bits":             p.number(deviceAddressBits) != 64,
		"little-endian words":              p.number(deviceLittleEndian) == 0,
		"a processor that runs any kernel": kind&typeCustom != 0,
		fmt.Sprintf("workgroups of %d invocations (it has %d)", leastGroup, l.MaxInvocations):      l.MaxInvocations < leastGroup,
		fmt.Sprintf("%d bytes of local memory (it has %d)", leastShared, l.MaxSharedBytes):         l.MaxSharedBytes < leastShared,
		fmt.Sprintf("%d bytes of kernel arguments (it has %d)", leastArgument, l.MaxArgumentBytes): l.MaxArgumentBytes < leastArgument,
		fmt.Sprintf("buffers of %d bytes (it has %d)", leastBlock, l.MaxBlockBytes):                l.MaxBlockBytes < leastBlock,
	} {
		if lacking {
			missing = append(missing, what)
		}
	}
	slices.Sort(missing)
	switch {
	case p.number(deviceAvailable) == 0:
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
