// The part of the Vulkan ABI that the shim uses: enumerants as macros, structures field by field. Handles that Vulkan
// dispatches on are pointers, all others 64-bit numbers. Only 64-bit platforms are supported.
#ifndef SPIRJOIN_SHIM_TYPES_H
#define SPIRJOIN_SHIM_TYPES_H

#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(void *) == 8, "the Vulkan backend needs a 64-bit platform");

typedef void *VkDispatchable; // instance, physical device, device, queue, command buffer
typedef uint64_t VkHandle;    // everything else
typedef int32_t VkResult;
typedef uint32_t VkBool32;
typedef uint64_t VkDeviceSize;
typedef void (*VkFunction)(void);

#define VK_SUCCESS 0
#define VK_INCOMPLETE 5
#define VK_ERROR_OUT_OF_HOST_MEMORY (-1)
#define VK_ERROR_INITIALIZATION_FAILED (-3)

enum { // VkStructureType
	TYPE_APPLICATION_INFO = 0,
	TYPE_INSTANCE_CREATE_INFO = 1,
	TYPE_DEVICE_QUEUE_CREATE_INFO = 2,
	TYPE_DEVICE_CREATE_INFO = 3,
	TYPE_SUBMIT_INFO = 4,
	TYPE_MEMORY_ALLOCATE_INFO = 5,
	TYPE_BIND_SPARSE_INFO = 7,
	TYPE_SEMAPHORE_CREATE_INFO = 9,
	TYPE_BUFFER_CREATE_INFO = 12,
	TYPE_IMAGE_CREATE_INFO = 14,
	TYPE_IMAGE_VIEW_CREATE_INFO = 15,
	TYPE_SHADER_MODULE_CREATE_INFO = 16,
	TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO = 18,
	TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO = 19,
	TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO = 20,
	TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO = 22,
	TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO = 23,
	TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO = 24,
	TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO = 26,
	TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO = 27,
	TYPE_GRAPHICS_PIPELINE_CREATE_INFO = 28,
	TYPE_COMPUTE_PIPELINE_CREATE_INFO = 29,
	TYPE_PIPELINE_LAYOUT_CREATE_INFO = 30,
	TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO = 32,
	TYPE_DESCRIPTOR_POOL_CREATE_INFO = 33,
	TYPE_DESCRIPTOR_SET_ALLOCATE_INFO = 34,
	TYPE_WRITE_DESCRIPTOR_SET = 35,
	TYPE_FRAMEBUFFER_CREATE_INFO = 37,
	TYPE_RENDER_PASS_CREATE_INFO = 38,
	TYPE_COMMAND_BUFFER_BEGIN_INFO = 42,
	TYPE_RENDER_PASS_BEGIN_INFO = 43,
	TYPE_IMAGE_MEMORY_BARRIER = 45,
	TYPE_MEMORY_BARRIER = 46,
	TYPE_VULKAN_1_2_FEATURES = 51,
	TYPE_FEATURES_2 = 1000059000,
	TYPE_PROPERTIES_2 = 1000059001,
	TYPE_MEMORY_PROPERTIES_2 = 1000059006,
	TYPE_MEMORY_ALLOCATE_FLAGS_INFO = 1000060000,
	TYPE_EXTERNAL_BUFFER_INFO = 1000071002,
	TYPE_EXTERNAL_BUFFER_PROPERTIES = 1000071003,
	TYPE_ID_PROPERTIES = 1000071004,
	TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO = 1000072000,
	TYPE_EXPORT_MEMORY_ALLOCATE_INFO = 1000072002,
	TYPE_IMPORT_MEMORY_FD_INFO = 1000074000,
	TYPE_MEMORY_FD_PROPERTIES = 1000074001,
	TYPE_MEMORY_GET_FD_INFO = 1000074002,
	TYPE_EXTERNAL_SEMAPHORE_INFO = 1000076000,
	TYPE_EXTERNAL_SEMAPHORE_PROPERTIES = 1000076001,
	TYPE_EXPORT_SEMAPHORE_CREATE_INFO = 1000077000,
	TYPE_SEMAPHORE_GET_FD_INFO = 1000079001,
	TYPE_SUBGROUP_PROPERTIES = 1000094000,
	TYPE_MEMORY_DEDICATED_ALLOCATE_INFO = 1000127001,
	TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO = 1000128004,
	TYPE_BIND_BUFFER_MEMORY_INFO = 1000157000,
	TYPE_MAINTENANCE_3_PROPERTIES = 1000168000,
	TYPE_IMPORT_MEMORY_HOST_POINTER_INFO = 1000178000,
	TYPE_MEMORY_HOST_POINTER_PROPERTIES = 1000178001,
	TYPE_EXTERNAL_MEMORY_HOST_PROPERTIES = 1000178002,
	TYPE_CALIBRATED_TIMESTAMP_INFO = 1000184000,
	TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO = 1000192000,
	TYPE_DRIVER_PROPERTIES = 1000196000,
	TYPE_SEMAPHORE_TYPE_CREATE_INFO = 1000207002,
	TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO = 1000207003,
	TYPE_SEMAPHORE_WAIT_INFO = 1000207004,
	TYPE_SEMAPHORE_SIGNAL_INFO = 1000207005,
	TYPE_PCI_BUS_INFO_PROPERTIES = 1000212000,
	TYPE_SUBGROUP_SIZE_CONTROL_PROPERTIES = 1000225000,
	TYPE_SUBGROUP_SIZE_CONTROL_FEATURES = 1000225002,
	TYPE_MEMORY_BUDGET_PROPERTIES = 1000237000,
	TYPE_BUFFER_DEVICE_ADDRESS_INFO = 1000244001,
	TYPE_VALIDATION_FEATURES = 1000247000,
	TYPE_MAINTENANCE_4_PROPERTIES = 1000413001,
};

