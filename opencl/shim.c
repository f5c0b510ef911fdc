//go:build opencl && linux

#include "shim.h"
#include <time.h>

cl_int sjcl_device_info(void *device, cl_uint what, size_t size, void *value, size_t *need) {
	return clGetDeviceInfo(device, what, size, value, need);
}

cl_int sjcl_map(void *queue, void *buffer, size_t size, void **memory) {
	cl_int r;
	*memory = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, NULL, &r);
	return r;
}

cl_int sjcl_unmap(void *queue, void *buffer, void *memory) {
	cl_int r = clEnqueueUnmapMemObject(queue, buffer, memory, 0, NULL, NULL);
	return r ? r : clFlush(queue);
}

cl_int sjcl_load_program(void *context, void *device, const unsigned char *binary, size_t size, const char *options,
	void **program) {
	cl_device_id devices[] = {device};
	cl_int r, status = CL_SUCCESS;
	*program = clCreateProgramWithBinary(context, 1, devices, &size, &binary, &status, &r);
	if (!r)
		r = status ? status : clBuildProgram(*program, 1, devices, options, NULL, NULL);
	if (r && *program) {
		clReleaseProgram(*program);
		*program = NULL;
	}
	return r;
}

cl_int sjcl_binary(void *program, unsigned char *binary, size_t *size) {
	if (!binary)
		return clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL);
	return clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
}

cl_int sjcl_kernel_local(void *kernel, void *device, uint64_t *bytes) {
	return clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof *bytes, bytes, NULL);
}

static cl_int enqueue(cl_command_queue queue, const sjcl_command *c, void **buffers, const uint32_t *words,
	cl_event *stamp) {
	cl_int r = CL_SUCCESS;
	switch (c->kind) {
	case SJCL_DISPATCH:
		for (uint32_t i = 0; i < c->buffers && !r; i++) // an absent one is a pointer to NULL
			r = clSetKernelArg(c->kernel, i, sizeof(void *), &buffers[c->first_buffer + i]);
		if (!r)
			r = clSetKernelArg(c->kernel, c->buffers, 4 * (size_t)c->word_count, words + c->first_word);
		if (!r) {
			size_t local = c->workgroup, global = c->groups * local;
			r = clEnqueueNDRangeKernel(queue, c->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
		}
		return r;
	case SJCL_COPY:
		return clEnqueueCopyBuffer(queue, c->src, c->dst, c->src_offset, c->dst_offset, c->size, 0, NULL, NULL);
	case SJCL_FILL:
		return clEnqueueFillBuffer(queue, c->dst, &c->value, sizeof c->value, c->dst_offset, c->size, 0, NULL, NULL);
	case SJCL_WRITE:
		return clEnqueueWriteBuffer(queue, c->dst, CL_FALSE, c->dst_offset, c->size, (char *)c->src + c->src_offset, 0,
			NULL, NULL);
	case SJCL_READ:
		return clEnqueueReadBuffer(queue, c->src, CL_FALSE, c->src_offset, c->size, (char *)c->dst + c->dst_offset, 0,
			NULL, NULL);
	}
	return clEnqueueMarkerWithWaitList(queue, 0, NULL, stamp);
}

cl_int sjcl_submit(void *queue, const sjcl_command *commands, uint32_t count, void **buffers, const uint32_t *words,
	void **waits, uint32_t wait_count, void **stamps, uint32_t *failed) {
	cl_event *events = (cl_event *)stamps;
	uint32_t stamped = 0;
	cl_int r = clEnqueueMarkerWithWaitList(queue, wait_count, wait_count ? (cl_event *)waits : NULL, &events[stamped]);
	stamped += !r;
	for (*failed = 0; *failed < count && !r; ++*failed) {
		r = enqueue(queue, &commands[*failed], buffers, words, &events[stamped]);
		if (r)
			break;
		stamped += commands[*failed].kind == SJCL_MARK;
	}
	if (!r) {
		r = clEnqueueMarkerWithWaitList(queue, 0, NULL, &events[stamped]);
		stamped += !r;
	}
	if (!r)
		r = clFlush(queue);
	while (r && stamped > 0)
		clReleaseEvent(events[--stamped]);
	return r;
}

static void nap(long nanoseconds) {
	struct timespec t = {0, nanoseconds};
	nanosleep(&t, NULL);
}

cl_int sjcl_await(void *event, int polling) {
	cl_event events[] = {event};
	cl_int status = CL_SUBMITTED, waited = polling ? CL_SUCCESS : clWaitForEvents(1, events);
	for (long wait = 5000;; wait = wait < 400000 ? wait * 5 / 4 : wait) {
		cl_int r = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
		if (r || status <= CL_COMPLETE)
			return r ? r : status;
		if (waited)
			return waited;
		nap(wait);
	}
}

cl_int sjcl_event_time(void *event, uint64_t *nanoseconds) {
	return clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *nanoseconds, nanoseconds, NULL);
}

void sjcl_retain_event(void *event) { clRetainEvent(event); }

void sjcl_release_event(void *event) { clReleaseEvent(event); }
