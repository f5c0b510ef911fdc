//go:build linux || darwin || freebsd

#include "shim.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t flags; // cl_bitfield

enum {
	IN_ORDER_PROFILING = 2,
	READ_WRITE = 1,
	USE_HOST_MEMORY = 8,
	ALLOCATE_HOST_MEMORY = 16,
	MAP_READ_WRITE = 3,
	BUILD_LOG = 0x1183,
	BINARY_SIZES = 0x1165,
	BINARIES = 0x1166,
	KERNEL_WORKGROUP = 0x11B0,
	KERNEL_LOCAL = 0x11B2,
	EVENT_STATUS = 0x11D3,
	PROFILING_END = 0x1283,
	CONTEXT_PLATFORM = 0x1084,
	OUT_OF_HOST_MEMORY = -6,
};

#define FUNCTIONS \
	F(GetPlatformIDs, sjcl_result, (uint32_t, void **, uint32_t *)) \
	F(GetPlatformInfo, sjcl_result, (void *, uint32_t, size_t, void *, size_t *)) \
	F(GetDeviceIDs, sjcl_result, (void *, flags, uint32_t, void **, uint32_t *)) \
	F(GetDeviceInfo, sjcl_result, (void *, uint32_t, size_t, void *, size_t *)) \
	F(CreateContext, void *, (const intptr_t *, uint32_t, void *const *, void *, void *, sjcl_result *)) \
	F(ReleaseContext, sjcl_result, (void *)) \
	F(CreateCommandQueue, void *, (void *, void *, flags, sjcl_result *)) \
	F(ReleaseCommandQueue, sjcl_result, (void *)) \
	F(CreateBuffer, void *, (void *, flags, size_t, void *, sjcl_result *)) \
	F(ReleaseMemObject, sjcl_result, (void *)) \
	F(EnqueueMapBuffer, void *, (void *, void *, uint32_t, flags, size_t, size_t, uint32_t, void *const *, void **, sjcl_result *)) \
	F(EnqueueUnmapMemObject, sjcl_result, (void *, void *, void *, uint32_t, void *const *, void **)) \
	F(CreateProgramWithSource, void *, (void *, uint32_t, const char **, const size_t *, sjcl_result *)) \
	F(CreateProgramWithBinary, void *, (void *, uint32_t, void *const *, const size_t *, const unsigned char **, sjcl_result *, sjcl_result *)) \
	F(BuildProgram, sjcl_result, (void *, uint32_t, void *const *, const char *, void *, void *)) \
	F(GetProgramBuildInfo, sjcl_result, (void *, void *, uint32_t, size_t, void *, size_t *)) \
	F(GetProgramInfo, sjcl_result, (void *, uint32_t, size_t, void *, size_t *)) \
	F(ReleaseProgram, sjcl_result, (void *)) \
	F(CreateKernel, void *, (void *, const char *, sjcl_result *)) \
	F(GetKernelWorkGroupInfo, sjcl_result, (void *, void *, uint32_t, size_t, void *, size_t *)) \
	F(SetKernelArg, sjcl_result, (void *, uint32_t, size_t, const void *)) \
	F(ReleaseKernel, sjcl_result, (void *)) \
	F(EnqueueNDRangeKernel, sjcl_result, (void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, void *const *, void **)) \
	F(EnqueueCopyBuffer, sjcl_result, (void *, void *, void *, size_t, size_t, size_t, uint32_t, void *const *, void **)) \
	F(EnqueueFillBuffer, sjcl_result, (void *, void *, const void *, size_t, size_t, size_t, uint32_t, void *const *, void **)) \
	F(EnqueueReadBuffer, sjcl_result, (void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void *const *, void **)) \
	F(EnqueueWriteBuffer, sjcl_result, (void *, void *, uint32_t, size_t, size_t, const void *, uint32_t, void *const *, void **)) \
	F(EnqueueMarkerWithWaitList, sjcl_result, (void *, uint32_t, void *const *, void **)) \
	F(Flush, sjcl_result, (void *)) \
	F(WaitForEvents, sjcl_result, (uint32_t, void *const *)) \
	F(GetEventInfo, sjcl_result, (void *, uint32_t, size_t, void *, size_t *)) \
	F(GetEventProfilingInfo, sjcl_result, (void *, uint32_t, size_t, void *, size_t *)) \
	F(RetainEvent, sjcl_result, (void *)) \
	F(ReleaseEvent, sjcl_result, (void *)) \
	F(CreateUserEvent, void *, (void *, sjcl_result *)) \
	F(SetUserEventStatus, sjcl_result, (void *, sjcl_result))

