// Functions of the instance and of physical devices.
#include "shim_load.h"

// Exported by Go; copies its arguments.
extern void sjMessage(uint32_t severity, char *id, char *text);

enum {
	SEVERITY_WARNING = 0x100,
	SEVERITY_ERROR = 0x1000,
	MESSAGE_VALIDATION = 2,
	ENABLE_GPU_ASSISTED = 0,
	ENABLE_SYNCHRONIZATION = 4,
	API_VERSION = 1 << 22 | 3 << 12, // the newest that is used where it is there
};

static VkFunction (*get_instance_proc)(VkDispatchable instance, const char *name);
static VkDispatchable current;
static VkHandle messenger;

// of finds a function of the instance, or NULL.
static VkFunction of(VkDispatchable instance, const char *name) { return get_instance_proc(instance, name); }

VkFunction sj_instance_function(const char *name) { return of(current, name); }

void sj_load(void *get_instance_proc_addr) { memcpy(&get_instance_proc, &get_instance_proc_addr, sizeof get_instance_proc); }

uint32_t sj_instance_version(void) {
	VkResult (*enumerate)(uint32_t *) = (void *)of(NULL, "vkEnumerateInstanceVersion");
	uint32_t version = 0;
	if (enumerate && enumerate(&version) != VK_SUCCESS) return 0;
	return version;
}

// names_of copies the names at the start of records of a given size.
static uint32_t names_of(const void *records, size_t size, uint32_t count, char *names) {
	for (uint32_t i = 0; i < count; i++) memcpy(names + 256 * i, (const char *)records + size * i, 256);
	return count;
}

enum { MAX_RECORDS = 512 };

uint32_t sj_instance_extensions(char *names, uint32_t max) {
	VkResult (*enumerate)(const char *, uint32_t *, VkExtensionProperties *) = (void *)of(NULL, "vkEnumerateInstanceExtensionProperties");
	static VkExtensionProperties records[MAX_RECORDS];
	uint32_t count = max < MAX_RECORDS ? max : MAX_RECORDS;
	if (!enumerate || enumerate(NULL, &count, records) < 0) return 0;
	return names_of(records, sizeof *records, count, names);
}

uint32_t sj_instance_layers(char *names, uint32_t max) {
	VkResult (*enumerate)(uint32_t *, VkLayerProperties *) = (void *)of(NULL, "vkEnumerateInstanceLayerProperties");
	static VkLayerProperties records[MAX_RECORDS];
	uint32_t count = max < MAX_RECORDS ? max : MAX_RECORDS;
	if (!enumerate || enumerate(&count, records) < 0) return 0;
	return names_of(records, sizeof *records, count, names);
}

static VkBool32 on_message(uint32_t severity, uint32_t types, const VkMessage *m, void *user) {
	(void)types, (void)user;
	sjMessage(severity, (char *)m->pMessageIdName, (char *)m->pMessage);
	return 0;
}