// HEAD begins every extensible structure; START is its initialiser.
#define HEAD    \
	uint32_t sType; \
	const void *pNext
#define START(type, next) .sType = (type), .pNext = (next)

// Enumeration.
typedef struct { HEAD; const char *pApplicationName; uint32_t applicationVersion; const char *pEngineName; uint32_t engineVersion, apiVersion; } VkApplicationInfo;
typedef struct {
	HEAD;
	uint32_t flags;
	const VkApplicationInfo *pApplicationInfo;
	uint32_t enabledLayerCount;
	const char *const *ppEnabledLayerNames;
	uint32_t enabledExtensionCount;
	const char *const *ppEnabledExtensionNames;
} VkInstanceCreateInfo;
typedef struct { char extensionName[256]; uint32_t specVersion; } VkExtensionProperties;
typedef struct {
	char layerName[256];
	uint32_t specVersion, implementationVersion;
	char description[256];
} VkLayerProperties;
typedef struct { uint32_t queueFlags, queueCount, timestampValidBits, minImageTransferGranularity[3]; } VkQueueFamilyProperties;

// Properties. The core structure (824 bytes) and the core features (55 booleans) are read through the binding, the former
// stays opaque here.
typedef struct { HEAD; uint64_t core[103]; } VkProperties2;
typedef struct { HEAD; uint8_t deviceUUID[16], driverUUID[16], deviceLUID[8]; uint32_t deviceNodeMask; VkBool32 deviceLUIDValid; } VkIDProperties;
typedef struct { HEAD; uint32_t driverID; char driverName[256], driverInfo[256]; uint8_t conformanceVersion[4]; } VkDriverProperties;
typedef struct { HEAD; uint32_t subgroupSize, supportedStages, supportedOperations; VkBool32 quadOperationsInAllStages; } VkSubgroupProperties;
typedef struct { HEAD; uint32_t minSubgroupSize, maxSubgroupSize, maxComputeWorkgroupSubgroups, requiredSubgroupSizeStages; } VkSubgroupSizeControlProperties;
typedef struct { HEAD; uint32_t maxPerSetDescriptors; VkDeviceSize maxMemoryAllocationSize; } VkMaintenance3Properties;
typedef struct { HEAD; VkDeviceSize maxBufferSize; } VkMaintenance4Properties;
typedef struct { HEAD; uint32_t pciDomain, pciBus, pciDevice, pciFunction; } VkPCIBusInfoProperties;
typedef struct { HEAD; VkDeviceSize minImportedHostPointerAlignment; } VkExternalMemoryHostProperties;
typedef struct {
	HEAD;
	uint32_t memoryTypeCount;
	struct { uint32_t propertyFlags, heapIndex; } memoryTypes[32];
	uint32_t memoryHeapCount;
	struct { VkDeviceSize size; uint32_t flags; } memoryHeaps[16];
} VkMemoryProperties2;
typedef struct { HEAD; VkDeviceSize heapBudget[16], heapUsage[16]; } VkMemoryBudgetProperties;

