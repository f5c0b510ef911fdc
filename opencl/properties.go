//go:build opencl && linux

package opencl

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
)

// properties are what a device tells about itself. One that it does not know is zero.
type properties struct {
	name, driverVersion, version, profile      string
	vendor, addressBits                        uint32
	cpu, gpu, custom                           bool // of its type
	unified, available, compiler, littleEndian bool
	memoryBytes, allocationBytes, localBytes   uint64   // of the device, of one buffer, of a workgroup
	invocations, parameterBytes                int      // of a workgroup, of a kernel
	sizes                                      []uint64 // most invocations of a workgroup in each dimension
	extensions                                 []string
	uuid, driverUUID                           []byte
	pci                                        string   // address on the bus
	subgroupSizes                              []uint64 // that a kernel may require, in invocations
	nvidiaMajor, nvidiaWarp                    uint32   // compute capability, invocations
}

// has reports whether the device has all of these extensions.
func (p *properties) has(extensions ...string) bool {
	return !slices.ContainsFunc(extensions, func(name string) bool { return !slices.Contains(p.extensions, name) })
}

// mostInvocations is the limit of a workgroup in one dimension: some drivers allow fewer there than in all together.
func (p *properties) mostInvocations() int {
	if len(p.sizes) == 0 {
		return p.invocations
	}
	return int(min(uint64(p.invocations), p.sizes[0]))
}

// propertiesOf asks a device.
func propertiesOf(d *cl.Device) *properties {
	kind := known(d.GetInfoUlong, C.CL_DEVICE_TYPE)
	p := &properties{
		name:            printable(known(d.GetInfoString, C.CL_DEVICE_NAME)),
		driverVersion:   printable(known(d.GetInfoString, C.CL_DRIVER_VERSION)),
		version:         printable(known(d.GetInfoString, C.CL_DEVICE_VERSION)),
		profile:         known(d.GetInfoString, C.CL_DEVICE_PROFILE),
		vendor:          uint32(known(d.GetInfoUint, C.CL_DEVICE_VENDOR_ID)),
		addressBits:     uint32(known(d.GetInfoUint, C.CL_DEVICE_ADDRESS_BITS)),
		cpu:             kind&C.CL_DEVICE_TYPE_CPU != 0,
		gpu:             kind&C.CL_DEVICE_TYPE_GPU != 0,
		custom:          kind&C.CL_DEVICE_TYPE_CUSTOM != 0,
		unified:         known(d.GetInfoBool, C.CL_DEVICE_HOST_UNIFIED_MEMORY),
		available:       known(d.GetInfoBool, C.CL_DEVICE_AVAILABLE),
		compiler:        known(d.GetInfoBool, C.CL_DEVICE_COMPILER_AVAILABLE),
		littleEndian:    known(d.GetInfoBool, C.CL_DEVICE_ENDIAN_LITTLE),
		memoryBytes:     uint64(known(d.GetInfoUlong, C.CL_DEVICE_GLOBAL_MEM_SIZE)),
		allocationBytes: uint64(known(d.GetInfoUlong, C.CL_DEVICE_MAX_MEM_ALLOC_SIZE)),
		localBytes:      uint64(known(d.GetInfoUlong, C.CL_DEVICE_LOCAL_MEM_SIZE)),
		invocations:     known(d.GetInfoSize, C.CL_DEVICE_MAX_WORK_GROUP_SIZE),
		parameterBytes:  known(d.GetInfoSize, C.CL_DEVICE_MAX_PARAMETER_SIZE),
		sizes:           backend.Longs(bytesOf(d, C.CL_DEVICE_MAX_WORK_ITEM_SIZES)),
		extensions:      strings.Fields(strings.Trim(string(bytesOf(d, C.CL_DEVICE_EXTENSIONS)), "\x00")),
		driverUUID:      bytesOf(d, C.CL_DRIVER_UUID_KHR),
	}
	if p.has("cl_khr_device_uuid") {
		p.uuid = bytesOf(d, C.CL_DEVICE_UUID_KHR)
	}
	if p.has("cl_intel_required_subgroup_size") {
		p.subgroupSizes = backend.Longs(bytesOf(d, C.CL_DEVICE_SUB_GROUP_SIZES_INTEL))
	}
	if p.has("cl_nv_device_attribute_query") {
		p.nvidiaMajor = uint32(known(d.GetInfoUint, C.CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV))
		p.nvidiaWarp = uint32(known(d.GetInfoUint, C.CL_DEVICE_WARP_SIZE_NV))
	}
	p.pci = p.findPCI(d)
	return p
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

// bytesOf returns a property for which the binding has no getter, or whose text has more than 1023 bytes; nil if the
// device does not know it.
func bytesOf(d *cl.Device, what C.cl_uint) []byte {
	device, need := handle(d), new(C.size_t)
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

// findPCI asks for the address of the device on the bus; empty if it does not tell.
func (p *properties) findPCI(d *cl.Device) string {
	address := func(domain, bus, device, function uint32) string {
		return fmt.Sprintf("%04x:%02x:%02x.%x", domain, bus, device, function)
	}
	if a := bytesOf(d, C.CL_DEVICE_PCI_BUS_INFO_KHR); p.has("cl_khr_pci_bus_info") && len(a) == 16 {
		words := backend.Words(a)
		return address(words[0], words[1], words[2], words[3])
	}
	if p.has("cl_nv_device_attribute_query") {
		if bus, err := d.GetInfoUint(C.CL_DEVICE_PCI_BUS_ID_NV); err == nil {
			slot := uint32(known(d.GetInfoUint, C.CL_DEVICE_PCI_SLOT_ID_NV))
			return address(uint32(known(d.GetInfoUint, C.CL_DEVICE_PCI_DOMAIN_ID_NV)), uint32(bus), slot>>3, slot&7)
		}
	}
	if p.has("cl_amd_device_attribute_query") {
		if a := bytesOf(d, C.CL_DEVICE_TOPOLOGY_AMD); len(a) == 24 {
			return address(0, uint32(a[21]), uint32(a[22]), uint32(a[23])) // behind a type and 17 bytes without meaning
		}
	}
	return ""
}
