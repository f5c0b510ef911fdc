// Functions of a logical device that run things: command buffers, submission, waiting, time stamps.
#include "shim_load.h"

enum {
	BIND_COMPUTE = 1,
	STAGE_COMPUTE = 0x20,
	PIPELINE_BOTTOM = 0x2000,
	PIPELINE_ALL_COMMANDS = 0x10000,
	ONE_TIME_SUBMIT = 1,
	RESULT_64 = 1,
	ERROR_EXTENSION_NOT_PRESENT = -7,
};

int32_t sj_timeline_value(const sj_device *d, uint64_t semaphore, uint64_t *value) {
	return d->GetSemaphoreCounterValue(d->handle, semaphore, value);
}

int32_t sj_wait(const sj_device *d, uint64_t semaphore, uint64_t value, uint64_t timeout_ns) {
	const VkSemaphoreWaitInfo info = {START(TYPE_SEMAPHORE_WAIT_INFO, NULL), 0, 1, &semaphore, &value};
	return d->WaitSemaphores(d->handle, &info, timeout_ns);
}

int32_t sj_raise(const sj_device *d, uint64_t semaphore, uint64_t value) {
	const VkSemaphoreSignalInfo info = {START(TYPE_SEMAPHORE_SIGNAL_INFO, NULL), semaphore, value};
	return d->SignalSemaphore(d->handle, &info);
}

int32_t sj_begin(const sj_device *d, void *commands) {
	const VkCommandBufferBeginInfo info = {START(TYPE_COMMAND_BUFFER_BEGIN_INFO, NULL), ONE_TIME_SUBMIT, NULL};
	return d->BeginCommandBuffer(commands, &info);
}

int32_t sj_end(const sj_device *d, void *commands) { return d->EndCommandBuffer(commands); }

void sj_barrier(const sj_device *d, void *commands, uint32_t src_stages, uint32_t src_access, uint32_t dst_stages, uint32_t dst_access) {
	const VkMemoryBarrier barrier = {START(TYPE_MEMORY_BARRIER, NULL), src_access, dst_access};
	d->CmdPipelineBarrier(commands, src_stages, dst_stages, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void sj_dispatch(const sj_device *d, void *commands, uint64_t pipeline, uint64_t layout, const uint32_t *words,
	uint32_t word_count, uint32_t groups_x, uint32_t groups_y) {
	d->CmdBindPipeline(commands, BIND_COMPUTE, pipeline);
	d->CmdPushConstants(commands, layout, STAGE_COMPUTE, 0, 4 * word_count, words);
	d->CmdDispatch(commands, groups_x, groups_y, 1);
}

void sj_copy(const sj_device *d, void *commands, uint64_t src, uint64_t src_offset, uint64_t dst, uint64_t dst_offset, uint64_t size_bytes) {
	const VkBufferCopy region = {src_offset, dst_offset, size_bytes};
	d->CmdCopyBuffer(commands, src, dst, 1, &region);
}

void sj_fill(const sj_device *d, void *commands, uint64_t dst, uint64_t offset, uint64_t size_bytes, uint32_t value) {
	d->CmdFillBuffer(commands, dst, offset, size_bytes, value);
}

void sj_timestamp(const sj_device *d, void *commands, uint64_t queries, uint32_t index) {
	d->CmdWriteTimestamp(commands, PIPELINE_BOTTOM, queries, index);
}

void sj_reset_queries(const sj_device *d, uint64_t queries, uint32_t count) { d->ResetQueryPool(d->handle, queries, 0, count); }

int32_t sj_query_results(const sj_device *d, uint64_t queries, uint32_t count, uint64_t *ticks) {
	return d->GetQueryPoolResults(d->handle, queries, 0, count, 8 * count, ticks, 8, RESULT_64);
}

int32_t sj_now(const sj_device *d, uint64_t *ticks, uint64_t *deviation_ns) {
	VkResult (*now)(VkDispatchable, uint32_t, const VkCalibratedTimestampInfo *, uint64_t *, uint64_t *) =
		d->GetCalibratedTimestampsKHR ? d->GetCalibratedTimestampsKHR : d->GetCalibratedTimestampsEXT;
	const VkCalibratedTimestampInfo info = {START(TYPE_CALIBRATED_TIMESTAMP_INFO, NULL), TIME_DOMAIN_DEVICE};
	return now ? now(d->handle, 1, &info, ticks, deviation_ns) : ERROR_EXTENSION_NOT_PRESENT;
}

int32_t sj_submit(const sj_device *d, void *queue, void *commands, const uint64_t *wait_semaphores, const uint64_t *wait_values,
	uint32_t wait_count, const uint64_t *signal_semaphores, const uint64_t *signal_values, uint32_t signal_count) {
	uint32_t stages[SJ_MAX_WAITS];
	if (wait_count > SJ_MAX_WAITS) return VK_ERROR_INITIALIZATION_FAILED;
	for (uint32_t i = 0; i < wait_count; i++) stages[i] = PIPELINE_ALL_COMMANDS;
	const VkTimelineSemaphoreSubmitInfo values = {START(TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, NULL), wait_count, wait_values, signal_count, signal_values};
	const VkSubmitInfo info = {START(TYPE_SUBMIT_INFO, &values), wait_count, wait_semaphores, stages, 1, &commands, signal_count, signal_semaphores};
	return d->QueueSubmit(queue, 1, &info, 0);
}