int32_t sj_create_instance(const char *app_name, const char *extensions, uint32_t extension_count, uint32_t flags,
	uint32_t validation, void **instance) {
	const char *layers[] = {"VK_LAYER_KHRONOS_validation"}, *names[SJ_MAX_EXTENSIONS];
	if (extension_count > SJ_MAX_EXTENSIONS) return VK_ERROR_INITIALIZATION_FAILED;
	sj_split(extensions, extension_count, names);
	// One structure in the chain hears the creation and the destruction of the instance, the other makes the messenger.
	const VkMessengerCreateInfo messages = {START(TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO, NULL),
		.messageSeverity = SEVERITY_WARNING | SEVERITY_ERROR, .messageType = MESSAGE_VALIDATION, .pfnUserCallback = on_message};
	const VkMessengerCreateInfo early = messages;
	const uint32_t enable = validation == SJ_VALIDATION_GPU ? ENABLE_GPU_ASSISTED : ENABLE_SYNCHRONIZATION;
	const VkValidationFeatures checks = {START(TYPE_VALIDATION_FEATURES, &early), 1, &enable, 0, NULL};
	const VkApplicationInfo application = {START(TYPE_APPLICATION_INFO, NULL), app_name, 0, "spirjoin", 0, API_VERSION};
	VkInstanceCreateInfo info = {START(TYPE_INSTANCE_CREATE_INFO, NULL), .flags = flags, .pApplicationInfo = &application,
		.enabledExtensionCount = extension_count, .ppEnabledExtensionNames = names};
	if (validation != SJ_VALIDATION_OFF) {
		info.pNext = &checks;
		info.enabledLayerCount = 1;
		info.ppEnabledLayerNames = layers;
	}
	VkResult (*create)(const VkInstanceCreateInfo *, const void *, VkDispatchable *) = (void *)of(NULL, "vkCreateInstance");
	if (!create) return VK_ERROR_INITIALIZATION_FAILED;
	VkResult result = create(&info, NULL, &current);
	messenger = 0;
	if (result == VK_SUCCESS && validation != SJ_VALIDATION_OFF) {
		VkResult (*listen)(VkDispatchable, const VkMessengerCreateInfo *, const void *, VkHandle *) =
			(void *)sj_instance_function("vkCreateDebugUtilsMessengerEXT");
		result = listen ? listen(current, &messages, NULL, &messenger) : VK_ERROR_INITIALIZATION_FAILED;
		if (result != VK_SUCCESS) sj_destroy_instance();
	}
	*instance = current;
	return result;
}

void sj_destroy_instance(void) {
	void (*forget)(VkDispatchable, VkHandle, const void *) = (void *)sj_instance_function("vkDestroyDebugUtilsMessengerEXT");
	void (*destroy)(VkDispatchable, const void *) = (void *)sj_instance_function("vkDestroyInstance");
	if (forget && messenger) forget(current, messenger, NULL);
	if (destroy) destroy(current, NULL);
	current = NULL;
}

uint32_t sj_queue_families(void *physical, sj_family *families, uint32_t max) {
	void (*get)(VkDispatchable, uint32_t *, VkQueueFamilyProperties *) = (void *)sj_instance_function("vkGetPhysicalDeviceQueueFamilyProperties");
	VkQueueFamilyProperties records[SJ_MAX_FAMILIES];
	uint32_t count = 0;
	if (!get) return 0;
	get(physical, &count, NULL); // SwiftShader fills as many records as it is offered, whatever it has
	if (count > SJ_MAX_FAMILIES) count = SJ_MAX_FAMILIES;
	if (count > max) count = max;
	get(physical, &count, records);
	for (uint32_t i = 0; i < count; i++)
		families[i] = (sj_family){records[i].queueFlags, records[i].queueCount, records[i].timestampValidBits};
	return count;
}

uint32_t sj_device_extensions(void *physical, char *names, uint32_t max) {
	VkResult (*enumerate)(VkDispatchable, const char *, uint32_t *, VkExtensionProperties *) =
		(void *)sj_instance_function("vkEnumerateDeviceExtensionProperties");
	VkExtensionProperties records[MAX_RECORDS];
	uint32_t count = max < MAX_RECORDS ? max : MAX_RECORDS;
	if (!enumerate || enumerate(physical, NULL, &count, records) < 0) return 0;
	return names_of(records, sizeof *records, count, names);
}

uint32_t sj_tells_time(void *physical, uint32_t khr) {
	VkResult (*domains)(VkDispatchable, uint32_t *, uint32_t *) = (void *)sj_instance_function(
		khr ? "vkGetPhysicalDeviceCalibrateableTimeDomainsKHR" : "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT");
	uint32_t found[16], count = sizeof found / sizeof *found;
	if (!domains || domains(physical, &count, found) < 0) return 0;
	for (uint32_t i = 0; i < count; i++)
		if (found[i] == TIME_DOMAIN_DEVICE) return 1;
	return 0;
}

// LINK puts a structure in front of a chain if it may be there.
#define LINK(allowed, chain, structure) \
	if (allowed) (structure).pNext = chain, chain = &(structure)

