#include "shim.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

// The part of the ABI of libcuda that is used. Handles are pointers; those of devices are ordinals.
typedef int32_t Result;
typedef struct { int32_t type, id; } Location;
typedef struct {
	int32_t type, requested_handle_types;
	Location location;
	void *win32_handle_meta_data;
	struct { uint8_t compression_type, gpu_direct_rdma_capable; uint16_t usage; uint8_t reserved[4]; } flags;
} AllocationProp;
typedef struct { Location location; int32_t flags; } AccessDesc;
typedef struct {
	int32_t type;
	union { int fd; struct { void *handle; const void *name; } win32; const void *nv_sci_sync; } handle;
	uint32_t flags, reserved[16];
} SemaphoreDesc;
typedef struct {
	struct {
		struct { uint64_t value; } fence;
		union { void *fence; uint64_t reserved; } nv_sci_sync;
		struct { uint64_t key; } keyed_mutex;
		uint32_t reserved[12];
	} params;
	uint32_t flags, reserved[16];
} SignalParams;
typedef struct {
	struct {
		struct { uint64_t value; } fence;
		union { void *fence; uint64_t reserved; } nv_sci_sync;
		struct { uint64_t key; uint32_t timeout_ms; } keyed_mutex;
		uint32_t reserved[10];
	} params;
	uint32_t flags, reserved[16];
} WaitParams;

_Static_assert(sizeof(AllocationProp) == 32 && sizeof(AccessDesc) == 12, "as in cuda.h");
_Static_assert(sizeof(SemaphoreDesc) == 96 && offsetof(SemaphoreDesc, handle) == 8 && offsetof(SemaphoreDesc, flags) == 24, "as in cuda.h");
_Static_assert(sizeof(SignalParams) == 144 && offsetof(SignalParams, flags) == 72, "as in cuda.h");
_Static_assert(sizeof(WaitParams) == 144 && offsetof(WaitParams, flags) == 72, "as in cuda.h");

enum {
	PINNED_DEVICE_MEMORY = 1, LOCATION_DEVICE = 1, HANDLE_POSIX_FD = 1, READ_WRITE = 3, GRANULARITY_RECOMMENDED = 1,
	STREAM_NON_BLOCKING = 1, EVENT_NO_TIMING = 2, TIMELINE_SEMAPHORE_FD = 9,
};

