// Functions of a logical device that draw points into images.
#include "shim_load.h"

enum {
	BIND_GRAPHICS = 0,
	STAGE_VERTEX = 0x1,
	STAGE_FRAGMENT = 0x10,
	STAGES_DRAW = STAGE_VERTEX | STAGE_FRAGMENT,
	IMAGE_2D = 1,
	VIEW_2D = 1,
	VIEW_2D_ARRAY = 5,
	ASPECT_COLOR = 1,
	SAMPLES_1 = 1,
	SAMPLED_IMAGE = 2,
	LOAD_OP_LOAD = 0,
	LOAD_OP_CLEAR = 1,
	LOAD_OP_DONT_CARE = 2,
	STORE_OP_STORE = 0,
	STORE_OP_DONT_CARE = 1,
	POINT_LIST = 0,
	DYNAMIC_VIEWPORT = 0,
	DYNAMIC_SCISSOR = 1,
	FACTOR_ONE = 1,
	WRITE_ALL = 0xf,
	FAMILY_IGNORED = 0xffffffff,
};

int32_t sj_create_image(const sj_device *d, uint32_t format, uint32_t width, uint32_t height, uint32_t layers, uint64_t *image) {
	const VkImageCreateInfo info = {START(TYPE_IMAGE_CREATE_INFO, NULL), .imageType = IMAGE_2D, .format = format,
		.extent = {width, height, 1}, .mipLevels = 1, .arrayLayers = layers, .samples = SAMPLES_1, .usage = SJ_IMAGE_USAGE};
	return d->CreateImage(d->handle, &info, NULL, image);
}

int32_t sj_create_view(const sj_device *d, uint64_t image, uint32_t format, uint32_t array, uint32_t first_layer, uint32_t layers,
	uint64_t *view) {
	const VkImageViewCreateInfo info = {START(TYPE_IMAGE_VIEW_CREATE_INFO, NULL), .image = image,
		.viewType = array ? VIEW_2D_ARRAY : VIEW_2D, .format = format,
		.subresourceRange = {ASPECT_COLOR, 0, 1, first_layer, layers}};
	return d->CreateImageView(d->handle, &info, NULL, view);
}

int32_t sj_create_texture_layout(const sj_device *d, uint64_t *set_layout) {
	const VkDescriptorSetLayoutBinding binding = {0, SAMPLED_IMAGE, 1, STAGE_VERTEX, NULL};
	const VkDescriptorSetLayoutCreateInfo info = {START(TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, NULL), 0, 1, &binding};
	return d->CreateDescriptorSetLayout(d->handle, &info, NULL, set_layout);
}

int32_t sj_create_texture(const sj_device *d, uint64_t set_layout, uint64_t view, uint64_t *pool, uint64_t *set) {
	const VkDescriptorPoolSize size = {SAMPLED_IMAGE, 1};
	const VkDescriptorPoolCreateInfo pool_info = {START(TYPE_DESCRIPTOR_POOL_CREATE_INFO, NULL), 0, 1, 1, &size};
	VkResult result = d->CreateDescriptorPool(d->handle, &pool_info, NULL, pool);
	if (result != VK_SUCCESS) return result;
	const VkDescriptorSetAllocateInfo set_info = {START(TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, NULL), *pool, 1, &set_layout};
	result = d->AllocateDescriptorSets(d->handle, &set_info, set);
	if (result != VK_SUCCESS) {
		d->DestroyDescriptorPool(d->handle, *pool, NULL);
		*pool = 0;
		return result;
	}
	const VkDescriptorImageInfo image = {0, view, SJ_LAYOUT_TEXTURE};
	const VkWriteDescriptorSet write = {START(TYPE_WRITE_DESCRIPTOR_SET, NULL), .dstSet = *set, .descriptorCount = 1,
		.descriptorType = SAMPLED_IMAGE, .pImageInfo = &image};
	d->UpdateDescriptorSets(d->handle, 1, &write, 0, NULL);
	return VK_SUCCESS;
}

int32_t sj_create_render_pass(const sj_device *d, const uint32_t *formats, uint32_t count, uint32_t clears, uint64_t *pass) {
	if (count > SJ_MAX_TARGETS) return VK_ERROR_INITIALIZATION_FAILED;
	VkAttachmentDescription targets[SJ_MAX_TARGETS];
	VkAttachmentReference references[SJ_MAX_TARGETS];
	for (uint32_t i = 0; i < count; i++) {
		targets[i] = (VkAttachmentDescription){.format = formats[i], .samples = SAMPLES_1,
			.loadOp = clears >> i & 1 ? LOAD_OP_CLEAR : LOAD_OP_LOAD, .storeOp = STORE_OP_STORE,
			.stencilLoadOp = LOAD_OP_DONT_CARE, .stencilStoreOp = STORE_OP_DONT_CARE,
			.initialLayout = SJ_LAYOUT_TARGET, .finalLayout = SJ_LAYOUT_TARGET};
		references[i] = (VkAttachmentReference){i, SJ_LAYOUT_TARGET};
	}
	const VkSubpassDescription subpass = {.pipelineBindPoint = BIND_GRAPHICS, .colorAttachmentCount = count,
		.pColorAttachments = references};
	const VkRenderPassCreateInfo info = {START(TYPE_RENDER_PASS_CREATE_INFO, NULL), .attachmentCount = count,
		.pAttachments = targets, .subpassCount = 1, .pSubpasses = &subpass};
	return d->CreateRenderPass(d->handle, &info, NULL, pass);
}