// Features, as arrays of booleans in the order of the specification.
enum {
	CORE_INDEPENDENT_BLEND = 3, CORE_VERTEX_STORES = 25, CORE_SHADER_INT64 = 40, CORE_SPARSE_BINDING = 44,
	CORE_FEATURES = 55
};
enum {
	V12_BUFFER_INT64_ATOMICS = 5, V12_SHARED_INT64_ATOMICS = 6, V12_SUBGROUP_EXTENDED_TYPES = 34, V12_HOST_QUERY_RESET = 36,
	V12_TIMELINE_SEMAPHORE = 37, V12_BUFFER_DEVICE_ADDRESS = 38, V12_MEMORY_MODEL = 41, V12_MEMORY_MODEL_DEVICE_SCOPE = 42,
	V12_FEATURES = 47
};
typedef struct { HEAD; VkBool32 on[CORE_FEATURES]; } VkFeatures2;
typedef struct { HEAD; VkBool32 on[V12_FEATURES]; } VkVulkan12Features;
typedef struct { HEAD; VkBool32 subgroupSizeControl, computeFullSubgroups; } VkSubgroupSizeControlFeatures;

// Messages.
typedef struct {
	HEAD;
	uint32_t flags;
	const char *pMessageIdName;
	int32_t messageIdNumber;
	const char *pMessage; // lists of labels and objects follow
} VkMessage;
typedef VkBool32 (*VkMessageCallback)(uint32_t severity, uint32_t types, const VkMessage *message, void *user);
typedef struct { HEAD; uint32_t flags, messageSeverity, messageType; VkMessageCallback pfnUserCallback; void *pUserData; } VkMessengerCreateInfo;
typedef struct {
	HEAD;
	uint32_t enabledValidationFeatureCount;
	const uint32_t *pEnabledValidationFeatures;
	uint32_t disabledValidationFeatureCount;
	const uint32_t *pDisabledValidationFeatures;
} VkValidationFeatures;

// Devices and memory.
typedef struct { HEAD; uint32_t flags, queueFamilyIndex, queueCount; const float *pQueuePriorities; } VkDeviceQueueCreateInfo;
typedef struct {
	HEAD;
	uint32_t flags, queueCreateInfoCount;
	const VkDeviceQueueCreateInfo *pQueueCreateInfos;
	uint32_t enabledLayerCount;
	const char *const *ppEnabledLayerNames;
	uint32_t enabledExtensionCount;
	const char *const *ppEnabledExtensionNames;
	const void *pEnabledFeatures;
} VkDeviceCreateInfo;
typedef struct {
	HEAD;
	uint32_t flags;
	VkDeviceSize size;
	uint32_t usage, sharingMode, queueFamilyIndexCount;
	const uint32_t *pQueueFamilyIndices;
} VkBufferCreateInfo;
typedef struct { HEAD; uint32_t handleTypes; } VkExternalHandleTypes; // of a buffer, or of memory or a semaphore to export
typedef struct { HEAD; VkDeviceSize allocationSize; uint32_t memoryTypeIndex; } VkMemoryAllocateInfo;
typedef struct { HEAD; uint32_t flags, deviceMask; } VkMemoryAllocateFlagsInfo;
typedef struct { HEAD; VkHandle image, buffer; } VkMemoryDedicatedAllocateInfo;
typedef struct { HEAD; VkHandle buffer, memory; VkDeviceSize memoryOffset; } VkBindBufferMemoryInfo;
typedef struct { HEAD; uint32_t handleType; int fd; } VkImportMemoryFdInfo;
typedef struct { HEAD; uint32_t memoryTypeBits; } VkMemoryFdProperties;
typedef struct { HEAD; uint32_t handleType; void *pHostPointer; } VkImportMemoryHostPointerInfo;
typedef struct { HEAD; uint32_t memoryTypeBits; } VkMemoryHostPointerProperties;
typedef struct { HEAD; VkHandle memory; uint32_t handleType; } VkMemoryGetFdInfo;
typedef struct { HEAD; VkHandle buffer; } VkBufferDeviceAddressInfo;
typedef struct { HEAD; uint32_t flags, usage, handleType; } VkExternalBufferInfo;
typedef struct { HEAD; uint32_t externalMemoryFeatures, exportFromImportedHandleTypes, compatibleHandleTypes; } VkExternalBufferProperties;