// F(name, symbol, parameters); symbols have the version that CUDA 11 has, the first with timeline semaphores.
#define FUNCTIONS(F)                                                                                        \
	F(Init, "cuInit", (uint32_t))                                                                           \
	F(GetErrorName, "cuGetErrorName", (Result, const char **))                                              \
	F(DeviceGetCount, "cuDeviceGetCount", (int *))                                                          \
	F(DeviceGetUuid, "cuDeviceGetUuid", (uint8_t *, int))                                                   \
	F(DeviceCanAccessPeer, "cuDeviceCanAccessPeer", (int *, int, int))                                      \
	F(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (void **, int))                                   \
	F(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (int))                                       \
	F(CtxPushCurrent, "cuCtxPushCurrent_v2", (void *))                                                      \
	F(CtxPopCurrent, "cuCtxPopCurrent_v2", (void **))                                                       \
	F(MemGetAllocationGranularity, "cuMemGetAllocationGranularity", (uint64_t *, const AllocationProp *, int)) \
	F(MemCreate, "cuMemCreate", (uint64_t *, size_t, const AllocationProp *, uint64_t))                     \
	F(MemRelease, "cuMemRelease", (uint64_t))                                                               \
	F(MemAddressReserve, "cuMemAddressReserve", (uint64_t *, size_t, size_t, uint64_t, uint64_t))           \
	F(MemAddressFree, "cuMemAddressFree", (uint64_t, size_t))                                               \
	F(MemMap, "cuMemMap", (uint64_t, size_t, size_t, uint64_t, uint64_t))                                   \
	F(MemUnmap, "cuMemUnmap", (uint64_t, size_t))                                                           \
	F(MemSetAccess, "cuMemSetAccess", (uint64_t, size_t, const AccessDesc *, size_t))                       \
	F(MemExport, "cuMemExportToShareableHandle", (void *, uint64_t, int, uint64_t))                         \
	F(StreamCreate, "cuStreamCreate", (void **, uint32_t))                                                  \
	F(StreamDestroy, "cuStreamDestroy_v2", (void *))                                                        \
	F(StreamWaitEvent, "cuStreamWaitEvent", (void *, void *, uint32_t))                                     \
	F(EventCreate, "cuEventCreate", (void **, uint32_t))                                                    \
	F(EventDestroy, "cuEventDestroy_v2", (void *))                                                          \
	F(EventRecord, "cuEventRecord", (void *, void *))                                                       \
	F(EventQuery, "cuEventQuery", (void *))                                                                 \
	F(MemcpyPeerAsync, "cuMemcpyPeerAsync", (uint64_t, void *, uint64_t, void *, size_t, void *))           \
	F(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (uint64_t, uint64_t, size_t, void *))                        \
	F(ImportSemaphore, "cuImportExternalSemaphore", (void **, const SemaphoreDesc *))                       \
	F(DestroySemaphore, "cuDestroyExternalSemaphore", (void *))                                             \
	F(SignalSemaphores, "cuSignalExternalSemaphoresAsync", (void *const *, const SignalParams *, uint32_t, void *)) \
	F(WaitSemaphores, "cuWaitExternalSemaphoresAsync", (void *const *, const WaitParams *, uint32_t, void *))

static struct {
#define MEMBER(name, symbol, parameters) Result(*name) parameters;
	FUNCTIONS(MEMBER)
#undef MEMBER
} cu;

int32_t sjc_load(void) {
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) return SJC_MISSING;
#define LOAD(name, symbol, parameters) \
	if (!(cu.name = (Result(*) parameters)dlsym(library, symbol))) return SJC_MISSING;
	FUNCTIONS(LOAD)
#undef LOAD
	return cu.Init(0);
}

const char *sjc_error(int32_t result) {
	const char *name = NULL;
	if (cu.GetErrorName) cu.GetErrorName(result, &name);
	return name ? name : "unknown CUDA error";
}

int32_t sjc_count(int *count) { return cu.DeviceGetCount(count); }
int32_t sjc_uuid(int ordinal, uint8_t uuid[16]) { return cu.DeviceGetUuid(uuid, ordinal); }
int32_t sjc_open(int ordinal, void **context) { return cu.DevicePrimaryCtxRetain(context, ordinal); }
int32_t sjc_close(int ordinal) { return cu.DevicePrimaryCtxRelease(ordinal); }
int32_t sjc_can_access(int ordinal, int peer, int *can) { return cu.DeviceCanAccessPeer(can, ordinal, peer); }

// IN runs a call in a context and returns its result.
#define IN(context, call)                               \
	do {                                                \
		void *before;                                   \
		Result pushed = cu.CtxPushCurrent(context);     \
		if (pushed != SJC_SUCCESS) return pushed;       \
		Result result = call;                           \
		cu.CtxPopCurrent(&before);                      \
		return result;                                  \
	} while (0)

enum { MAX_GPUS = 64 };

static AllocationProp exportable(int ordinal) {
	return (AllocationProp){PINNED_DEVICE_MEMORY, HANDLE_POSIX_FD, {LOCATION_DEVICE, ordinal}, NULL, {0}};
}

int32_t sjc_granule(void *context, int ordinal, uint64_t *size_bytes) {
	const AllocationProp prop = exportable(ordinal);
	IN(context, cu.MemGetAllocationGranularity(size_bytes, &prop, GRANULARITY_RECOMMENDED));
}

