// Kernel split_pairs in OpenCL C 1.2, translated from shaders/split_pairs.comp by make generate; do not edit.
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
    ulong pairs;
    ulong left;
    ulong right;
    uint rows;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 pairs;
    uint2 left;
    uint2 right;
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

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(args->pairs, begin);
    __global uint* to_left = column32_from(args->left, begin);
    __global uint* to_right = column32_from(args->right, begin);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint2 pair = from[i];
        to_left[i] = pair.x;
        to_right[i] = pair.y;
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void split_pairs(
    __global uchar* pairs,
    __global uchar* left,
    __global uchar* right,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)pairs + scalars.pairs),
        as_uint2((ulong)left + scalars.left),
        as_uint2((ulong)right + scalars.right),
        scalars.rows,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

