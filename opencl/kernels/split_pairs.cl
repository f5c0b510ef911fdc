// Kernel split_pairs in OpenCL C 1.2, translated from shaders/split_pairs.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 pairs; uint2 left; uint2 right; uint rows; uint first_group; uint end_group; } Push;

INLINE uint rows_left(uint rows, uint first, uint size) {
    uint variable;
    if (first < rows) {
        variable = min(size, rows - first);
    } else {
        variable = 0u;
    }
    return variable;
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

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(push->pairs, begin);
    __global uint* to_left = column32_from(push->left, begin);
    __global uint* to_right = column32_from(push->right, begin);
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint2 pair = from[i];
        to_left[i] = pair.x;
        to_right[i] = pair.y;
    }
}

typedef struct {
    ulong pairs;
    ulong left;
    ulong right;
    uint rows;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void split_pairs(__global uchar* pairs, __global uchar* left, __global uchar* right, const Words words) {
    const Push addresses = {
        as_uint2((ulong)pairs + words.pairs),
        as_uint2((ulong)left + words.left),
        as_uint2((ulong)right + words.right),
        words.rows,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

