package vulkan

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// physical is a physical device with what opening it needs to know.
type physical struct {
	handle          vk.PhysicalDevice
	info            backend.DeviceInfo
	has             C.uint32_t // SJ_HAS_ bits
	features        C.uint32_t // SJ_ feature bits
	extensions      map[string]bool
	families        []family
	types           []memoryType
	typeHeaps       []uint32 // indexes, by type
	operations      uint32   // of subgroups
	stages          uint32   // with subgroup operations
	driverUUID      string
	cacheUUID       string
	opaque, dmaBuf  sharing // memory as a file descriptor
	sparse          bool    // a block may have several allocations
	sharesTimelines bool    // timeline semaphores can be exported as one
	nvidia          bool    // NVIDIA's own driver
	tickNanoseconds float64 // of time stamps
	tellsTime       bool    // the clock of time stamps can be read at any time
	maxGroupsY      uint32
	graphics        bool // Options.Graphics
	raster          rasterSupport
}

// sharing is what can be done with memory of buffers as one type of file descriptor.
type sharing struct {
	works     bool // it can be exported and imported
	dedicated bool // it must be made for one buffer, as all of it is here
}

func (p *physical) sharing(features C.uint32_t, extension string) sharing {
	return sharing{features&externalExportImport == externalExportImport && p.extensions[extension],
		features&externalDedicatedOnly != 0}
}

// Device extensions that are enabled where they are offered.
const (
	extSubgroupSize = "VK_EXT_subgroup_size_control"
	extBudget       = "VK_EXT_memory_budget"
	extHostMemory   = "VK_EXT_external_memory_host"
	extMemoryFd     = "VK_KHR_external_memory_fd"
	extDMABuf       = "VK_EXT_external_memory_dma_buf"
	extSemaphoreFd  = "VK_KHR_external_semaphore_fd"
	extPortable     = "VK_KHR_portability_subset" // must be enabled where it is offered
	extFeedback     = "VK_EXT_pipeline_creation_feedback"
	extPCI          = "VK_EXT_pci_bus_info"
	extClock        = "VK_KHR_calibrated_timestamps"
	extClockBefore  = "VK_EXT_calibrated_timestamps"
)

var usedExtensions = []string{extSubgroupSize, extBudget, extHostMemory, extMemoryFd, extDMABuf, extSemaphoreFd,
	extPortable, extFeedback, extClock, extClockBefore}

var featureNames = map[C.uint32_t]string{
	C.SJ_BUFFER_DEVICE_ADDRESS:     "bufferDeviceAddress",
	C.SJ_TIMELINE_SEMAPHORE:        "timelineSemaphore",
	C.SJ_HOST_QUERY_RESET:          "hostQueryReset",
	C.SJ_MEMORY_MODEL:              "vulkanMemoryModel",
	C.SJ_MEMORY_MODEL_DEVICE_SCOPE: "vulkanMemoryModelDeviceScope",
	C.SJ_SUBGROUP_EXTENDED_TYPES:   "shaderSubgroupExtendedTypes",
	C.SJ_BUFFER_INT64_ATOMICS:      "shaderBufferInt64Atomics",
	C.SJ_SHARED_INT64_ATOMICS:      "shaderSharedInt64Atomics",
	C.SJ_INT64:                     "shaderInt64",
	C.SJ_SUBGROUP_SIZE_CONTROL:     "subgroupSizeControl",
	C.SJ_COMPUTE_FULL_SUBGROUPS:    "computeFullSubgroups",
}

const (
	required      = C.SJ_BUFFER_DEVICE_ADDRESS | C.SJ_TIMELINE_SEMAPHORE
	sparseBinding = C.SJ_SPARSE_BINDING
)

const (
	stageCompute          = 0x20
	minPushConstantBytes  = 128
	leastAlignment        = 256 // of arguments: whole lines of every cache, whatever a device says
	minSubgroup           = 4   // that kernels are written for
	maxSubgroup           = 128
	externalExportImport  = 2 | 4
	externalDedicatedOnly = 1
	semaphoreExport       = 1
	driverNVIDIA          = 4 // VK_DRIVER_ID_NVIDIA_PROPRIETARY
)