int32_t sj_create_framebuffer(const sj_device *d, uint64_t pass, const uint64_t *views, uint32_t count, uint32_t width,
	uint32_t height, uint64_t *framebuffer) {
	const VkFramebufferCreateInfo info = {START(TYPE_FRAMEBUFFER_CREATE_INFO, NULL), 0, pass, count, views, width, height, 1};
	return d->CreateFramebuffer(d->handle, &info, NULL, framebuffer);
}

int32_t sj_create_draw_layout(const sj_device *d, uint32_t push_bytes, uint64_t set_layout, uint32_t textures, uint64_t *layout) {
	if (textures > SJ_MAX_TEXTURES) return VK_ERROR_INITIALIZATION_FAILED;
	const VkHandle sets[SJ_MAX_TEXTURES] = {set_layout, set_layout, set_layout, set_layout};
	const VkPushConstantRange range = {STAGES_DRAW, 0, push_bytes};
	const VkPipelineLayoutCreateInfo info = {START(TYPE_PIPELINE_LAYOUT_CREATE_INFO, NULL), 0, textures, sets, 1, &range};
	return d->CreatePipelineLayout(d->handle, &info, NULL, layout);
}

// create_draw_pipeline makes a pipeline of shader modules that exist.
static VkResult create_draw_pipeline(const sj_device *d, uint64_t cache, uint64_t layout, uint64_t pass, const VkHandle *modules,
	const VkSpecializationInfo *specialization, const int32_t *blends, uint32_t target_count, uint64_t *pipeline, uint32_t *feedback) {
	VkPipelineShaderStageCreateInfo stages[2];
	const uint32_t stage_of[2] = {STAGE_VERTEX, STAGE_FRAGMENT};
	for (uint32_t i = 0; i < 2; i++)
		stages[i] = (VkPipelineShaderStageCreateInfo){START(TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, NULL), .stage = stage_of[i],
			.module = modules[i], .pName = "main", .pSpecializationInfo = specialization};
	VkPipelineColorBlendAttachmentState targets[SJ_MAX_TARGETS];
	for (uint32_t i = 0; i < target_count; i++) {
		targets[i] = (VkPipelineColorBlendAttachmentState){.colorWriteMask = WRITE_ALL};
		if (blends[i] != SJ_BLEND_NONE)
			targets[i] = (VkPipelineColorBlendAttachmentState){1, FACTOR_ONE, FACTOR_ONE, blends[i], FACTOR_ONE, FACTOR_ONE,
				blends[i], WRITE_ALL};
	}
	const uint32_t dynamic[] = {DYNAMIC_VIEWPORT, DYNAMIC_SCISSOR};
	const VkPipelineVertexInputStateCreateInfo input = {START(TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO, NULL)};
	const VkPipelineInputAssemblyStateCreateInfo assembly = {START(TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO, NULL),
		.topology = POINT_LIST};
	const VkPipelineViewportStateCreateInfo viewport = {START(TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, NULL),
		.viewportCount = 1, .scissorCount = 1};
	const VkPipelineRasterizationStateCreateInfo raster = {START(TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, NULL),
		.rasterizerDiscardEnable = target_count == 0, .lineWidth = 1};
	const VkPipelineMultisampleStateCreateInfo samples = {START(TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO, NULL),
		.rasterizationSamples = SAMPLES_1};
	const VkPipelineColorBlendStateCreateInfo blend = {START(TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, NULL),
		.attachmentCount = target_count, .pAttachments = targets};
	const VkPipelineDynamicStateCreateInfo changing = {START(TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, NULL), 0, 2, dynamic};
	const uint32_t stage_count = target_count ? 2 : 1;
	VkPipelineCreationFeedback whole = {0}, each[2] = {{0}};
	const VkPipelineCreationFeedbackCreateInfo told = {START(TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO, NULL), &whole, stage_count, each};
	const VkGraphicsPipelineCreateInfo info = {START(TYPE_GRAPHICS_PIPELINE_CREATE_INFO, feedback ? &told : NULL),
		.stageCount = stage_count, .pStages = stages, .pVertexInputState = &input, .pInputAssemblyState = &assembly,
		.pViewportState = &viewport, .pRasterizationState = &raster, .pMultisampleState = &samples, .pColorBlendState = &blend,
		.pDynamicState = &changing, .layout = layout, .renderPass = pass, .basePipelineIndex = -1};
	VkResult result = d->CreateGraphicsPipelines(d->handle, cache, 1, &info, NULL, pipeline);
	if (feedback) *feedback = whole.flags;
	return result;
}

