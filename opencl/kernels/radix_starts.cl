// Kernel radix_starts in OpenCL C 1.2, translated from shaders/radix_starts.comp by make generate; do not edit.
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
    ulong offsets;
    ulong starts;
    uint digits;
    uint tiles;
    uint end;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 offsets;
    uint2 starts;
    uint digits;
    uint tiles;
    uint end;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->digits + 1u, begin, WORKGROUP * ITEMS);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint start = args->end;
        if (begin + i < args->digits) {
            start = column32_from(args->offsets, (begin + i) * args->tiles)[0];
        }
        column32_from(args->starts, begin + i)[0] = start;
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void radix_starts(
    __global uchar* offsets,
    __global uchar* starts,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)offsets + scalars.offsets),
        as_uint2((ulong)starts + scalars.starts),
        scalars.digits,
        scalars.tiles,
        scalars.end,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