#define F(name, result, parameters) static result (*cl##name) parameters;
FUNCTIONS
#undef F

const char *sjcl_load(const char *name) {
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dlerror();
#define F(name, result, parameters) \
	if (!(*(void **)&cl##name = dlsym(library, "cl" #name))) \
		return "it is older than OpenCL 1.2: it has no function cl" #name;
	FUNCTIONS
#undef F
	return NULL;
}

sjcl_result sjcl_platforms(void **platforms, uint32_t limit, uint32_t *count) {
	return clGetPlatformIDs(limit, platforms, count);
}

sjcl_result sjcl_devices(void *platform, void **devices, uint32_t limit, uint32_t *count) {
	return clGetDeviceIDs(platform, 0xFFFFFFFF, limit, devices, count);
}

sjcl_result sjcl_platform_info(void *platform, uint32_t what, size_t size, void *value, size_t *need) {
	return clGetPlatformInfo(platform, what, size, value, need);
}

sjcl_result sjcl_device_info(void *device, uint32_t what, size_t size, void *value, size_t *need) {
	return clGetDeviceInfo(device, what, size, value, need);
}

sjcl_result sjcl_open(void *platform, void *device, void **context) {
	intptr_t properties[] = {CONTEXT_PLATFORM, (intptr_t)platform, 0};
	sjcl_result r;
	*context = clCreateContext(properties, 1, &device, NULL, NULL, &r);
	return r;
}

void sjcl_close(void *context) { clReleaseContext(context); }

sjcl_result sjcl_create_queue(void *context, void *device, void **queue) {
	sjcl_result r;
	*queue = clCreateCommandQueue(context, device, IN_ORDER_PROFILING, &r);
	return r;
}

void sjcl_release_queue(void *queue) { clReleaseCommandQueue(queue); }

sjcl_result sjcl_create_buffer(void *context, size_t size, void *host, int pinned, void **buffer) {
	flags f = READ_WRITE | (host ? USE_HOST_MEMORY : 0) | (pinned ? ALLOCATE_HOST_MEMORY : 0);
	sjcl_result r;
	*buffer = clCreateBuffer(context, f, size, host, &r);
	return r;
}

void sjcl_release_buffer(void *buffer) { clReleaseMemObject(buffer); }

sjcl_result sjcl_map(void *queue, void *buffer, size_t size, void **memory) {
	sjcl_result r;
	*memory = clEnqueueMapBuffer(queue, buffer, 1, MAP_READ_WRITE, 0, size, 0, NULL, NULL, &r);
	return r;
}

sjcl_result sjcl_unmap(void *queue, void *buffer, void *memory) {
	sjcl_result r = clEnqueueUnmapMemObject(queue, buffer, memory, 0, NULL, NULL);
	return r ? r : clFlush(queue);
}

sjcl_result sjcl_touch(void *queue, void *buffer) {
	uint32_t zero = 0;
	return clEnqueueWriteBuffer(queue, buffer, 1, 0, sizeof zero, &zero, 0, NULL, NULL);
}

sjcl_result sjcl_build(void *context, void *device, const char *source, size_t size, const unsigned char *binary,
	const char *options, void **program) {
	sjcl_result r, status = 0;
	*program = source ? clCreateProgramWithSource(context, 1, &source, &size, &r)
		: clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &r);
	if (r || status)
		return r ? r : status;
	return clBuildProgram(*program, 1, &device, options, NULL, NULL);
}

size_t sjcl_build_log(void *program, void *device, char *log, size_t size) {
	size_t need = 0;
	if (!clGetProgramBuildInfo(program, device, BUILD_LOG, 0, NULL, &need) && need <= size)
		clGetProgramBuildInfo(program, device, BUILD_LOG, size, log, NULL);
	return need;
}

sjcl_result sjcl_binary(void *program, unsigned char *binary, size_t *size) {
	if (!binary)
		return clGetProgramInfo(program, BINARY_SIZES, sizeof *size, size, NULL);
	return clGetProgramInfo(program, BINARIES, sizeof binary, &binary, NULL);
}

void sjcl_release_program(void *program) { clReleaseProgram(program); }

sjcl_result sjcl_create_kernel(void *program, void *device, const char *name, void **kernel, size_t *workgroup,
	uint64_t *local) {
	sjcl_result r;
	*kernel = clCreateKernel(program, name, &r);
	if (!r)
		r = clGetKernelWorkGroupInfo(*kernel, device, KERNEL_WORKGROUP, sizeof *workgroup, workgroup, NULL);
	if (!r)
		r = clGetKernelWorkGroupInfo(*kernel, device, KERNEL_LOCAL, sizeof *local, local, NULL);
	return r;
}

void sjcl_release_kernel(void *kernel) { clReleaseKernel(kernel); }

static sjcl_result enqueue(void *queue, const sjcl_command *c, void **buffers, const uint32_t *words, void **stamp) {
	sjcl_result r = 0;
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
		return clEnqueueWriteBuffer(queue, c->dst, 0, c->dst_offset, c->size, (char *)c->src + c->src_offset, 0, NULL,
			NULL);
	case SJCL_READ:
		return clEnqueueReadBuffer(queue, c->src, 0, c->src_offset, c->size, (char *)c->dst + c->dst_offset, 0, NULL,
			NULL);
	}
	return clEnqueueMarkerWithWaitList(queue, 0, NULL, stamp);
}

