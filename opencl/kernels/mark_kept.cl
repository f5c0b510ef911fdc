// Kernel mark_kept in OpenCL C 1.2, translated from shaders/mark_kept.comp by make generate; do not edit.
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
    ulong keep;
    ulong ids;
    ulong marks;
    uint rows;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keep;
    uint2 ids;
    uint2 marks;
    uint rows;
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
    uint first = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, first, WORKGROUP * ITEMS);
    uint2 kept = args->keep;
    uint2 bitmap = args->marks;
    __global uint* id = column32_from(args->ids, first);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint row = first + i;
        if (((column32_from(kept, row / 32u)[0] >> (row % 32u)) & 1u) > 0u) {
            atomic_or(&column32_from(bitmap, id[i] / 32u)[0], 1u << (id[i] % 32u));
        }
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void mark_kept(
    __global uchar* keep,
    __global uchar* ids,
    __global uchar* marks,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keep + scalars.keep),
        as_uint2((ulong)ids + scalars.ids),
        as_uint2((ulong)marks + scalars.marks),
        scalars.rows,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

