// The entry points that the binding lacks, and those whose slice arguments it may free while the driver still reads them.
// Everything takes plain numbers and C strings; results are VkResult values unless said. Thread safety is that of the
// Vulkan functions below.
#ifndef SPIRJOIN_SHIM_H
#define SPIRJOIN_SHIM_H

#include <stdint.h>

// The instance; one per process.

void sj_load(void *get_instance_proc_addr);
// Both return the number of names, each of at most 255 bytes, written to names[256 * i]; at most max.
uint32_t sj_instance_extensions(char *names, uint32_t max);
uint32_t sj_instance_layers(char *names, uint32_t max);
uint32_t sj_instance_version(void); // 0 where the loader predates Vulkan 1.1

enum { SJ_VALIDATION_OFF, SJ_VALIDATION_SYNC, SJ_VALIDATION_GPU };
// extensions holds extension_count names, one after the other, each ended by a zero byte.
int32_t sj_create_instance(const char *app_name, const char *extensions, uint32_t extension_count, uint32_t flags,
	uint32_t validation, void **instance);
void sj_destroy_instance(void);

// Physical devices.

typedef struct { uint32_t flags, count, timestamp_bits; } sj_family;
uint32_t sj_queue_families(void *physical, sj_family *families, uint32_t max);
uint32_t sj_device_extensions(void *physical, char *names, uint32_t max);

// 1 if sj_now works where the extension is enabled: VK_KHR_calibrated_timestamps, or else the EXT that it was before.
uint32_t sj_tells_time(void *physical, uint32_t khr);

enum { // which structures sj_query may ask for
	SJ_HAS_DRIVER = 1 << 0,
	SJ_HAS_VULKAN_1_2 = 1 << 1,
	SJ_HAS_SUBGROUP_SIZE = 1 << 2,
	SJ_HAS_MAINTENANCE_4 = 1 << 3,
	SJ_HAS_PCI = 1 << 4,
	SJ_HAS_HOST_MEMORY = 1 << 5,
	SJ_HAS_BUDGET = 1 << 6,
	SJ_HAS_DMA_BUF = 1 << 7,
};
enum { // features
	SJ_BUFFER_DEVICE_ADDRESS = 1 << 0,
	SJ_TIMELINE_SEMAPHORE = 1 << 1,
	SJ_HOST_QUERY_RESET = 1 << 2,
	SJ_MEMORY_MODEL = 1 << 3,
	SJ_MEMORY_MODEL_DEVICE_SCOPE = 1 << 4,
	SJ_SUBGROUP_EXTENDED_TYPES = 1 << 5,
	SJ_BUFFER_INT64_ATOMICS = 1 << 6,
	SJ_SHARED_INT64_ATOMICS = 1 << 7,
	SJ_INT64 = 1 << 8,
	SJ_SUBGROUP_SIZE_CONTROL = 1 << 9,
	SJ_COMPUTE_FULL_SUBGROUPS = 1 << 10,
	SJ_SPARSE_BINDING = 1 << 11,
	SJ_VERTEX_STORES = 1 << 12, // vertexPipelineStoresAndAtomics
	SJ_INDEPENDENT_BLEND = 1 << 13,
};
typedef struct {
	char driver_name[256], driver_info[256];
	uint8_t device_uuid[16], driver_uuid[16];
	uint32_t driver_id;
	uint32_t subgroup_size, subgroup_stages, subgroup_operations, min_subgroup_size, max_subgroup_size;
	uint32_t pci[4]; // domain, bus, device, function
	uint32_t features;
	uint32_t shared_features, dma_buf_features; // VkExternalMemoryFeatureFlags of a buffer as an opaque fd, as a dma-buf
	uint32_t shared_timeline_features; // VkExternalSemaphoreFeatureFlags of a timeline as an opaque fd
	uint64_t max_allocation_bytes, max_buffer_bytes, import_alignment;
	uint32_t type_count, type_flags[32], type_heap[32];
	uint32_t heap_count, heap_flags[16];
	uint64_t heap_bytes[16], heap_budget_bytes[16];
} sj_physical;
void sj_query(void *physical, uint32_t has, sj_physical *out); // Vulkan 1.1 devices; what is not there stays 0

// Logical devices.