static void query_properties(VkDispatchable physical, uint32_t has, sj_physical *out) {
	VkIDProperties id = {START(TYPE_ID_PROPERTIES, NULL)};
	VkSubgroupProperties subgroup = {START(TYPE_SUBGROUP_PROPERTIES, &id)};
	VkMaintenance3Properties maintenance3 = {START(TYPE_MAINTENANCE_3_PROPERTIES, &subgroup)};
	VkDriverProperties driver = {START(TYPE_DRIVER_PROPERTIES, NULL)};
	VkSubgroupSizeControlProperties sizes = {START(TYPE_SUBGROUP_SIZE_CONTROL_PROPERTIES, NULL)};
	VkMaintenance4Properties maintenance4 = {START(TYPE_MAINTENANCE_4_PROPERTIES, NULL)};
	VkPCIBusInfoProperties pci = {START(TYPE_PCI_BUS_INFO_PROPERTIES, NULL)};
	VkExternalMemoryHostProperties host = {START(TYPE_EXTERNAL_MEMORY_HOST_PROPERTIES, NULL)};
	const void *chain = &maintenance3;
	LINK(has & SJ_HAS_DRIVER, chain, driver);
	LINK(has & SJ_HAS_SUBGROUP_SIZE, chain, sizes);
	LINK(has & SJ_HAS_MAINTENANCE_4, chain, maintenance4);
	LINK(has & SJ_HAS_PCI, chain, pci);
	LINK(has & SJ_HAS_HOST_MEMORY, chain, host);
	VkProperties2 properties = {START(TYPE_PROPERTIES_2, chain)};
	void (*get)(VkDispatchable, VkProperties2 *) = (void *)sj_instance_function("vkGetPhysicalDeviceProperties2");
	if (!get) return;
	get(physical, &properties);

	memcpy(out->device_uuid, id.deviceUUID, sizeof out->device_uuid);
	memcpy(out->driver_uuid, id.driverUUID, sizeof out->driver_uuid);
	memcpy(out->driver_name, driver.driverName, sizeof out->driver_name);
	memcpy(out->driver_info, driver.driverInfo, sizeof out->driver_info);
	out->driver_id = driver.driverID;
	out->subgroup_size = subgroup.subgroupSize;
	out->subgroup_stages = subgroup.supportedStages;
	out->subgroup_operations = subgroup.supportedOperations;
	out->min_subgroup_size = sizes.minSubgroupSize;
	out->max_subgroup_size = sizes.maxSubgroupSize;
	out->max_allocation_bytes = maintenance3.maxMemoryAllocationSize;
	out->max_buffer_bytes = maintenance4.maxBufferSize;
	out->import_alignment = host.minImportedHostPointerAlignment;
	memcpy(out->pci, (uint32_t[]){pci.pciDomain, pci.pciBus, pci.pciDevice, pci.pciFunction}, sizeof out->pci);
}

static void query_features(VkDispatchable physical, uint32_t has, sj_physical *out) {
	VkVulkan12Features v12 = {START(TYPE_VULKAN_1_2_FEATURES, NULL)};
	VkSubgroupSizeControlFeatures sizes = {START(TYPE_SUBGROUP_SIZE_CONTROL_FEATURES, NULL)};
	const void *chain = NULL;
	LINK(has & SJ_HAS_VULKAN_1_2, chain, v12);
	LINK(has & SJ_HAS_SUBGROUP_SIZE, chain, sizes);
	VkFeatures2 features = {START(TYPE_FEATURES_2, chain)};
	void (*get)(VkDispatchable, VkFeatures2 *) = (void *)sj_instance_function("vkGetPhysicalDeviceFeatures2");
	if (!get) return;
	get(physical, &features);
	out->features = (features.on[CORE_SHADER_INT64] ? SJ_INT64 : 0) | (features.on[CORE_SPARSE_BINDING] ? SJ_SPARSE_BINDING : 0) |
		(features.on[CORE_VERTEX_STORES] ? SJ_VERTEX_STORES : 0) | (features.on[CORE_INDEPENDENT_BLEND] ? SJ_INDEPENDENT_BLEND : 0) |
		(sizes.subgroupSizeControl ? SJ_SUBGROUP_SIZE_CONTROL : 0) | (sizes.computeFullSubgroups ? SJ_COMPUTE_FULL_SUBGROUPS : 0);
	for (uint32_t i = 0; i < sizeof sj_v12_features / sizeof *sj_v12_features; i++)
		if (v12.on[sj_v12_features[i].index]) out->features |= sj_v12_features[i].bit;
}