int32_t sjc_create(void *context, int ordinal, uint64_t size_bytes, uint64_t *handle) {
	const AllocationProp prop = exportable(ordinal);
	IN(context, cu.MemCreate(handle, size_bytes, &prop, 0));
}

int32_t sjc_release(void *context, uint64_t handle) { IN(context, cu.MemRelease(handle)); }

int32_t sjc_reserve(void *context, uint64_t size_bytes, uint64_t *address) { IN(context, cu.MemAddressReserve(address, size_bytes, 0, 0, 0)); }

int32_t sjc_unreserve(void *context, uint64_t address, uint64_t size_bytes) { IN(context, cu.MemAddressFree(address, size_bytes)); }

static Result map(uint64_t handle, uint64_t address, uint64_t size, const int *ordinals, uint32_t count) {
	AccessDesc access[MAX_GPUS];
	if (count > MAX_GPUS) return SJC_MISSING;
	for (uint32_t i = 0; i < count; i++) access[i] = (AccessDesc){{LOCATION_DEVICE, ordinals[i]}, READ_WRITE};
	Result result = cu.MemMap(address, size, 0, handle, 0);
	if (result != SJC_SUCCESS) return result;
	result = cu.MemSetAccess(address, size, access, count);
	if (result != SJC_SUCCESS) cu.MemUnmap(address, size);
	return result;
}

int32_t sjc_map(void *context, uint64_t handle, uint64_t address, uint64_t size_bytes, const int *ordinals, uint32_t count) {
	IN(context, map(handle, address, size_bytes, ordinals, count));
}

int32_t sjc_unmap(void *context, uint64_t address, uint64_t size_bytes) { IN(context, cu.MemUnmap(address, size_bytes)); }

int32_t sjc_export(void *context, uint64_t handle, int *fd) { IN(context, cu.MemExport(fd, handle, HANDLE_POSIX_FD, 0)); }

int32_t sjc_stream(void *context, void **stream) { IN(context, cu.StreamCreate(stream, STREAM_NON_BLOCKING)); }
int32_t sjc_event(void *context, void **event) { IN(context, cu.EventCreate(event, EVENT_NO_TIMING)); }
int32_t sjc_destroy_stream(void *context, void *stream) { IN(context, cu.StreamDestroy(stream)); }
int32_t sjc_destroy_event(void *context, void *event) { IN(context, cu.EventDestroy(event)); }

int32_t sjc_copy(void *context, void *stream, uint64_t dst, void *dst_context, uint64_t src, void *src_context, uint64_t size_bytes) {
	IN(context, dst_context == src_context ? cu.MemcpyDtoDAsync(dst, src, size_bytes, stream)
										   : cu.MemcpyPeerAsync(dst, dst_context, src, src_context, size_bytes, stream));
}

int32_t sjc_record(void *context, void *event, void *stream) { IN(context, cu.EventRecord(event, stream)); }
int32_t sjc_query(void *context, void *event) { IN(context, cu.EventQuery(event)); }
int32_t sjc_stream_after(void *context, void *stream, void *event) { IN(context, cu.StreamWaitEvent(stream, event, 0)); }

int32_t sjc_import_timeline(void *context, int fd, void **semaphore) {
	const SemaphoreDesc desc = {.type = TIMELINE_SEMAPHORE_FD, .handle.fd = fd};
	IN(context, cu.ImportSemaphore(semaphore, &desc));
}
int32_t sjc_destroy_semaphore(void *context, void *semaphore) { IN(context, cu.DestroySemaphore(semaphore)); }

int32_t sjc_await(void *context, void *stream, void *semaphore, uint64_t value) {
	const WaitParams params = {.params.fence.value = value};
	IN(context, cu.WaitSemaphores(&semaphore, &params, 1, stream));
}

int32_t sjc_raise(void *context, void *stream, void *semaphore, uint64_t value) {
	const SignalParams params = {.params.fence.value = value};
	IN(context, cu.SignalSemaphores(&semaphore, &params, 1, stream));
}