typedef struct sj_device sj_device; // a device with its functions; released by sj_close_device
typedef struct { uint32_t family, count; } sj_queues;
enum { SJ_MAX_FAMILIES = 16, SJ_MAX_QUEUES = 8, SJ_MAX_EXTENSIONS = 16, SJ_MAX_CONSTANTS = 32, SJ_MAX_WAITS = 8 };
// extensions is as for the instance.
int32_t sj_open_device(void *physical, const sj_queues *queues, uint32_t queues_count, const char *extensions, uint32_t extension_count,
	uint32_t has, uint32_t features, sj_device **out);
void *sj_device_handle(const sj_device *d);
void sj_close_device(sj_device *d); // destroys the VkDevice

// Memory. handle_type is 0, SJ_OPAQUE_FD, SJ_HOST_ALLOCATION or SJ_DMA_BUF; flags are 0 or SJ_SPARSE_BUFFER.

enum { SJ_OPAQUE_FD = 0x1, SJ_HOST_ALLOCATION = 0x80, SJ_DMA_BUF = 0x200 };
enum { SJ_SPARSE_BUFFER = 0x1 };
int32_t sj_create_buffer(const sj_device *d, uint64_t size_bytes, uint32_t flags, uint32_t handle_type,
	const uint32_t *families, uint32_t family_count, uint64_t *buffer);
// dedicated: the buffer that the memory is made for, or 0.
int32_t sj_allocate(const sj_device *d, uint64_t size_bytes, uint32_t type, uint64_t dedicated, uint64_t *memory);
int32_t sj_allocate_exportable(const sj_device *d, uint64_t size_bytes, uint32_t type, uint64_t dedicated, uint32_t handle_type,
	uint64_t *memory);
int32_t sj_import_fd(const sj_device *d, uint64_t size_bytes, uint32_t type, uint64_t dedicated, uint32_t handle_type, int fd, uint64_t *memory);
int32_t sj_import_host(const sj_device *d, uint64_t size_bytes, uint32_t type, void *pointer, uint64_t *memory);
int32_t sj_host_memory_types(const sj_device *d, void *pointer, uint32_t *type_bits);
int32_t sj_fd_memory_types(const sj_device *d, uint32_t handle_type, int fd, uint32_t *type_bits); // not of an opaque fd
int32_t sj_bind(const sj_device *d, uint64_t buffer, uint64_t memory);
typedef struct { uint64_t offset_bytes, size_bytes, memory; } sj_part; // memory, from its start, for a range of a buffer
// Binds memory to a sparse buffer and then sets a timeline; memory must not be freed before the buffer is destroyed.
int32_t sj_bind_sparse(const sj_device *d, void *queue, uint64_t buffer, const sj_part *parts, uint32_t part_count,
	uint64_t signal_semaphore, uint64_t signal_value);
int32_t sj_export_fd(const sj_device *d, uint64_t memory, uint32_t handle_type, int *fd);
uint64_t sj_buffer_address(const sj_device *d, uint64_t buffer);

// Pipelines. Constant i has the specialization id i. feedback receives SJ_FEEDBACK_ bits; NULL where the driver gives
// none.

enum { SJ_FEEDBACK_VALID = 1, SJ_FEEDBACK_CACHE_HIT = 2 };

int32_t sj_create_layout(const sj_device *d, uint32_t push_bytes, uint64_t *layout);
int32_t sj_create_pipeline(const sj_device *d, uint64_t cache, uint64_t layout, const void *code, uint64_t code_bytes,
	const uint32_t *constants, uint32_t constant_count, uint64_t *pipeline, uint32_t *feedback);

// Images and draws (shim_raster.c). Formats, layouts, stages and accesses are those of Vulkan.

enum { SJ_MAX_TARGETS = 8, SJ_MAX_TEXTURES = 4, SJ_IMAGE_USAGE = 0x1 | 0x4 | 0x10 }; // transfer source, sampled, attachment
enum { SJ_LAYOUT_UNDEFINED = 0, SJ_LAYOUT_TARGET = 2, SJ_LAYOUT_TEXTURE = 5, SJ_LAYOUT_SOURCE = 6 };
enum { SJ_BLEND_NONE = -1, SJ_BLEND_ADD = 0, SJ_BLEND_MIN = 3, SJ_BLEND_MAX = 4 };

int32_t sj_create_image(const sj_device *d, uint32_t format, uint32_t width, uint32_t height, uint32_t layers, uint64_t *image);
// A view of one layer, as a target, or of an array of layers, as a texture.
int32_t sj_create_view(const sj_device *d, uint64_t image, uint32_t format, uint32_t array, uint32_t first_layer, uint32_t layers,
	uint64_t *view);