// Operations of a subgroup, in the order of their bits.
var subgroupOperations = []string{"basic", "vote", "arithmetic", "ballot", "shuffle", "shuffleRelative", "clustered",
	"quad"}

// What kernels with subgroup operations use.
var usedOperations = []string{"basic", "vote", "arithmetic", "ballot", "shuffle"}

// enumerate describes every physical device of the instance.
func enumerate(instance vk.Instance, graphics bool) ([]*physical, error) {
	var handles []vk.PhysicalDevice
	for {
		var count uint32
		if err := failure(result(vk.EnumeratePhysicalDevices(instance, &count, nil)), "list devices", "",
			""); err != nil {
			return nil, err
		}
		handles = make([]vk.PhysicalDevice, count)
		if count == 0 {
			break
		}
		r := result(vk.EnumeratePhysicalDevices(instance, &count, handles))
		if err := failure(r, "list devices", "", ""); err != nil {
			return nil, err
		}
		if r != incomplete { // otherwise one was added in between
			handles = handles[:count]
			break
		}
	}
	all := make([]*physical, len(handles))
	for i, handle := range handles {
		all[i] = describe(handle, graphics)
		all[i].info.Index = i
	}
	identify(all)
	return all, nil
}

// describe asks a device for all that it tells.
func describe(handle vk.PhysicalDevice, graphics bool) *physical {
	var core vk.PhysicalDeviceProperties
	vk.GetPhysicalDeviceProperties(handle, &core)
	core.Deref()
	core.Limits.Deref()
	defer core.Free()
	limits := core.Limits
	p := &physical{handle: handle, tickNanoseconds: float64(limits.TimestampPeriod),
		maxGroupsY: limits.MaxComputeWorkGroupCount[1],
		cacheUUID:  uuid(core.PipelineCacheUUID[:])}
	p.extensions = names(func(n *C.char, limit C.uint32_t) C.uint32_t {
		return C.sj_device_extensions(unsafe.Pointer(handle), n, limit)
	})
	for bit, here := range map[C.uint32_t]bool{
		C.SJ_HAS_DRIVER:        core.ApiVersion >= apiVersion12,
		C.SJ_HAS_VULKAN_1_2:    core.ApiVersion >= apiVersion12,
		C.SJ_HAS_SUBGROUP_SIZE: core.ApiVersion >= apiVersion13 || p.extensions[extSubgroupSize],
		C.SJ_HAS_MAINTENANCE_4: core.ApiVersion >= apiVersion13,
		C.SJ_HAS_PCI:           p.extensions[extPCI],
		C.SJ_HAS_HOST_MEMORY:   p.extensions[extHostMemory],
		C.SJ_HAS_BUDGET:        p.extensions[extBudget],
		C.SJ_HAS_DMA_BUF:       p.extensions[extDMABuf] && p.extensions[extMemoryFd],
	} {
		if here {
			p.has |= bit
		}
	}
	if p.extensions[extClock] {
		p.tellsTime = C.sj_tells_time(unsafe.Pointer(handle), 1) != 0
	} else if p.extensions[extClockBefore] {
		p.tellsTime = C.sj_tells_time(unsafe.Pointer(handle), 0) != 0
	}
	var more C.sj_physical
	if core.ApiVersion >= apiVersion11 {
		C.sj_query(unsafe.Pointer(handle), p.has, &more)
	}
	p.features = more.features
	p.operations, p.stages = uint32(more.subgroup_operations), uint32(more.subgroup_stages)
	p.driverUUID = uuid(more.driver_uuid[:])
	p.opaque, p.dmaBuf = p.sharing(more.shared_features, extMemoryFd), p.sharing(more.dma_buf_features, extDMABuf)
	p.sharesTimelines = more.shared_timeline_features&semaphoreExport != 0 && p.extensions[extSemaphoreFd]
	p.nvidia = more.driver_id == driverNVIDIA

	p.tell(&core, &more)
	p.graphics = graphics
	p.readFamilies()
	p.readMemory(&more)
	p.limitBlocks(uint64(more.max_buffer_bytes), uint64(limits.SparseAddressSpaceSize))
	p.readRaster(&limits)
	p.nameFeatures()
	p.info.Unusable = p.lacks(core.ApiVersion)
	return p
}

