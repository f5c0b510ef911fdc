// Kernel copy in OpenCL C 1.2, translated from shaders/copy.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
    ulong source;
    ulong destination;
    uint rows;
    uint source_first;
    uint destination_first;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 source;
    uint2 destination;
    uint rows;
    uint source_first;
    uint destination_first;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint2 from = element_address(args->source, args->source_first + begin, 2u);
    uint2 to = element_address(args->destination, args->destination_first + begin, 2u);
    uint vectors = ((from.x | to.x) & 15u) == 0u ? count / 4u : 0u;
    uint4 value[8];
    for (uint i = LOCAL_ID_X; i < vectors; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < vectors) {
                value[k] = ((__global uint4*)as_ulong(from))[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < vectors) {
                ((__global uint4*)as_ulong(to))[i + k * WORKGROUP] = value[k];
            }
        }
    }
    for (uint i = 4u * vectors + LOCAL_ID_X; i < count; i += WORKGROUP) {
        ((__global uint*)as_ulong(to))[i] = ((__global uint*)as_ulong(from))[i];
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void copy(
    __global uchar* source,
    __global uchar* destination,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)source + scalars.source),
        as_uint2((ulong)destination + scalars.destination),
        scalars.rows,
        scalars.source_first,
        scalars.destination_first,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