static void query_memory(VkDispatchable physical, uint32_t has, sj_physical *out) {
	VkMemoryBudgetProperties budget = {START(TYPE_MEMORY_BUDGET_PROPERTIES, NULL)};
	VkMemoryProperties2 memory = {START(TYPE_MEMORY_PROPERTIES_2, has & SJ_HAS_BUDGET ? &budget : NULL)};
	void (*get)(VkDispatchable, VkMemoryProperties2 *) = (void *)sj_instance_function("vkGetPhysicalDeviceMemoryProperties2");
	if (!get) return;
	get(physical, &memory);
	out->type_count = memory.memoryTypeCount;
	for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
		out->type_flags[i] = memory.memoryTypes[i].propertyFlags;
		out->type_heap[i] = memory.memoryTypes[i].heapIndex;
	}
	out->heap_count = memory.memoryHeapCount;
	for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
		out->heap_bytes[i] = memory.memoryHeaps[i].size;
		out->heap_flags[i] = memory.memoryHeaps[i].flags;
		out->heap_budget_bytes[i] = has & SJ_HAS_BUDGET ? budget.heapBudget[i] : memory.memoryHeaps[i].size;
	}
}

// sharing_of returns the VkExternalMemoryFeatureFlags of a buffer whose memory is a handle of a type.
static uint32_t sharing_of(VkDispatchable physical, uint32_t handle_type) {
	VkExternalBufferProperties external = {START(TYPE_EXTERNAL_BUFFER_PROPERTIES, NULL)};
	const VkExternalBufferInfo info = {START(TYPE_EXTERNAL_BUFFER_INFO, NULL), 0, SJ_BUFFER_USAGE, handle_type};
	void (*get)(VkDispatchable, const VkExternalBufferInfo *, VkExternalBufferProperties *) =
		(void *)sj_instance_function("vkGetPhysicalDeviceExternalBufferProperties");
	if (get) get(physical, &info, &external);
	return external.externalMemoryFeatures;
}

static void query_shared_timelines(VkDispatchable physical, sj_physical *out) {
	const VkSemaphoreTypeCreateInfo type = {START(TYPE_SEMAPHORE_TYPE_CREATE_INFO, NULL), TIMELINE, 0};
	VkExternalSemaphoreProperties external = {START(TYPE_EXTERNAL_SEMAPHORE_PROPERTIES, NULL)};
	const VkExternalSemaphoreInfo info = {START(TYPE_EXTERNAL_SEMAPHORE_INFO, &type), SJ_OPAQUE_FD};
	void (*get)(VkDispatchable, const VkExternalSemaphoreInfo *, VkExternalSemaphoreProperties *) =
		(void *)sj_instance_function("vkGetPhysicalDeviceExternalSemaphoreProperties");
	if (get) get(physical, &info, &external);
	out->shared_timeline_features = external.externalSemaphoreFeatures;
}

void sj_query(void *physical, uint32_t has, sj_physical *out) {
	memset(out, 0, sizeof *out);
	query_properties(physical, has, out);
	query_features(physical, has, out);
	query_memory(physical, has, out);
	out->shared_features = sharing_of(physical, SJ_OPAQUE_FD);
	if (has & SJ_HAS_DMA_BUF) out->dma_buf_features = sharing_of(physical, SJ_DMA_BUF);
	if (has & SJ_HAS_VULKAN_1_2) query_shared_timelines(physical, out);
}
