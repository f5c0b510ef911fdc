// A Vulkan layer for tests of links: it makes two devices that are one software driver, opened twice, look like
// different physical devices that exchange dma-bufs. Below it, a dma-buf is an opaque file descriptor. SPIRJOIN_LAYER
// names what the layer refuses.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim_types.h"

enum { INSTANCE_LINK = 47, DEVICE_LINK = 48, OPAQUE_FD = 0x1, DMA_BUF = 0x200, INVALID_HANDLE = -1000072003 };

static const char dma_buf[] = "VK_EXT_external_memory_dma_buf";

typedef VkFunction (*Find)(VkDispatchable, const char *);
typedef struct Link { struct Link *next; Find instance, device; } Link;
typedef struct { HEAD; uint32_t function; Link *link; } LinkInfo;
typedef struct Chained { uint32_t sType; struct Chained *pNext; } Chained;

static int told(const char *what) {
	const char *text = getenv("SPIRJOIN_LAYER");
	return text && !strcmp(text, what);
}

static void require(int holds, const char *what) {
	if (holds) return;
	fprintf(stderr, "layer: %s\n", what);
	abort();
}

static void *chained(const void *chain, uint32_t type) {
	const Chained *c = chain;
	while (c && c->sType != type) c = c->pNext;
	return (void *)c;
}

// link_of takes this layer out of the list of those that are still to be called.
static Link *link_of(const void *chain, uint32_t type) {
	LinkInfo *info = chained(chain, type);
	while (info && info->function != 0) info = chained(info->pNext, type);
	require(info != NULL, "no link");
	Link *link = info->link;
	info->link = link->next;
	return link;
}

// Functions of the instance below this layer; NEXT(type of the result, name, parameters).
#define INSTANCE_FUNCTIONS(F) \
	F(VkResult, EnumeratePhysicalDevices, (VkDispatchable, uint32_t *, VkDispatchable *)) \
	F(VkResult, EnumerateDeviceExtensionProperties, (VkDispatchable, const char *, uint32_t *, VkExtensionProperties *)) \
	F(void, GetPhysicalDeviceProperties2, (VkDispatchable, VkProperties2 *)) \
	F(void, GetPhysicalDeviceExternalBufferProperties, (VkDispatchable, \
		const VkExternalBufferInfo *, VkExternalBufferProperties *)) \
	F(VkResult, CreateDevice, (VkDispatchable, const VkDeviceCreateInfo *, const void *, VkDispatchable *))
#define MEMBER(result, name, parameters) result(*name) parameters;
static struct { INSTANCE_FUNCTIONS(MEMBER) } next;
static Find next_find;
static VkDispatchable second; // physical device

// Devices are known by their dispatch tables; those that are closed are found from the end last.
static struct { void *table; VkDispatchable handle; Find find; } devices[4096];
static int device_count;

static int device_of(VkDispatchable d) {
	for (int i = device_count - 1; i >= 0; i--)
		if (devices[i].table == *(void **)d) return i;
	require(0, "an unknown device");
	return 0;
}

static void *below(VkDispatchable d, const char *name) {
	return (void *)devices[device_of(d)].find(devices[device_of(d)].handle, name);
}

static VkResult create_instance(const VkInstanceCreateInfo *info, const void *allocator, VkDispatchable *out) {
	next_find = link_of(info->pNext, INSTANCE_LINK)->instance;
	VkResult (*create)(const VkInstanceCreateInfo *, const void *, VkDispatchable *) =
		(void *)next_find(NULL, "vkCreateInstance");
	VkResult result = create(info, allocator, out);
	if (result != VK_SUCCESS) return result;
#define LOAD(result, name, parameters) next.name = (void *)next_find(*out, "vk" #name);
	INSTANCE_FUNCTIONS(LOAD)
	return result;
}

static VkResult enumerate_devices(VkDispatchable instance, uint32_t *count, VkDispatchable *physical) {
	VkResult result = next.EnumeratePhysicalDevices(instance, count, physical);
	if (physical && *count > 1) second = physical[1];
	return result;
}

static VkResult enumerate_extensions(VkDispatchable physical, const char *layer, uint32_t *count,
	VkExtensionProperties *out) {
	uint32_t room = *count;
	VkResult result = next.EnumerateDeviceExtensionProperties(physical, layer, count, out);
	if (layer || result != VK_SUCCESS) return result;
	if (out) {
		require(*count < room, "no room for an extension");
		memset(&out[*count], 0, sizeof *out);
		strcpy(out[*count].extensionName, dma_buf);
	}
	++*count;
	return result;
}

static void properties(VkDispatchable physical, VkProperties2 *out) {
	next.GetPhysicalDeviceProperties2(physical, out);
	VkIDProperties *id = chained(out->pNext, TYPE_ID_PROPERTIES);
	if (id && physical == second) id->deviceUUID[15] ^= 0xff;
}

