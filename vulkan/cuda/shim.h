// The CUDA driver API as far as it is needed, loaded at run time. Each function makes the context of its GPU current for
// the time of the call, so that it may be called on any thread. Results are CUresult values; SJC_MISSING is ours.
#ifndef SPIRJOIN_CUDA_SHIM_H
#define SPIRJOIN_CUDA_SHIM_H

#include <stdint.h>

enum { SJC_SUCCESS = 0, SJC_OUT_OF_MEMORY = 2, SJC_NOT_READY = 600, SJC_MISSING = -1 };

// Loads libcuda once; SJC_MISSING where the library or one of its functions is missing. Not safe for concurrent use.
int32_t sjc_load(void);
const char *sjc_error(int32_t result); // never NULL

int32_t sjc_count(int *count);
int32_t sjc_uuid(int ordinal, uint8_t uuid[16]);
// Retains the primary context of a GPU; released once for each time.
int32_t sjc_open(int ordinal, void **context);
int32_t sjc_close(int ordinal);
int32_t sjc_can_access(int ordinal, int peer, int *can);

// Device memory that can be exported as a file descriptor, in multiples of the granule, and addresses that it is mapped
// at for the GPUs in ordinals.
int32_t sjc_granule(void *context, int ordinal, uint64_t *size_bytes);
int32_t sjc_create(void *context, int ordinal, uint64_t size_bytes, uint64_t *handle);
int32_t sjc_release(void *context, uint64_t handle);
int32_t sjc_reserve(void *context, uint64_t size_bytes, uint64_t *address);
int32_t sjc_unreserve(void *context, uint64_t address, uint64_t size_bytes);
int32_t sjc_map(void *context, uint64_t handle, uint64_t address, uint64_t size_bytes, const int *ordinals, uint32_t count);
int32_t sjc_unmap(void *context, uint64_t address, uint64_t size_bytes);
int32_t sjc_export(void *context, uint64_t handle, int *fd);

int32_t sjc_stream(void *context, void **stream);
int32_t sjc_event(void *context, void **event);
int32_t sjc_destroy_stream(void *context, void *stream);
int32_t sjc_destroy_event(void *context, void *event);
int32_t sjc_copy(void *context, void *stream, uint64_t dst, void *dst_context, uint64_t src, void *src_context, uint64_t size_bytes);
int32_t sjc_record(void *context, void *event, void *stream);
int32_t sjc_query(void *context, void *event); // SJC_NOT_READY while work before it is unfinished
int32_t sjc_stream_after(void *context, void *stream, void *event);

// Timeline semaphores of Vulkan. The file descriptor is CUDA's if the import succeeds.
int32_t sjc_import_timeline(void *context, int fd, void **semaphore);
int32_t sjc_destroy_semaphore(void *context, void *semaphore);
int32_t sjc_await(void *context, void *stream, void *semaphore, uint64_t value);
int32_t sjc_raise(void *context, void *stream, void *semaphore, uint64_t value);

#endif
