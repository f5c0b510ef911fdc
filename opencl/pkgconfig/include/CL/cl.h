// The part of OpenCL 1.2 that the Go binding and package opencl use, so that they need no development package. Names,
// values and types are those of the standard. forward.c of package opencl defines the functions.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint, cl_bool, cl_platform_info, cl_device_info, cl_device_local_mem_type, cl_device_mem_cache_type,
	cl_channel_order, cl_channel_type, cl_mem_object_type, cl_program_info, cl_program_build_info, cl_kernel_info,
	cl_kernel_arg_info, cl_kernel_work_group_info, cl_event_info, cl_profiling_info;
typedef uint64_t cl_ulong, cl_device_type, cl_device_fp_config, cl_device_exec_capabilities,
	cl_command_queue_properties, cl_mem_flags, cl_map_flags;
typedef intptr_t cl_context_properties;

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

typedef struct {
	cl_channel_order image_channel_order;
	cl_channel_type image_channel_data_type;
} cl_image_format;

typedef struct {
	cl_mem_object_type image_type;
	size_t image_width, image_height, image_depth, image_array_size, image_row_pitch, image_slice_pitch;
	cl_uint num_mip_levels, num_samples;
	cl_mem buffer;
} cl_image_desc;

enum { // results
	CL_SUCCESS, CL_DEVICE_NOT_FOUND = -1, CL_DEVICE_NOT_AVAILABLE = -2, CL_COMPILER_NOT_AVAILABLE = -3,
	CL_MEM_OBJECT_ALLOCATION_FAILURE = -4, CL_OUT_OF_RESOURCES = -5, CL_OUT_OF_HOST_MEMORY = -6,
	CL_PROFILING_INFO_NOT_AVAILABLE = -7, CL_MEM_COPY_OVERLAP = -8, CL_IMAGE_FORMAT_MISMATCH = -9,
	CL_IMAGE_FORMAT_NOT_SUPPORTED = -10, CL_BUILD_PROGRAM_FAILURE = -11, CL_MAP_FAILURE = -12,
	CL_MISALIGNED_SUB_BUFFER_OFFSET = -13, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14,
	CL_COMPILE_PROGRAM_FAILURE = -15, CL_LINKER_NOT_AVAILABLE = -16, CL_LINK_PROGRAM_FAILURE = -17,
	CL_DEVICE_PARTITION_FAILED = -18, CL_KERNEL_ARG_INFO_NOT_AVAILABLE = -19, CL_INVALID_VALUE = -30,
	CL_INVALID_DEVICE_TYPE = -31, CL_INVALID_PLATFORM = -32, CL_INVALID_DEVICE = -33, CL_INVALID_CONTEXT = -34,
	CL_INVALID_QUEUE_PROPERTIES = -35, CL_INVALID_COMMAND_QUEUE = -36, CL_INVALID_HOST_PTR = -37,
	CL_INVALID_MEM_OBJECT = -38, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR = -39, CL_INVALID_IMAGE_SIZE = -40,
	CL_INVALID_SAMPLER = -41, CL_INVALID_BINARY = -42, CL_INVALID_BUILD_OPTIONS = -43, CL_INVALID_PROGRAM = -44,
	CL_INVALID_PROGRAM_EXECUTABLE = -45, CL_INVALID_KERNEL_NAME = -46, CL_INVALID_KERNEL_DEFINITION = -47,
	CL_INVALID_KERNEL = -48, CL_INVALID_ARG_INDEX = -49, CL_INVALID_ARG_VALUE = -50, CL_INVALID_ARG_SIZE = -51,
	CL_INVALID_KERNEL_ARGS = -52, CL_INVALID_WORK_DIMENSION = -53, CL_INVALID_WORK_GROUP_SIZE = -54,
	CL_INVALID_WORK_ITEM_SIZE = -55, CL_INVALID_GLOBAL_OFFSET = -56, CL_INVALID_EVENT_WAIT_LIST = -57,
	CL_INVALID_EVENT = -58, CL_INVALID_OPERATION = -59, CL_INVALID_GL_OBJECT = -60, CL_INVALID_BUFFER_SIZE = -61,
	CL_INVALID_MIP_LEVEL = -62, CL_INVALID_GLOBAL_WORK_SIZE = -63, CL_INVALID_PROPERTY = -64,
	CL_INVALID_IMAGE_DESCRIPTOR = -65, CL_INVALID_COMPILER_OPTIONS = -66, CL_INVALID_LINKER_OPTIONS = -67,
	CL_INVALID_DEVICE_PARTITION_COUNT = -68,
};
enum { // states of a command
	CL_COMPLETE, CL_RUNNING, CL_SUBMITTED, CL_QUEUED,
};
enum { // cl_bool
	CL_FALSE, CL_TRUE,
};
enum { // properties of a platform
	CL_PLATFORM_PROFILE = 0x900, CL_PLATFORM_VERSION, CL_PLATFORM_NAME, CL_PLATFORM_VENDOR, CL_PLATFORM_EXTENSIONS,
};
enum { // properties of a device
	CL_DEVICE_TYPE = 0x1000, CL_DEVICE_VENDOR_ID, CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS,
	CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_MAX_WORK_ITEM_SIZES, CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, CL_DEVICE_MAX_CLOCK_FREQUENCY, CL_DEVICE_ADDRESS_BITS,
	CL_DEVICE_MAX_READ_IMAGE_ARGS, CL_DEVICE_MAX_WRITE_IMAGE_ARGS, CL_DEVICE_MAX_MEM_ALLOC_SIZE,
	CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_WIDTH,
	CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_DEPTH, CL_DEVICE_IMAGE_SUPPORT, CL_DEVICE_MAX_PARAMETER_SIZE,
	CL_DEVICE_MAX_SAMPLERS, CL_DEVICE_MEM_BASE_ADDR_ALIGN, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE = 0x101C,
	CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, CL_DEVICE_GLOBAL_MEM_SIZE,
	CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, CL_DEVICE_MAX_CONSTANT_ARGS, CL_DEVICE_LOCAL_MEM_TYPE,
	CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_ERROR_CORRECTION_SUPPORT, CL_DEVICE_PROFILING_TIMER_RESOLUTION,
	CL_DEVICE_ENDIAN_LITTLE, CL_DEVICE_AVAILABLE, CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_EXECUTION_CAPABILITIES,
	CL_DEVICE_NAME = 0x102B, CL_DEVICE_VENDOR, CL_DRIVER_VERSION, CL_DEVICE_PROFILE, CL_DEVICE_VERSION,
	CL_DEVICE_EXTENSIONS, CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032, CL_DEVICE_HALF_FP_CONFIG,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,
	CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG,
	CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
	CL_DEVICE_OPENCL_C_VERSION, CL_DEVICE_LINKER_AVAILABLE, CL_DEVICE_BUILT_IN_KERNELS,
	CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, CL_DEVICE_PARENT_DEVICE,
};
enum { // cl_device_type
	CL_DEVICE_TYPE_DEFAULT = 0x1, CL_DEVICE_TYPE_CPU = 0x2, CL_DEVICE_TYPE_GPU = 0x4,
	CL_DEVICE_TYPE_ACCELERATOR = 0x8, CL_DEVICE_TYPE_CUSTOM = 0x10, CL_DEVICE_TYPE_ALL = 0xFFFFFFFF,
};
enum { // what floating point offers
	CL_FP_DENORM = 1, CL_FP_INF_NAN = 2, CL_FP_ROUND_TO_NEAREST = 4, CL_FP_ROUND_TO_ZERO = 8, CL_FP_ROUND_TO_INF = 16,
	CL_FP_FMA = 32, CL_FP_SOFT_FLOAT = 64, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 128,
};
enum { // cl_device_exec_capabilities
	CL_EXEC_KERNEL = 1, CL_EXEC_NATIVE_KERNEL,
};
enum { // cl_device_local_mem_type, cl_device_mem_cache_type
	CL_NONE, CL_LOCAL, CL_GLOBAL, CL_READ_ONLY_CACHE = 1, CL_READ_WRITE_CACHE,
};
enum { // cl_command_queue_properties
	CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = 1, CL_QUEUE_PROFILING_ENABLE = 2,
};
enum { // cl_mem_flags
	CL_MEM_READ_WRITE = 1, CL_MEM_WRITE_ONLY = 2, CL_MEM_READ_ONLY = 4, CL_MEM_USE_HOST_PTR = 8,
	CL_MEM_ALLOC_HOST_PTR = 16, CL_MEM_COPY_HOST_PTR = 32, CL_MEM_HOST_WRITE_ONLY = 128, CL_MEM_HOST_READ_ONLY = 256,
	CL_MEM_HOST_NO_ACCESS = 512,
};
enum { // cl_map_flags
	CL_MAP_READ = 1, CL_MAP_WRITE = 2, CL_MAP_WRITE_INVALIDATE_REGION = 4,
};
enum { // cl_channel_order
	CL_R = 0x10B0, CL_A, CL_RG, CL_RA, CL_RGB, CL_RGBA, CL_BGRA, CL_ARGB, CL_INTENSITY, CL_LUMINANCE, CL_Rx, CL_RGx,
	CL_RGBx, CL_DEPTH, CL_DEPTH_STENCIL,
};
enum { // cl_channel_type
	CL_SNORM_INT8 = 0x10D0, CL_SNORM_INT16, CL_UNORM_INT8, CL_UNORM_INT16, CL_UNORM_SHORT_565, CL_UNORM_SHORT_555,
	CL_UNORM_INT_101010, CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16,
	CL_UNSIGNED_INT32, CL_HALF_FLOAT, CL_FLOAT, CL_UNORM_INT24,
};
enum { // cl_mem_object_type
	CL_MEM_OBJECT_BUFFER = 0x10F0, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
	CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
};
enum { // properties of programs, kernels, events and profiling
	CL_PROGRAM_BINARY_SIZES = 0x1165, CL_PROGRAM_BINARIES, CL_PROGRAM_BUILD_LOG = 0x1183, CL_KERNEL_NUM_ARGS = 0x1191,
	CL_KERNEL_ARG_NAME = 0x119A, CL_KERNEL_WORK_GROUP_SIZE = 0x11B0, CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2,
	CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
	CL_PROFILING_COMMAND_QUEUED = 0x1280, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
	CL_PROFILING_COMMAND_END,
};

