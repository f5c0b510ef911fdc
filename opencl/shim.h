// The part of OpenCL 1.2 that this package calls, declared here so that no development package is needed, and functions
// that run a whole batch in one call from Go. libOpenCL is opened at run time.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef int32_t sjcl_result; // 0: success; less: an error of OpenCL

// A command of a batch. Arguments and words of a dispatch lie in the arrays of its batch.
enum { SJCL_DISPATCH, SJCL_COPY, SJCL_FILL, SJCL_WRITE, SJCL_READ, SJCL_MARK };
typedef struct {
	uint32_t kind;
	uint32_t workgroup;   // dispatch: invocations
	uint32_t buffers;     // dispatch: number of buffer arguments
	uint32_t word_count;  // dispatch: 32-bit words of the argument behind them
	uint64_t first_buffer, first_word;
	uint64_t groups;      // dispatch
	void *kernel;         // dispatch
	void *dst, *src;      // memory objects; host memory for the source of a write and the destination of a read
	uint64_t dst_offset, src_offset, size;
	uint32_t value;       // fill
} sjcl_command;

// sjcl_load opens a library and finds its functions; the text says what failed.
const char *sjcl_load(const char *name);

sjcl_result sjcl_platforms(void **platforms, uint32_t limit, uint32_t *count);
sjcl_result sjcl_devices(void *platform, void **devices, uint32_t limit, uint32_t *count);
// A query writes at most size bytes; *need is the size of the value.
sjcl_result sjcl_platform_info(void *platform, uint32_t what, size_t size, void *value, size_t *need);
sjcl_result sjcl_device_info(void *device, uint32_t what, size_t size, void *value, size_t *need);

sjcl_result sjcl_open(void *platform, void *device, void **context);
void sjcl_close(void *context);
sjcl_result sjcl_create_queue(void *context, void *device, void **queue);
void sjcl_release_queue(void *queue);

// sjcl_create_buffer makes a buffer on the caller's memory if host is not NULL, in pinned memory if pinned is set.
sjcl_result sjcl_create_buffer(void *context, size_t size, void *host, int pinned, void **buffer);
void sjcl_release_buffer(void *buffer);
sjcl_result sjcl_map(void *queue, void *buffer, size_t size, void **memory);
sjcl_result sjcl_unmap(void *queue, void *buffer, void *memory);
// sjcl_touch writes to a buffer and waits, which makes a driver that allocates late do it now.
sjcl_result sjcl_touch(void *queue, void *buffer);

// sjcl_build compiles source, or loads binary if source is NULL. A program whose build failed is returned for its log.
sjcl_result sjcl_build(void *context, void *device, const char *source, size_t size, const unsigned char *binary,
	const char *options, void **program);
size_t sjcl_build_log(void *program, void *device, char *log, size_t size);
sjcl_result sjcl_binary(void *program, unsigned char *binary, size_t *size);
void sjcl_release_program(void *program);
// sjcl_create_kernel also tells the largest workgroup and the local memory, in bytes, of the compiled kernel.
sjcl_result sjcl_create_kernel(void *program, void *device, const char *name, void **kernel, size_t *workgroup,
	uint64_t *local);
void sjcl_release_kernel(void *kernel);

// sjcl_submit enqueues a batch between two markers and starts it. Events of the markers, of those of the marks too, are
// written to stamps. If it fails, *failed is the number of the command.
sjcl_result sjcl_submit(void *queue, const sjcl_command *commands, uint32_t count, void **buffers,
	const uint32_t *words, void **waits, uint32_t wait_count, void **stamps, uint32_t *failed);

// sjcl_await returns when an event is complete, with its status: 0 or an error. With polling it asks with naps in
// between, because some drivers keep a core busy while they wait.
sjcl_result sjcl_await(void *event, int polling);
sjcl_result sjcl_event_time(void *event, uint64_t *nanoseconds);
void sjcl_retain_event(void *event);
void sjcl_release_event(void *event);
sjcl_result sjcl_create_user_event(void *context, void **event);
void sjcl_set_user_event(void *event, sjcl_result status);