int32_t sj_create_texture_layout(const sj_device *d, uint64_t *set_layout);
int32_t sj_create_texture(const sj_device *d, uint64_t set_layout, uint64_t view, uint64_t *pool, uint64_t *set);
// Bit i of clears: target i is cleared to 0 when the pass begins. Passes of equal formats are compatible.
int32_t sj_create_render_pass(const sj_device *d, const uint32_t *formats, uint32_t count, uint32_t clears, uint64_t *pass);
int32_t sj_create_framebuffer(const sj_device *d, uint64_t pass, const uint64_t *views, uint32_t count, uint32_t width,
	uint32_t height, uint64_t *framebuffer);
int32_t sj_create_draw_layout(const sj_device *d, uint32_t push_bytes, uint64_t set_layout, uint32_t textures, uint64_t *layout);
// A pipeline of points; blends has an SJ_BLEND_ for each target. Without targets there is no fragment shader.
int32_t sj_create_draw_pipeline(const sj_device *d, uint64_t cache, uint64_t layout, uint64_t pass, const void *vertex,
	uint64_t vertex_bytes, const void *fragment, uint64_t fragment_bytes, const uint32_t *constants, uint32_t constant_count,
	const int32_t *blends, uint32_t target_count, uint64_t *pipeline, uint32_t *feedback);

// Timelines.

int32_t sj_create_timeline(const sj_device *d, uint64_t *semaphore);
int32_t sj_create_shared_timeline(const sj_device *d, uint64_t *semaphore); // can be exported as an opaque fd
int32_t sj_export_timeline(const sj_device *d, uint64_t semaphore, int *fd);
int32_t sj_raise(const sj_device *d, uint64_t semaphore, uint64_t value); // from the host
int32_t sj_timeline_value(const sj_device *d, uint64_t semaphore, uint64_t *value);
int32_t sj_wait(const sj_device *d, uint64_t semaphore, uint64_t value, uint64_t timeout_ns);

// Commands.

int32_t sj_begin(const sj_device *d, void *commands);
int32_t sj_end(const sj_device *d, void *commands);
void sj_barrier(const sj_device *d, void *commands, uint32_t src_stages, uint32_t src_access, uint32_t dst_stages, uint32_t dst_access);
void sj_dispatch(const sj_device *d, void *commands, uint64_t pipeline, uint64_t layout, const uint32_t *words,
	uint32_t word_count, uint32_t groups_x, uint32_t groups_y);
void sj_copy(const sj_device *d, void *commands, uint64_t src, uint64_t src_offset, uint64_t dst, uint64_t dst_offset, uint64_t size_bytes);
void sj_fill(const sj_device *d, void *commands, uint64_t dst, uint64_t offset, uint64_t size_bytes, uint32_t value);
void sj_image_barrier(const sj_device *d, void *commands, uint64_t image, uint32_t first_layer, uint32_t layers, uint32_t old_layout,
	uint32_t new_layout, uint32_t stages, uint32_t src_access, uint32_t dst_access);
// Begins a pass over whole targets, draws and ends it. points are the first vertex, the vertices, the first instance, the
// instances.
typedef struct { uint64_t pass, framebuffer, pipeline, layout; uint32_t width, height, targets, word_count, textures, points[4]; } sj_draw;
void sj_record_draw(const sj_device *d, void *commands, const sj_draw *draw, const uint32_t *words, const uint64_t *sets);
void sj_read_image(const sj_device *d, void *commands, uint64_t image, uint32_t layer, uint32_t width, uint32_t rows, uint64_t dst,
	uint64_t dst_offset);
void sj_timestamp(const sj_device *d, void *commands, uint64_t queries, uint32_t index);
void sj_reset_queries(const sj_device *d, uint64_t queries, uint32_t count); // from the host
int32_t sj_query_results(const sj_device *d, uint64_t queries, uint32_t count, uint64_t *ticks);
// sj_now reads the clock of time stamps; deviation_ns bounds the error, without the time that the call takes.
int32_t sj_now(const sj_device *d, uint64_t *ticks, uint64_t *deviation_ns);
int32_t sj_submit(const sj_device *d, void *queue, void *commands, const uint64_t *wait_semaphores, const uint64_t *wait_values,
	uint32_t wait_count, const uint64_t *signal_semaphores, const uint64_t *signal_values, uint32_t signal_count);

#endif
