// What the C files of the shim share among themselves.
#ifndef SPIRJOIN_SHIM_LOAD_H
#define SPIRJOIN_SHIM_LOAD_H

#include <string.h>

#include "shim.h"
#include "shim_types_raster.h"

// Usage of every buffer: transfer in both directions, storage, device address.
#define SJ_BUFFER_USAGE (0x1 | 0x2 | 0x20 | 0x20000)

enum { TIME_DOMAIN_DEVICE = 0, TIMELINE = 1 };

VkFunction sj_instance_function(const char *name); // of the live instance, or NULL

// sj_split points names at count strings that lie one after the other.
static inline void sj_split(const char *strings, uint32_t count, const char **names) {
	for (uint32_t i = 0; i < count; i++, strings += strlen(strings) + 1) names[i] = strings;
}

// Where the features of Vulkan 1.2 that have a bit stand in its structure.
static const struct { uint32_t bit, index; } sj_v12_features[] = {
	{SJ_BUFFER_DEVICE_ADDRESS, V12_BUFFER_DEVICE_ADDRESS},
	{SJ_TIMELINE_SEMAPHORE, V12_TIMELINE_SEMAPHORE},
	{SJ_HOST_QUERY_RESET, V12_HOST_QUERY_RESET},
	{SJ_MEMORY_MODEL, V12_MEMORY_MODEL},
	{SJ_MEMORY_MODEL_DEVICE_SCOPE, V12_MEMORY_MODEL_DEVICE_SCOPE},
	{SJ_SUBGROUP_EXTENDED_TYPES, V12_SUBGROUP_EXTENDED_TYPES},
	{SJ_BUFFER_INT64_ATOMICS, V12_BUFFER_INT64_ATOMICS},
	{SJ_SHARED_INT64_ATOMICS, V12_SHARED_INT64_ATOMICS},
};