static void external_buffers(VkDispatchable physical, const VkExternalBufferInfo *info,
	VkExternalBufferProperties *out) {
	VkExternalBufferInfo opaque = *info;
	opaque.handleType = OPAQUE_FD;
	next.GetPhysicalDeviceExternalBufferProperties(physical, &opaque, out);
}

static VkResult create_device(VkDispatchable physical, const VkDeviceCreateInfo *info, const void *allocator,
	VkDispatchable *out) {
	Find find = link_of(info->pNext, DEVICE_LINK)->device;
	const char *names[64];
	VkDeviceCreateInfo without = *info;
	without.enabledExtensionCount = 0, without.ppEnabledExtensionNames = names;
	for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
		if (strcmp(info->ppEnabledExtensionNames[i], dma_buf))
			names[without.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
	VkResult result = next.CreateDevice(physical, &without, allocator, out);
	if (result != VK_SUCCESS) return result;
	require(device_count < 4096, "too many devices");
	devices[device_count].table = *(void **)*out;
	devices[device_count].handle = *out;
	devices[device_count++].find = find;
	return result;
}

static VkResult create_buffer(VkDispatchable d, const VkBufferCreateInfo *info, const void *allocator, VkHandle *out) {
	VkResult (*create)(VkDispatchable, const VkBufferCreateInfo *, const void *, VkHandle *) = below(d, "vkCreateBuffer");
	VkExternalHandleTypes *external = chained(info->pNext, TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
	if (external && external->handleTypes == DMA_BUF) external->handleTypes = OPAQUE_FD;
	return create(d, info, allocator, out);
}

static VkResult allocate(VkDispatchable d, const VkMemoryAllocateInfo *info, const void *allocator, VkHandle *out) {
	VkResult (*call)(VkDispatchable, const VkMemoryAllocateInfo *, const void *, VkHandle *) =
		below(d, "vkAllocateMemory");
	VkExternalHandleTypes *export = chained(info->pNext, TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
	VkImportMemoryFdInfo *import = chained(info->pNext, TYPE_IMPORT_MEMORY_FD_INFO);
	if (import && told("no import")) return INVALID_HANDLE;
	if (export && export->handleTypes == DMA_BUF) export->handleTypes = OPAQUE_FD;
	if (import && import->handleType == DMA_BUF) import->handleType = OPAQUE_FD;
	return call(d, info, allocator, out);
}

static VkResult get_fd(VkDispatchable d, const VkMemoryGetFdInfo *info, int *fd) {
	VkResult (*get)(VkDispatchable, const VkMemoryGetFdInfo *, int *) = below(d, "vkGetMemoryFdKHR");
	VkMemoryGetFdInfo opaque = *info;
	opaque.handleType = OPAQUE_FD;
	return get(d, &opaque, fd);
}

static VkResult fd_types(VkDispatchable d, uint32_t type, int fd, VkMemoryFdProperties *out) {
	require(d && type == DMA_BUF && fd >= 0, "a handle that is no dma-buf");
	out->memoryTypeBits = ~0u;
	return told("no types") ? INVALID_HANDLE : VK_SUCCESS;
}

static VkFunction find_instance(VkDispatchable instance, const char *name);
static VkFunction find_device(VkDispatchable d, const char *name);

static const struct { const char *name; void *function; } functions[] = {
	{"vkCreateInstance", create_instance}, {"vkEnumeratePhysicalDevices", enumerate_devices},
	{"vkEnumerateDeviceExtensionProperties", enumerate_extensions},
	{"vkGetPhysicalDeviceProperties2", properties},
	{"vkGetPhysicalDeviceExternalBufferProperties", external_buffers}, {"vkCreateDevice", create_device},
	{"vkGetInstanceProcAddr", find_instance}, {"vkGetDeviceProcAddr", find_device}, {"vkCreateBuffer", create_buffer},
	{"vkAllocateMemory", allocate}, {"vkGetMemoryFdKHR", get_fd},
	{"vkGetMemoryFdPropertiesKHR", fd_types},
};

static VkFunction own(const char *name) {
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(name, functions[i].name)) return (VkFunction)functions[i].function;
	return NULL;
}

static VkFunction find_instance(VkDispatchable instance, const char *name) {
	VkFunction f = own(name);
	return f || !next_find ? f : next_find(instance, name);
}

static VkFunction find_device(VkDispatchable d, const char *name) {
	VkFunction f = own(name);
	return f ? f : (VkFunction)below(d, name);
}

typedef struct { uint32_t sType; void *pNext; uint32_t version; void *instance, *device, *physical; } Interface;

VkResult vkNegotiateLoaderLayerInterfaceVersion(Interface *i) {
	i->version = 2;
	i->instance = (void *)find_instance, i->device = (void *)find_device, i->physical = NULL;
	return VK_SUCCESS;
}
