// Functions of a logical device that make things: the device itself, memory, pipelines, timelines.
#include <stdlib.h>

#include "shim_load.h"

enum { STAGE_COMPUTE = 0x20, SHARING_EXCLUSIVE = 0, SHARING_CONCURRENT = 1, ALLOCATE_DEVICE_ADDRESS = 2, ERROR_EXTENSION_NOT_PRESENT = -7 };

// load finds the functions of a new device; 0 where one is missing.
static int load(sj_device *d) {
	VkFunction (*get)(VkDispatchable, const char *) = (void *)sj_instance_function("vkGetDeviceProcAddr");
	if (!get) return 0;
	int complete = 1;
#define LOAD(result, name, parameters) complete &= (d->name = (void *)get(d->handle, "vk" #name)) != NULL;
	SJ_DEVICE_FUNCTIONS(LOAD)
#undef LOAD
#define LOAD(result, name, parameters) d->name = (void *)get(d->handle, "vk" #name);
	SJ_EXTENSION_FUNCTIONS(LOAD)
#undef LOAD
	return complete;
}

int32_t sj_open_device(void *physical, const sj_queues *queues, uint32_t queues_count,
	const char *extensions, uint32_t extension_count, uint32_t has, uint32_t features, sj_device **out) {
	if (queues_count > SJ_MAX_FAMILIES || extension_count > SJ_MAX_EXTENSIONS)
		return VK_ERROR_INITIALIZATION_FAILED;
	const float priorities[SJ_MAX_QUEUES] = {1, 1, 1, 1, 1, 1, 1, 1};
	VkDeviceQueueCreateInfo queue_infos[SJ_MAX_FAMILIES];
	for (uint32_t i = 0; i < queues_count; i++) {
		if (queues[i].count > SJ_MAX_QUEUES) return VK_ERROR_INITIALIZATION_FAILED;
		queue_infos[i] = (VkDeviceQueueCreateInfo){START(TYPE_DEVICE_QUEUE_CREATE_INFO, NULL), 0, queues[i].family, queues[i].count, priorities};
	}
	const char *names[SJ_MAX_EXTENSIONS];
	sj_split(extensions, extension_count, names);

	VkSubgroupSizeControlFeatures sizes = {START(TYPE_SUBGROUP_SIZE_CONTROL_FEATURES, NULL),
		!!(features & SJ_SUBGROUP_SIZE_CONTROL), !!(features & SJ_COMPUTE_FULL_SUBGROUPS)};
	VkVulkan12Features v12 = {START(TYPE_VULKAN_1_2_FEATURES, has & SJ_HAS_SUBGROUP_SIZE ? &sizes : NULL)};
	for (uint32_t i = 0; i < sizeof sj_v12_features / sizeof *sj_v12_features; i++)
		v12.on[sj_v12_features[i].index] = !!(features & sj_v12_features[i].bit);
	VkFeatures2 core = {START(TYPE_FEATURES_2, &v12)};
	core.on[CORE_SHADER_INT64] = !!(features & SJ_INT64);
	core.on[CORE_SPARSE_BINDING] = !!(features & SJ_SPARSE_BINDING);
	core.on[CORE_VERTEX_STORES] = !!(features & SJ_VERTEX_STORES);
	core.on[CORE_INDEPENDENT_BLEND] = !!(features & SJ_INDEPENDENT_BLEND);
	const VkDeviceCreateInfo info = {START(TYPE_DEVICE_CREATE_INFO, &core), .queueCreateInfoCount = queues_count,
		.pQueueCreateInfos = queue_infos, .enabledExtensionCount = extension_count, .ppEnabledExtensionNames = names};

	VkResult (*create)(VkDispatchable, const VkDeviceCreateInfo *, const void *, VkDispatchable *) = (void *)sj_instance_function("vkCreateDevice");
	sj_device *d = calloc(1, sizeof *d);
	VkResult result = create && d ? create(physical, &info, NULL, &d->handle) : VK_ERROR_INITIALIZATION_FAILED;
	if (result == VK_SUCCESS && !load(d)) {
		if (d->DestroyDevice) d->DestroyDevice(d->handle, NULL);
		result = VK_ERROR_INITIALIZATION_FAILED;
	}
	if (result != VK_SUCCESS) {
		free(d);
		d = NULL;
	}
	*out = d;
	return result;
}

void *sj_device_handle(const sj_device *d) { return d->handle; }

void sj_close_device(sj_device *d) {
	d->DestroyDevice(d->handle, NULL);
	free(d);
}