typedef void (*cl_context_callback)(const char *, const void *, size_t, void *);
typedef void (*cl_program_callback)(cl_program, void *);

// CL_FUNCTIONS applies F(n, result, name, types of n parameters) to each function. CL_WAIT are the parameters at the
// end of a command: the events that it waits for, and its own.
#define CL_WAIT cl_uint, const cl_event *, cl_event *
#define CL_FUNCTIONS(F) \
	F(3, cl_int, GetPlatformIDs, cl_uint, cl_platform_id *, cl_uint *) \
	F(5, cl_int, GetPlatformInfo, cl_platform_id, cl_platform_info, size_t, void *, size_t *) \
	F(5, cl_int, GetDeviceIDs, cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *) \
	F(5, cl_int, GetDeviceInfo, cl_device_id, cl_device_info, size_t, void *, size_t *) \
	F(6, cl_context, CreateContext, const cl_context_properties *, cl_uint, const cl_device_id *, cl_context_callback, \
		void *, cl_int *) \
	F(1, cl_int, ReleaseContext, cl_context) \
	F(6, cl_int, GetSupportedImageFormats, cl_context, cl_mem_flags, cl_mem_object_type, cl_uint, cl_image_format *, \
		cl_uint *) \
	F(4, cl_command_queue, CreateCommandQueue, cl_context, cl_device_id, cl_command_queue_properties, cl_int *) \
	F(1, cl_int, ReleaseCommandQueue, cl_command_queue) \
	F(1, cl_int, Flush, cl_command_queue) \
	F(1, cl_int, Finish, cl_command_queue) \
	F(5, cl_mem, CreateBuffer, cl_context, cl_mem_flags, size_t, void *, cl_int *) \
	F(6, cl_mem, CreateImage, cl_context, cl_mem_flags, const cl_image_format *, const cl_image_desc *, void *, cl_int *) \
	F(1, cl_int, ReleaseMemObject, cl_mem) \
	F(5, cl_program, CreateProgramWithSource, cl_context, cl_uint, const char **, const size_t *, cl_int *) \
	F(7, cl_program, CreateProgramWithBinary, cl_context, cl_uint, const cl_device_id *, const size_t *, \
		const unsigned char **, cl_int *, cl_int *) \
	F(1, cl_int, ReleaseProgram, cl_program) \
	F(6, cl_int, BuildProgram, cl_program, cl_uint, const cl_device_id *, const char *, cl_program_callback, void *) \
	F(5, cl_int, GetProgramInfo, cl_program, cl_program_info, size_t, void *, size_t *) \
	F(6, cl_int, GetProgramBuildInfo, cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *) \
	F(3, cl_kernel, CreateKernel, cl_program, const char *, cl_int *) \
	F(1, cl_int, ReleaseKernel, cl_kernel) \
	F(4, cl_int, SetKernelArg, cl_kernel, cl_uint, size_t, const void *) \
	F(5, cl_int, GetKernelInfo, cl_kernel, cl_kernel_info, size_t, void *, size_t *) \
	F(6, cl_int, GetKernelArgInfo, cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void *, size_t *) \
	F(6, cl_int, GetKernelWorkGroupInfo, cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void *, size_t *) \
	F(2, cl_int, WaitForEvents, cl_uint, const cl_event *) \
	F(5, cl_int, GetEventInfo, cl_event, cl_event_info, size_t, void *, size_t *) \
	F(5, cl_int, GetEventProfilingInfo, cl_event, cl_profiling_info, size_t, void *, size_t *) \
	F(2, cl_event, CreateUserEvent, cl_context, cl_int *) \
	F(2, cl_int, SetUserEventStatus, cl_event, cl_int) \
	F(1, cl_int, RetainEvent, cl_event) \
	F(1, cl_int, ReleaseEvent, cl_event) \
	F(9, cl_int, EnqueueReadBuffer, cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, CL_WAIT) \
	F(9, cl_int, EnqueueWriteBuffer, cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, CL_WAIT) \
	F(9, cl_int, EnqueueFillBuffer, cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, CL_WAIT) \
	F(9, cl_int, EnqueueCopyBuffer, cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, CL_WAIT) \
	F(11, cl_int, EnqueueReadImage, cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, size_t, \
		size_t, void *, CL_WAIT) \
	F(11, cl_int, EnqueueWriteImage, cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, size_t, \
		size_t, const void *, CL_WAIT) \
	F(10, void *, EnqueueMapBuffer, cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, CL_WAIT, cl_int *) \
	F(12, void *, EnqueueMapImage, cl_command_queue, cl_mem, cl_bool, cl_map_flags, const size_t *, const size_t *, \
		size_t *, size_t *, CL_WAIT, cl_int *) \
	F(6, cl_int, EnqueueUnmapMemObject, cl_command_queue, cl_mem, void *, CL_WAIT) \
	F(9, cl_int, EnqueueNDRangeKernel, cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, \
		const size_t *, CL_WAIT) \
	F(5, cl_int, EnqueueTask, cl_command_queue, cl_kernel, CL_WAIT) \
	F(4, cl_int, EnqueueMarkerWithWaitList, cl_command_queue, CL_WAIT) \
	F(4, cl_int, EnqueueBarrierWithWaitList, cl_command_queue, CL_WAIT)

#define F(n, result, name, ...) result cl##name(__VA_ARGS__);
CL_FUNCTIONS(F)
#undef F