// The functions of a logical device: F(result, name, parameters).
#define SJ_DEVICE_FUNCTIONS(F)                                                                                                  \
	F(VkResult, CreateBuffer, (VkDispatchable, const VkBufferCreateInfo *, const void *, VkHandle *))                           \
	F(VkResult, AllocateMemory, (VkDispatchable, const VkMemoryAllocateInfo *, const void *, VkHandle *))                       \
	F(VkResult, BindBufferMemory2, (VkDispatchable, uint32_t, const VkBindBufferMemoryInfo *))                                  \
	F(VkResult, CreateSemaphore, (VkDispatchable, const VkSemaphoreCreateInfo *, const void *, VkHandle *))                     \
	F(VkResult, CreateShaderModule, (VkDispatchable, const VkShaderModuleCreateInfo *, const void *, VkHandle *))               \
	F(void, DestroyShaderModule, (VkDispatchable, VkHandle, const void *))                                                      \
	F(VkResult, CreatePipelineLayout, (VkDispatchable, const VkPipelineLayoutCreateInfo *, const void *, VkHandle *))           \
	F(VkResult, CreateComputePipelines,                                                                                         \
		(VkDispatchable, VkHandle, uint32_t, const VkComputePipelineCreateInfo *, const void *, VkHandle *))                    \
	F(VkResult, CreateGraphicsPipelines,                                                                                        \
		(VkDispatchable, VkHandle, uint32_t, const VkGraphicsPipelineCreateInfo *, const void *, VkHandle *))                   \
	F(VkResult, CreateImage, (VkDispatchable, const VkImageCreateInfo *, const void *, VkHandle *))                             \
	F(VkResult, CreateImageView, (VkDispatchable, const VkImageViewCreateInfo *, const void *, VkHandle *))                     \
	F(VkResult, CreateRenderPass, (VkDispatchable, const VkRenderPassCreateInfo *, const void *, VkHandle *))                   \
	F(VkResult, CreateFramebuffer, (VkDispatchable, const VkFramebufferCreateInfo *, const void *, VkHandle *))                 \
	F(VkResult, CreateDescriptorSetLayout, (VkDispatchable, const VkDescriptorSetLayoutCreateInfo *, const void *, VkHandle *)) \
	F(VkResult, CreateDescriptorPool, (VkDispatchable, const VkDescriptorPoolCreateInfo *, const void *, VkHandle *))           \
	F(void, DestroyDescriptorPool, (VkDispatchable, VkHandle, const void *))                                                    \
	F(VkResult, AllocateDescriptorSets, (VkDispatchable, const VkDescriptorSetAllocateInfo *, VkHandle *))                      \
	F(void, UpdateDescriptorSets, (VkDispatchable, uint32_t, const VkWriteDescriptorSet *, uint32_t, const void *))             \
	F(VkDeviceSize, GetBufferDeviceAddress, (VkDispatchable, const VkBufferDeviceAddressInfo *))                                \
	F(VkResult, GetSemaphoreCounterValue, (VkDispatchable, VkHandle, uint64_t *))                                               \
	F(VkResult, WaitSemaphores, (VkDispatchable, const VkSemaphoreWaitInfo *, uint64_t))                                        \
	F(VkResult, SignalSemaphore, (VkDispatchable, const VkSemaphoreSignalInfo *))                                               \
	F(VkResult, BeginCommandBuffer, (VkDispatchable, const VkCommandBufferBeginInfo *))                                         \
	F(VkResult, EndCommandBuffer, (VkDispatchable))                                                                             \
	F(void, CmdPipelineBarrier,                                                                                                 \
		(VkDispatchable, uint32_t, uint32_t, uint32_t, uint32_t, const VkMemoryBarrier *, uint32_t, const void *, uint32_t, const void *)) \
	F(void, CmdBindPipeline, (VkDispatchable, uint32_t, VkHandle))                                                              \
	F(void, CmdBindDescriptorSets,                                                                                              \
		(VkDispatchable, uint32_t, VkHandle, uint32_t, uint32_t, const VkHandle *, uint32_t, const uint32_t *))                 \
	F(void, CmdBeginRenderPass, (VkDispatchable, const VkRenderPassBeginInfo *, uint32_t))                                      \
	F(void, CmdEndRenderPass, (VkDispatchable))                                                                                 \
	F(void, CmdSetViewport, (VkDispatchable, uint32_t, uint32_t, const VkViewport *))                                           \
	F(void, CmdSetScissor, (VkDispatchable, uint32_t, uint32_t, const VkRect2D *))                                              \
	F(void, CmdDraw, (VkDispatchable, uint32_t, uint32_t, uint32_t, uint32_t))                                                  \
	F(void, CmdCopyImageToBuffer, (VkDispatchable, VkHandle, uint32_t, VkHandle, uint32_t, const VkBufferImageCopy *))          \
	F(void, CmdPushConstants, (VkDispatchable, VkHandle, uint32_t, uint32_t, uint32_t, const void *))                           \
	F(void, CmdDispatch, (VkDispatchable, uint32_t, uint32_t, uint32_t))                                                        \
	F(void, CmdCopyBuffer, (VkDispatchable, VkHandle, VkHandle, uint32_t, const VkBufferCopy *))                                \
	F(void, CmdFillBuffer, (VkDispatchable, VkHandle, VkDeviceSize, VkDeviceSize, uint32_t))                                    \
	F(void, CmdWriteTimestamp, (VkDispatchable, uint32_t, VkHandle, uint32_t))                                                  \
	F(void, ResetQueryPool, (VkDispatchable, VkHandle, uint32_t, uint32_t))                                                     \
	F(VkResult, GetQueryPoolResults, (VkDispatchable, VkHandle, uint32_t, uint32_t, size_t, void *, VkDeviceSize, uint32_t))    \
	F(VkResult, QueueSubmit, (VkDispatchable, uint32_t, const VkSubmitInfo *, VkHandle))                                        \
	F(VkResult, QueueBindSparse, (VkDispatchable, uint32_t, const VkBindSparseInfo *, VkHandle))                                \
	F(void, DestroyDevice, (VkDispatchable, const void *))

// Functions of extensions; NULL where the extension is not enabled.
#define SJ_EXTENSION_FUNCTIONS(F)                                                                                               \
	F(VkResult, GetMemoryFdKHR, (VkDispatchable, const VkMemoryGetFdInfo *, int *))                                             \
	F(VkResult, GetMemoryFdPropertiesKHR, (VkDispatchable, uint32_t, int, VkMemoryFdProperties *))                               \
	F(VkResult, GetSemaphoreFdKHR, (VkDispatchable, const VkSemaphoreGetFdInfo *, int *))                                       \
	F(VkResult, GetMemoryHostPointerPropertiesEXT, (VkDispatchable, uint32_t, const void *, VkMemoryHostPointerProperties *))    \
	F(VkResult, GetCalibratedTimestampsKHR, (VkDispatchable, uint32_t, const VkCalibratedTimestampInfo *, uint64_t *, uint64_t *)) \
	F(VkResult, GetCalibratedTimestampsEXT, (VkDispatchable, uint32_t, const VkCalibratedTimestampInfo *, uint64_t *, uint64_t *))

struct sj_device {
	VkDispatchable handle;
#define MEMBER(result, name, parameters) result(*name) parameters;
	SJ_DEVICE_FUNCTIONS(MEMBER)
	SJ_EXTENSION_FUNCTIONS(MEMBER)
#undef MEMBER
};

#endif