int32_t sj_create_buffer(const sj_device *d, uint64_t size_bytes, uint32_t flags, uint32_t handle_type,
	const uint32_t *families, uint32_t family_count, uint64_t *buffer) {
	const VkExternalHandleTypes external = {START(TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, NULL), handle_type};
	VkBufferCreateInfo info = {START(TYPE_BUFFER_CREATE_INFO, handle_type ? &external : NULL), .flags = flags, .size = size_bytes,
		.usage = SJ_BUFFER_USAGE};
	if (family_count > 1) {
		info.sharingMode = SHARING_CONCURRENT;
		info.queueFamilyIndexCount = family_count;
		info.pQueueFamilyIndices = families;
	}
	return d->CreateBuffer(d->handle, &info, NULL, buffer);
}

// allocate adds what all memory has to what the caller chained; dedicated may be 0.
static VkResult allocate(const sj_device *d, const void *chain, uint64_t size_bytes, uint32_t type, uint64_t dedicated,
	uint64_t *memory) {
	const VkMemoryDedicatedAllocateInfo only = {START(TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, chain), .buffer = dedicated};
	const VkMemoryAllocateFlagsInfo flags = {START(TYPE_MEMORY_ALLOCATE_FLAGS_INFO, dedicated ? &only : chain),
		ALLOCATE_DEVICE_ADDRESS, 0};
	const VkMemoryAllocateInfo info = {START(TYPE_MEMORY_ALLOCATE_INFO, &flags), size_bytes, type};
	return d->AllocateMemory(d->handle, &info, NULL, memory);
}

int32_t sj_allocate(const sj_device *d, uint64_t size_bytes, uint32_t type, uint64_t dedicated, uint64_t *memory) {
	return allocate(d, NULL, size_bytes, type, dedicated, memory);
}

int32_t sj_allocate_exportable(const sj_device *d, uint64_t size_bytes, uint32_t type, uint64_t dedicated, uint32_t handle_type,
	uint64_t *memory) {
	const VkExternalHandleTypes export = {START(TYPE_EXPORT_MEMORY_ALLOCATE_INFO, NULL), handle_type};
	return allocate(d, &export, size_bytes, type, dedicated, memory);
}

int32_t sj_import_fd(const sj_device *d, uint64_t size_bytes, uint32_t type, uint64_t dedicated, uint32_t handle_type, int fd, uint64_t *memory) {
	const VkImportMemoryFdInfo import = {START(TYPE_IMPORT_MEMORY_FD_INFO, NULL), handle_type, fd};
	return allocate(d, &import, size_bytes, type, dedicated, memory);
}

int32_t sj_import_host(const sj_device *d, uint64_t size_bytes, uint32_t type, void *pointer, uint64_t *memory) {
	const VkImportMemoryHostPointerInfo import = {START(TYPE_IMPORT_MEMORY_HOST_POINTER_INFO, NULL), SJ_HOST_ALLOCATION, pointer};
	return allocate(d, &import, size_bytes, type, 0, memory);
}

int32_t sj_host_memory_types(const sj_device *d, void *pointer, uint32_t *type_bits) {
	if (!d->GetMemoryHostPointerPropertiesEXT) return ERROR_EXTENSION_NOT_PRESENT;
	VkMemoryHostPointerProperties properties = {START(TYPE_MEMORY_HOST_POINTER_PROPERTIES, NULL)};
	VkResult result = d->GetMemoryHostPointerPropertiesEXT(d->handle, SJ_HOST_ALLOCATION, pointer, &properties);
	*type_bits = properties.memoryTypeBits;
	return result;
}

int32_t sj_fd_memory_types(const sj_device *d, uint32_t handle_type, int fd, uint32_t *type_bits) {
	if (!d->GetMemoryFdPropertiesKHR) return ERROR_EXTENSION_NOT_PRESENT;
	VkMemoryFdProperties properties = {START(TYPE_MEMORY_FD_PROPERTIES, NULL)};
	VkResult result = d->GetMemoryFdPropertiesKHR(d->handle, handle_type, fd, &properties);
	*type_bits = properties.memoryTypeBits;
	return result;
}

int32_t sj_bind(const sj_device *d, uint64_t buffer, uint64_t memory) {
	const VkBindBufferMemoryInfo info = {START(TYPE_BIND_BUFFER_MEMORY_INFO, NULL), buffer, memory, 0};
	return d->BindBufferMemory2(d->handle, 1, &info);
}

int32_t sj_bind_sparse(const sj_device *d, void *queue, uint64_t buffer, const sj_part *parts, uint32_t part_count,
	uint64_t signal_semaphore, uint64_t signal_value) {
	VkSparseMemoryBind *binds = calloc(part_count, sizeof *binds);
	if (!binds) return VK_ERROR_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; i < part_count; i++)
		binds[i] = (VkSparseMemoryBind){.resourceOffset = parts[i].offset_bytes, .size = parts[i].size_bytes, .memory = parts[i].memory};
	const VkSparseBufferMemoryBindInfo whole = {buffer, part_count, binds};
	const VkTimelineSemaphoreSubmitInfo values = {START(TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, NULL),
		.signalSemaphoreValueCount = 1, .pSignalSemaphoreValues = &signal_value};
	const VkBindSparseInfo info = {START(TYPE_BIND_SPARSE_INFO, &values), .bufferBindCount = 1, .pBufferBinds = &whole,
		.signalSemaphoreCount = 1, .pSignalSemaphores = &signal_semaphore};
	VkResult result = d->QueueBindSparse(queue, 1, &info, 0);
	free(binds);
	return result;
}