// Pipelines.
typedef struct { uint32_t stageFlags, offset, size; } VkPushConstantRange;
typedef struct {
	HEAD;
	uint32_t flags, setLayoutCount;
	const VkHandle *pSetLayouts;
	uint32_t pushConstantRangeCount;
	const VkPushConstantRange *pPushConstantRanges;
} VkPipelineLayoutCreateInfo;
typedef struct { HEAD; uint32_t flags; size_t codeSize; const void *pCode; } VkShaderModuleCreateInfo;
typedef struct { uint32_t constantID, offset; size_t size; } VkSpecializationMapEntry;
typedef struct { uint32_t mapEntryCount; const VkSpecializationMapEntry *pMapEntries; size_t dataSize; const void *pData; } VkSpecializationInfo;
typedef struct {
	HEAD;
	uint32_t flags, stage;
	VkHandle module;
	const char *pName;
	const VkSpecializationInfo *pSpecializationInfo;
} VkPipelineShaderStageCreateInfo;
typedef struct {
	HEAD;
	uint32_t flags;
	VkPipelineShaderStageCreateInfo stage;
	VkHandle layout, basePipelineHandle;
	int32_t basePipelineIndex;
} VkComputePipelineCreateInfo;
typedef struct { uint32_t flags; uint64_t duration; } VkPipelineCreationFeedback;
typedef struct {
	HEAD;
	VkPipelineCreationFeedback *pPipelineCreationFeedback;
	uint32_t pipelineStageCreationFeedbackCount;
	VkPipelineCreationFeedback *pPipelineStageCreationFeedbacks;
} VkPipelineCreationFeedbackCreateInfo;

// Commands and queues.
typedef struct { HEAD; uint32_t flags; const void *pInheritanceInfo; } VkCommandBufferBeginInfo;
typedef struct { HEAD; uint32_t srcAccessMask, dstAccessMask; } VkMemoryBarrier;
typedef struct { VkDeviceSize srcOffset, dstOffset, size; } VkBufferCopy;
typedef struct { HEAD; uint32_t timeDomain; } VkCalibratedTimestampInfo;
typedef struct { HEAD; uint32_t flags; } VkSemaphoreCreateInfo;
typedef struct { HEAD; uint32_t semaphoreType; uint64_t initialValue; } VkSemaphoreTypeCreateInfo;
typedef struct { HEAD; uint32_t flags, semaphoreCount; const VkHandle *pSemaphores; const uint64_t *pValues; } VkSemaphoreWaitInfo;
typedef struct { HEAD; VkHandle semaphore; uint64_t value; } VkSemaphoreSignalInfo;
typedef struct { HEAD; VkHandle semaphore; uint32_t handleType; } VkSemaphoreGetFdInfo;
typedef struct { HEAD; uint32_t handleType; } VkExternalSemaphoreInfo;
typedef struct { HEAD; uint32_t exportFromImportedHandleTypes, compatibleHandleTypes, externalSemaphoreFeatures; } VkExternalSemaphoreProperties;
typedef struct {
	HEAD;
	uint32_t waitSemaphoreValueCount;
	const uint64_t *pWaitSemaphoreValues;
	uint32_t signalSemaphoreValueCount;
	const uint64_t *pSignalSemaphoreValues;
} VkTimelineSemaphoreSubmitInfo;
typedef struct {
	HEAD;
	uint32_t waitSemaphoreCount;
	const VkHandle *pWaitSemaphores;
	const uint32_t *pWaitDstStageMask;
	uint32_t commandBufferCount;
	const VkDispatchable *pCommandBuffers;
	uint32_t signalSemaphoreCount;
	const VkHandle *pSignalSemaphores;
} VkSubmitInfo;
typedef struct { VkDeviceSize resourceOffset, size; VkHandle memory; VkDeviceSize memoryOffset; uint32_t flags; } VkSparseMemoryBind;
typedef struct { VkHandle buffer; uint32_t bindCount; const VkSparseMemoryBind *pBinds; } VkSparseBufferMemoryBindInfo;
typedef struct {
	HEAD;
	uint32_t waitSemaphoreCount;
	const VkHandle *pWaitSemaphores;
	uint32_t bufferBindCount;
	const VkSparseBufferMemoryBindInfo *pBufferBinds;
	uint32_t imageOpaqueBindCount;
	const void *pImageOpaqueBinds;
	uint32_t imageBindCount;
	const void *pImageBinds;
	uint32_t signalSemaphoreCount;
	const VkHandle *pSignalSemaphores;
} VkBindSparseInfo;

#endif