// tell fills in what others are told of the device, except for its queues, memory and features.
func (p *physical) tell(core *vk.PhysicalDeviceProperties, more *C.sj_physical) {
	i, limits := &p.info, &core.Limits
	i.Backend = "vulkan"
	i.Name = text(core.DeviceName[:])
	i.Type = deviceType(core.DeviceType)
	i.TypeName = i.Type.String()
	i.Driver = text(more.driver_name[:])
	if i.Driver == "" {
		i.Driver = fmt.Sprintf("vendor %#x", core.VendorID)
	}
	i.DriverVersion = text(more.driver_info[:])
	if i.DriverVersion == "" {
		i.DriverVersion = version(core.DriverVersion)
	}
	i.APIVersion = version(core.ApiVersion)
	i.VendorID = core.VendorID
	i.UUID = uuid(more.device_uuid[:])
	if p.has&C.SJ_HAS_PCI != 0 {
		i.PCI = fmt.Sprintf("%04x:%02x:%02x.%x", more.pci[0], more.pci[1], more.pci[2], more.pci[3])
	}
	i.SubgroupSize = uint32(more.subgroup_size)
	i.MinSubgroupSize, i.MaxSubgroupSize = i.SubgroupSize, i.SubgroupSize
	if more.max_subgroup_size > 0 {
		i.MinSubgroupSize, i.MaxSubgroupSize = uint32(more.min_subgroup_size), uint32(more.max_subgroup_size)
	}
	i.Subgroups = p.hasSubgroups()
	i.Limits = backend.Limits{
		MaxAllocationBytes: uint64(more.max_allocation_bytes),
		MaxInvocations:     min(limits.MaxComputeWorkGroupInvocations, limits.MaxComputeWorkGroupSize[0]),
		MaxSharedBytes:     limits.MaxComputeSharedMemorySize,
		MaxArgumentBytes:   limits.MaxPushConstantsSize,
		ArgumentAlignment:  max(leastAlignment, uint64(limits.MinStorageBufferOffsetAlignment)),
		MaxGroups:          limits.MaxComputeWorkGroupCount[0],
		ImportAlignment:    uint64(more.import_alignment),
	}
}

// limitBlocks decides whether blocks may have several allocations, and how large blocks and buffers may be.
// maxBufferBytes is 0 where the driver does not say. On unified devices blocks are mapped, which takes one allocation.
func (p *physical) limitBlocks(maxBufferBytes, sparseBytes uint64) {
	plan, ok := planQueues(p.families, p.graphics)
	for i, slot := range plan {
		if ok && slot != absent {
			p.info.Queues = append(p.info.Queues,
				backend.RoleQueue{Role: backend.Role(i).String(), Family: slot.family, Index: slot.index,
					Computes: p.families[slot.family].flags&queueCompute != 0})
		}
	}
	if ok && p.features&sparseBinding != 0 && !p.info.Unified {
		_, p.sparse = planSparse(p.families, plan)
	}
	l := &p.info.Limits
	l.MaxBufferBytes = l.MaxAllocationBytes
	if p.sparse {
		l.MaxBufferBytes = max(l.MaxAllocationBytes, sparseBytes)
	}
	if maxBufferBytes > 0 {
		l.MaxBufferBytes = min(l.MaxBufferBytes, maxBufferBytes)
	}
	l.MaxBlockBytes = min(l.MaxAllocationBytes, l.MaxBufferBytes)
	if p.sparse {
		l.MaxBlockBytes = max(l.MaxBlockBytes, min(l.MaxBufferBytes, largestLocal(p.types)))
	}
}

func deviceType(t vk.PhysicalDeviceType) backend.DeviceType {
	switch t {
	case vk.PhysicalDeviceTypeDiscreteGpu:
		return backend.Discrete
	case vk.PhysicalDeviceTypeIntegratedGpu:
		return backend.Integrated
	case vk.PhysicalDeviceTypeCpu:
		return backend.Software
	}
	return backend.Virtual // and what the driver calls "other"
}