int32_t sj_export_fd(const sj_device *d, uint64_t memory, uint32_t handle_type, int *fd) {
	if (!d->GetMemoryFdKHR) return ERROR_EXTENSION_NOT_PRESENT;
	const VkMemoryGetFdInfo info = {START(TYPE_MEMORY_GET_FD_INFO, NULL), memory, handle_type};
	return d->GetMemoryFdKHR(d->handle, &info, fd);
}

uint64_t sj_buffer_address(const sj_device *d, uint64_t buffer) {
	const VkBufferDeviceAddressInfo info = {START(TYPE_BUFFER_DEVICE_ADDRESS_INFO, NULL), buffer};
	return d->GetBufferDeviceAddress(d->handle, &info);
}

int32_t sj_create_layout(const sj_device *d, uint32_t push_bytes, uint64_t *layout) {
	const VkPushConstantRange range = {STAGE_COMPUTE, 0, push_bytes};
	const VkPipelineLayoutCreateInfo info = {START(TYPE_PIPELINE_LAYOUT_CREATE_INFO, NULL), .pushConstantRangeCount = 1, .pPushConstantRanges = &range};
	return d->CreatePipelineLayout(d->handle, &info, NULL, layout);
}

int32_t sj_create_pipeline(const sj_device *d, uint64_t cache, uint64_t layout, const void *code, uint64_t code_bytes,
	const uint32_t *constants, uint32_t constant_count, uint64_t *pipeline, uint32_t *feedback) {
	if (constant_count > SJ_MAX_CONSTANTS) return VK_ERROR_INITIALIZATION_FAILED;
	VkSpecializationMapEntry entries[SJ_MAX_CONSTANTS];
	for (uint32_t i = 0; i < constant_count; i++) entries[i] = (VkSpecializationMapEntry){i, 4 * i, 4};
	const VkSpecializationInfo specialization = {constant_count, entries, 4 * constant_count, constants};
	const VkShaderModuleCreateInfo module_info = {START(TYPE_SHADER_MODULE_CREATE_INFO, NULL), 0, code_bytes, code};
	VkPipelineCreationFeedback whole = {0}, stage = {0};
	const VkPipelineCreationFeedbackCreateInfo told = {START(TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO, NULL), &whole, 1, &stage};
	VkComputePipelineCreateInfo info = {START(TYPE_COMPUTE_PIPELINE_CREATE_INFO, feedback ? &told : NULL),
		.stage = {START(TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, NULL), .stage = STAGE_COMPUTE, .pName = "main", .pSpecializationInfo = &specialization},
		.layout = layout, .basePipelineIndex = -1};
	VkResult result = d->CreateShaderModule(d->handle, &module_info, NULL, &info.stage.module);
	if (result != VK_SUCCESS) return result;
	result = d->CreateComputePipelines(d->handle, cache, 1, &info, NULL, pipeline);
	d->DestroyShaderModule(d->handle, info.stage.module, NULL);
	if (feedback) *feedback = whole.flags;
	return result;
}

static VkResult create_timeline(const sj_device *d, const void *chain, uint64_t *semaphore) {
	const VkSemaphoreTypeCreateInfo type = {START(TYPE_SEMAPHORE_TYPE_CREATE_INFO, chain), TIMELINE, 0};
	const VkSemaphoreCreateInfo info = {START(TYPE_SEMAPHORE_CREATE_INFO, &type), 0};
	return d->CreateSemaphore(d->handle, &info, NULL, semaphore);
}

int32_t sj_create_timeline(const sj_device *d, uint64_t *semaphore) { return create_timeline(d, NULL, semaphore); }

int32_t sj_create_shared_timeline(const sj_device *d, uint64_t *semaphore) {
	const VkExternalHandleTypes export = {START(TYPE_EXPORT_SEMAPHORE_CREATE_INFO, NULL), SJ_OPAQUE_FD};
	return create_timeline(d, &export, semaphore);
}

int32_t sj_export_timeline(const sj_device *d, uint64_t semaphore, int *fd) {
	if (!d->GetSemaphoreFdKHR) return ERROR_EXTENSION_NOT_PRESENT;
	const VkSemaphoreGetFdInfo info = {START(TYPE_SEMAPHORE_GET_FD_INFO, NULL), semaphore, SJ_OPAQUE_FD};
	return d->GetSemaphoreFdKHR(d->handle, &info, fd);
}
