// What the Go binding lacks, on the handles of its objects: a whole batch in one call, the status of events, binaries,
// any property of a device, mapped memory.
#pragma once
#include <CL/cl.h>
#include <CL/cl_ext.h>
#ifndef CL_FUNCTIONS
#error "This is another CL/cl.h: PKG_CONFIG_PATH must name opencl/pkgconfig first, as in `make build`."
#endif

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

// sjcl_load opens a library and finds its functions; the text says what failed. No other function works before.
const char *sjcl_load(const char *library);

// sjcl_device_info writes at most size bytes; *need is the size of the value.
cl_int sjcl_device_info(void *device, cl_uint what, size_t size, void *value, size_t *need);

cl_int sjcl_map(void *queue, void *buffer, size_t size, void **memory);
cl_int sjcl_unmap(void *queue, void *buffer, void *memory);

// sjcl_load_program makes a program that is ready for use of what sjcl_binary gave; *program is NULL if it fails.
cl_int sjcl_load_program(void *context, void *device, const unsigned char *binary, size_t size, const char *options,
	void **program);
// sjcl_binary writes the binary of a program for its one device, or only its size if binary is NULL.
cl_int sjcl_binary(void *program, unsigned char *binary, size_t *size);
// sjcl_kernel_local tells the local memory of a compiled kernel, in bytes.
cl_int sjcl_kernel_local(void *kernel, void *device, uint64_t *bytes);

// sjcl_submit enqueues a batch between two markers and starts it. Events of the markers, of those of the marks too, are
// written to stamps. If it fails, *failed is the number of the command.
cl_int sjcl_submit(void *queue, const sjcl_command *commands, uint32_t count, void **buffers, const uint32_t *words,
	void **waits, uint32_t wait_count, void **stamps, uint32_t *failed);

// sjcl_await returns when an event is complete, with its status: 0 or an error. With polling it asks with naps in
// between, because some drivers keep a core busy while they wait.
cl_int sjcl_await(void *event, int polling);
cl_int sjcl_event_time(void *event, uint64_t *nanoseconds);
void sjcl_retain_event(void *event);
void sjcl_release_event(void *event);
