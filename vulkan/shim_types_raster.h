// The part of the Vulkan ABI that images and draws use, as shim_types.h has the rest.
#ifndef SPIRJOIN_SHIM_TYPES_RASTER_H
#define SPIRJOIN_SHIM_TYPES_RASTER_H

#include "shim_types.h"

typedef struct { uint32_t width, height, depth; } VkExtent3D;
typedef struct { int32_t x, y; uint32_t width, height; } VkRect2D;
typedef struct {
	HEAD;
	uint32_t flags, imageType, format;
	VkExtent3D extent;
	uint32_t mipLevels, arrayLayers, samples, tiling, usage, sharingMode, queueFamilyIndexCount;
	const uint32_t *pQueueFamilyIndices;
	uint32_t initialLayout;
} VkImageCreateInfo;
typedef struct { uint32_t aspectMask, baseMipLevel, levelCount, baseArrayLayer, layerCount; } VkImageSubresourceRange;
typedef struct {
	HEAD;
	uint32_t flags;
	VkHandle image;
	uint32_t viewType, format, components[4];
	VkImageSubresourceRange subresourceRange;
} VkImageViewCreateInfo;
typedef struct { uint32_t binding, descriptorType, descriptorCount, stageFlags; const void *pImmutableSamplers; } VkDescriptorSetLayoutBinding;
typedef struct { HEAD; uint32_t flags, bindingCount; const VkDescriptorSetLayoutBinding *pBindings; } VkDescriptorSetLayoutCreateInfo;
typedef struct { uint32_t type, descriptorCount; } VkDescriptorPoolSize;
typedef struct { HEAD; uint32_t flags, maxSets, poolSizeCount; const VkDescriptorPoolSize *pPoolSizes; } VkDescriptorPoolCreateInfo;
typedef struct { HEAD; VkHandle descriptorPool; uint32_t descriptorSetCount; const VkHandle *pSetLayouts; } VkDescriptorSetAllocateInfo;
typedef struct { VkHandle sampler, imageView; uint32_t imageLayout; } VkDescriptorImageInfo;
typedef struct {
	HEAD;
	VkHandle dstSet;
	uint32_t dstBinding, dstArrayElement, descriptorCount, descriptorType;
	const VkDescriptorImageInfo *pImageInfo;
	const void *pBufferInfo, *pTexelBufferView;
} VkWriteDescriptorSet;
typedef struct {
	uint32_t flags, format, samples, loadOp, storeOp, stencilLoadOp, stencilStoreOp, initialLayout, finalLayout;
} VkAttachmentDescription;
typedef struct { uint32_t attachment, layout; } VkAttachmentReference;
typedef struct {
	uint32_t flags, pipelineBindPoint, inputAttachmentCount;
	const VkAttachmentReference *pInputAttachments;
	uint32_t colorAttachmentCount;
	const VkAttachmentReference *pColorAttachments, *pResolveAttachments, *pDepthStencilAttachment;
	uint32_t preserveAttachmentCount;
	const uint32_t *pPreserveAttachments;
} VkSubpassDescription;
typedef struct {
	HEAD;
	uint32_t flags, attachmentCount;
	const VkAttachmentDescription *pAttachments;
	uint32_t subpassCount;
	const VkSubpassDescription *pSubpasses;
	uint32_t dependencyCount;
	const void *pDependencies;
} VkRenderPassCreateInfo;
typedef struct {
	HEAD;
	uint32_t flags;
	VkHandle renderPass;
	uint32_t attachmentCount;
	const VkHandle *pAttachments;
	uint32_t width, height, layers;
} VkFramebufferCreateInfo;
typedef struct { uint32_t words[4]; } VkClearValue;
typedef struct {
	HEAD;
	VkHandle renderPass, framebuffer;
	VkRect2D renderArea;
	uint32_t clearValueCount;
	const VkClearValue *pClearValues;
} VkRenderPassBeginInfo;
typedef struct {
	HEAD;
	uint32_t flags, vertexBindingDescriptionCount;
	const void *pVertexBindingDescriptions;
	uint32_t vertexAttributeDescriptionCount;
	const void *pVertexAttributeDescriptions;
} VkPipelineVertexInputStateCreateInfo;
typedef struct { HEAD; uint32_t flags, topology; VkBool32 primitiveRestartEnable; } VkPipelineInputAssemblyStateCreateInfo;
typedef struct { float x, y, width, height, minDepth, maxDepth; } VkViewport;
typedef struct {
	HEAD;
	uint32_t flags, viewportCount;
	const VkViewport *pViewports;
	uint32_t scissorCount;
	const VkRect2D *pScissors;
} VkPipelineViewportStateCreateInfo;
typedef struct {
	HEAD;
	uint32_t flags;
	VkBool32 depthClampEnable, rasterizerDiscardEnable;
	uint32_t polygonMode, cullMode, frontFace;
	VkBool32 depthBiasEnable;
	float depthBiasConstantFactor, depthBiasClamp, depthBiasSlopeFactor, lineWidth;
} VkPipelineRasterizationStateCreateInfo;
typedef struct {
	HEAD;
	uint32_t flags, rasterizationSamples;
	VkBool32 sampleShadingEnable;
	float minSampleShading;
	const uint32_t *pSampleMask;
	VkBool32 alphaToCoverageEnable, alphaToOneEnable;
} VkPipelineMultisampleStateCreateInfo;
typedef struct {
	VkBool32 blendEnable;
	uint32_t srcColorBlendFactor, dstColorBlendFactor, colorBlendOp, srcAlphaBlendFactor, dstAlphaBlendFactor, alphaBlendOp, colorWriteMask;
} VkPipelineColorBlendAttachmentState;
typedef struct {
	HEAD;
	uint32_t flags;
	VkBool32 logicOpEnable;
	uint32_t logicOp, attachmentCount;
	const VkPipelineColorBlendAttachmentState *pAttachments;
	float blendConstants[4];
} VkPipelineColorBlendStateCreateInfo;
typedef struct { HEAD; uint32_t flags, dynamicStateCount; const uint32_t *pDynamicStates; } VkPipelineDynamicStateCreateInfo;
typedef struct {
	HEAD;
	uint32_t flags, stageCount;
	const VkPipelineShaderStageCreateInfo *pStages;
	const VkPipelineVertexInputStateCreateInfo *pVertexInputState;
	const VkPipelineInputAssemblyStateCreateInfo *pInputAssemblyState;
	const void *pTessellationState;
	const VkPipelineViewportStateCreateInfo *pViewportState;
	const VkPipelineRasterizationStateCreateInfo *pRasterizationState;
	const VkPipelineMultisampleStateCreateInfo *pMultisampleState;
	const void *pDepthStencilState;
	const VkPipelineColorBlendStateCreateInfo *pColorBlendState;
	const VkPipelineDynamicStateCreateInfo *pDynamicState;
	VkHandle layout, renderPass;
	uint32_t subpass;
	VkHandle basePipelineHandle;
	int32_t basePipelineIndex;
} VkGraphicsPipelineCreateInfo;
typedef struct {
	HEAD;
	uint32_t srcAccessMask, dstAccessMask, oldLayout, newLayout, srcQueueFamilyIndex, dstQueueFamilyIndex;
	VkHandle image;
	VkImageSubresourceRange subresourceRange;
} VkImageMemoryBarrier;
typedef struct {
	VkDeviceSize bufferOffset;
	uint32_t bufferRowLength, bufferImageHeight;
	uint32_t aspectMask, mipLevel, baseArrayLayer, layerCount;
	int32_t imageOffset[3];
	VkExtent3D imageExtent;
} VkBufferImageCopy;

#endif