func (p *physical) readFamilies() {
	var found [C.SJ_MAX_FAMILIES]C.sj_family
	count := C.sj_queue_families(unsafe.Pointer(p.handle), &found[0], C.SJ_MAX_FAMILIES)
	for _, f := range found[:count] {
		fam := family{flags: uint32(f.flags), count: uint32(f.count), timestampBits: uint32(f.timestamp_bits)}
		p.families = append(p.families, fam)
		p.info.QueueFamilies = append(p.info.QueueFamilies, backend.QueueFamily{
			Count: fam.count, Compute: fam.flags&queueCompute != 0, Graphics: fam.flags&queueGraphics != 0,
			Transfer: fam.transfers(),
		})
	}
}

// nameFeatures lists what is there beyond what is required and what DeviceInfo.Subgroups stands for.
func (p *physical) nameFeatures() {
	list := []string{}
	for bit, name := range featureNames {
		if p.features&bit != 0 && bit&required == 0 {
			list = append(list, name)
		}
	}
	for i, name := range subgroupOperations {
		if p.operations>>i&1 != 0 && !slices.Contains(usedOperations, name) {
			list = append(list, "subgroup "+name)
		}
	}
	for name, here := range map[string]bool{"memoryBudget": p.extensions[extBudget],
		"hostMemoryImport": p.info.Limits.ImportAlignment > 0, "sharedMemory": p.opaque.works,
		"sparseBinding": p.sparse} {
		if here {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	p.info.Features = list
}

// hasSubgroups reports whether kernels with subgroup operations run: compute shaders have these, and subgroups are of
// the sizes that kernels are written for.
func (p *physical) hasSubgroups() bool {
	for i, name := range subgroupOperations {
		if slices.Contains(usedOperations, name) && p.operations>>i&1 == 0 {
			return false
		}
	}
	return p.stages&stageCompute != 0 && p.info.MinSubgroupSize >= minSubgroup && p.info.MaxSubgroupSize <= maxSubgroup
}

// lacks says what a device misses of what every device must have; empty when it can be used.
func (p *physical) lacks(api uint32) string {
	if api < apiVersion12 {
		return "it offers Vulkan " + version(api) + ", 1.2 is needed"
	}
	var missing []string
	for _, bit := range []C.uint32_t{C.SJ_BUFFER_DEVICE_ADDRESS, C.SJ_TIMELINE_SEMAPHORE} {
		if p.features&bit == 0 {
			missing = append(missing, featureNames[bit])
		}
	}
	if n := p.info.Limits.MaxArgumentBytes; n < minPushConstantBytes {
		missing = append(missing, fmt.Sprintf("%d bytes of push constants (it has %d)", minPushConstantBytes, n))
	}
	if n := p.info.Limits.ArgumentAlignment; n > backend.PlanAlignment {
		missing = append(missing,
			fmt.Sprintf("arguments at multiples of %d bytes (it needs %d)", backend.PlanAlignment, n))
	}
	if _, ok := planQueues(p.families, p.graphics); !ok {
		missing = append(missing, "a compute queue")
	}
	if len(missing) == 0 {
		return ""
	}
	return "it lacks " + strings.Join(missing, ", ")
}

// identify gives each device its ID and marks twins: the same UUID or PCI address through another driver. The others of
// a set of twins name its first usable device.
func identify(all []*physical) {
	taken := make(map[string]int)
	for _, p := range all {
		id := "vulkan:" + strings.ReplaceAll(strings.ToLower(p.info.Driver), " ", "-") + ":" + p.info.UUID
		if taken[id]++; taken[id] > 1 { // the same driver listed twice
			id = fmt.Sprintf("%s#%d", id, taken[id])
		}
		p.info.ID = id
	}
	for _, p := range all {
		var original *physical
		for _, other := range all {
			if (p == other || backend.Twins(&p.info, &other.info)) &&
				(original == nil || original.info.Unusable != "" && other.info.Unusable == "") {
				original = other
			}
		}
		if original != p {
			p.info.TwinOf = original.info.ID
		}
	}
}

func uuid[B ~uint8](b []B) string {
	h := fmt.Sprintf("%x", bytesOf(b))
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func bytesOf[B ~uint8](b []B) []byte {
	out := make([]byte, len(b))
	for i, v := range b {
		out[i] = byte(v)
	}
	return out
}

func version(v uint32) string { return fmt.Sprintf("%d.%d.%d", v>>22&0x7f, v>>12&0x3ff, v&0xfff) }