int32_t sj_create_draw_pipeline(const sj_device *d, uint64_t cache, uint64_t layout, uint64_t pass, const void *vertex,
	uint64_t vertex_bytes, const void *fragment, uint64_t fragment_bytes, const uint32_t *constants, uint32_t constant_count,
	const int32_t *blends, uint32_t target_count, uint64_t *pipeline, uint32_t *feedback) {
	if (constant_count > SJ_MAX_CONSTANTS || target_count > SJ_MAX_TARGETS) return VK_ERROR_INITIALIZATION_FAILED;
	VkSpecializationMapEntry entries[SJ_MAX_CONSTANTS];
	for (uint32_t i = 0; i < constant_count; i++) entries[i] = (VkSpecializationMapEntry){i, 4 * i, 4};
	const VkSpecializationInfo specialization = {constant_count, entries, 4 * constant_count, constants};
	const void *codes[2] = {vertex, fragment};
	const uint64_t sizes[2] = {vertex_bytes, fragment_bytes};
	VkHandle modules[2] = {0};
	VkResult result = VK_SUCCESS;
	for (uint32_t i = 0; i < (target_count ? 2 : 1) && result == VK_SUCCESS; i++) {
		const VkShaderModuleCreateInfo info = {START(TYPE_SHADER_MODULE_CREATE_INFO, NULL), 0, sizes[i], codes[i]};
		result = d->CreateShaderModule(d->handle, &info, NULL, &modules[i]);
	}
	if (result == VK_SUCCESS)
		result = create_draw_pipeline(d, cache, layout, pass, modules, &specialization, blends, target_count, pipeline, feedback);
	for (uint32_t i = 0; i < 2; i++)
		if (modules[i]) d->DestroyShaderModule(d->handle, modules[i], NULL);
	return result;
}

void sj_image_barrier(const sj_device *d, void *commands, uint64_t image, uint32_t first_layer, uint32_t layers, uint32_t old_layout,
	uint32_t new_layout, uint32_t stages, uint32_t src_access, uint32_t dst_access) {
	const VkImageMemoryBarrier barrier = {START(TYPE_IMAGE_MEMORY_BARRIER, NULL), src_access, dst_access, old_layout, new_layout,
		FAMILY_IGNORED, FAMILY_IGNORED, image, {ASPECT_COLOR, 0, 1, first_layer, layers}};
	d->CmdPipelineBarrier(commands, stages, stages, 0, 0, NULL, 0, NULL, 1, &barrier);
}

void sj_record_draw(const sj_device *d, void *commands, const sj_draw *draw, const uint32_t *words, const uint64_t *sets) {
	const VkClearValue zeros[SJ_MAX_TARGETS] = {0};
	const VkRect2D whole = {0, 0, draw->width, draw->height};
	const VkViewport viewport = {0, 0, draw->width, draw->height, 0, 1};
	const VkRenderPassBeginInfo begin = {START(TYPE_RENDER_PASS_BEGIN_INFO, NULL), draw->pass, draw->framebuffer, whole,
		draw->targets, zeros};
	d->CmdBindPipeline(commands, BIND_GRAPHICS, draw->pipeline);
	d->CmdSetViewport(commands, 0, 1, &viewport);
	d->CmdSetScissor(commands, 0, 1, &whole);
	d->CmdPushConstants(commands, draw->layout, STAGES_DRAW, 0, 4 * draw->word_count, words);
	if (draw->textures) d->CmdBindDescriptorSets(commands, BIND_GRAPHICS, draw->layout, 0, draw->textures, sets, 0, NULL);
	d->CmdBeginRenderPass(commands, &begin, 0);
	if (draw->points[1] && draw->points[3])
		d->CmdDraw(commands, draw->points[1], draw->points[3], draw->points[0], draw->points[2]);
	d->CmdEndRenderPass(commands);
}

void sj_read_image(const sj_device *d, void *commands, uint64_t image, uint32_t layer, uint32_t width, uint32_t rows, uint64_t dst,
	uint64_t dst_offset) {
	const VkBufferImageCopy region = {.bufferOffset = dst_offset, .aspectMask = ASPECT_COLOR, .baseArrayLayer = layer,
		.layerCount = 1, .imageExtent = {width, rows, 1}};
	d->CmdCopyImageToBuffer(commands, image, SJ_LAYOUT_SOURCE, dst, 1, &region);
}