sjcl_result sjcl_submit(void *queue, const sjcl_command *commands, uint32_t count, void **buffers,
	const uint32_t *words, void **waits, uint32_t wait_count, void **stamps, uint32_t *failed) {
	uint32_t stamped = 0;
	sjcl_result r = clEnqueueMarkerWithWaitList(queue, wait_count, wait_count ? waits : NULL, &stamps[stamped]);
	stamped += !r;
	for (*failed = 0; *failed < count && !r; ++*failed) {
		r = enqueue(queue, &commands[*failed], buffers, words, &stamps[stamped]);
		if (r)
			break;
		stamped += commands[*failed].kind == SJCL_MARK;
	}
	if (!r) {
		r = clEnqueueMarkerWithWaitList(queue, 0, NULL, &stamps[stamped]);
		stamped += !r;
	}
	if (!r)
		r = clFlush(queue);
	while (r && stamped > 0)
		clReleaseEvent(stamps[--stamped]);
	return r;
}

static void nap(long nanoseconds) {
	struct timespec t = {0, nanoseconds};
	nanosleep(&t, NULL);
}

sjcl_result sjcl_await(void *event, int polling) {
	sjcl_result status = 1, waited = polling ? 0 : clWaitForEvents(1, &event);
	for (long wait = 5000;; wait = wait < 400000 ? wait * 5 / 4 : wait) {
		sjcl_result r = clGetEventInfo(event, EVENT_STATUS, sizeof status, &status, NULL);
		if (r || status <= 0)
			return r ? r : status;
		if (waited)
			return waited;
		nap(wait);
	}
}

sjcl_result sjcl_event_time(void *event, uint64_t *nanoseconds) {
	return clGetEventProfilingInfo(event, PROFILING_END, sizeof *nanoseconds, nanoseconds, NULL);
}

void sjcl_retain_event(void *event) { clRetainEvent(event); }

void sjcl_release_event(void *event) { clReleaseEvent(event); }

sjcl_result sjcl_create_user_event(void *context, void **event) {
	sjcl_result r;
	*event = clCreateUserEvent(context, &r);
	return r;
}

void sjcl_set_user_event(void *event, sjcl_result status) { clSetUserEventStatus(event, status); }
