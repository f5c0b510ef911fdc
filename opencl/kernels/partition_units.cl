// Kernel partition_units in OpenCL C 1.2, translated from shaders/partition_units.comp by make generate; do not edit.
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
    ulong left_starts;
    ulong right_starts;
    ulong counts;
    ulong oversized;
    uint partitions;
    uint left_rows;
    uint right_rows;
    uint most_left;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 left_starts;
    uint2 right_starts;
    uint2 counts;
    uint2 oversized;
    uint partitions;
    uint left_rows;
    uint right_rows;
    uint most_left;
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

INLINE uint pieces(uint rows, uint most) {
    return rows / most + (rows % most > 0u ? 1u : 0u);
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->partitions, begin, WORKGROUP * ITEMS);
    __global uint* left = column32_from(args->left_starts, begin);
    __global uint* right = column32_from(args->right_starts, begin);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint left_size = left[i + 1u] - left[i];
        uint right_size = right[i + 1u] - right[i];
        uint units = pieces(left_size, args->left_rows) * pieces(right_size, args->right_rows);
        if (left_size > args->most_left && right_size > 0u) {
            units = 0u;
            atomic_add(&((__global uint*)as_ulong(args->oversized))[0], 1u);
        }
        column32_from(args->counts, begin + i)[0] = units;
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_units(
    __global uchar* left_starts,
    __global uchar* right_starts,
    __global uchar* counts,
    __global uchar* oversized,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)left_starts + scalars.left_starts),
        as_uint2((ulong)right_starts + scalars.right_starts),
        as_uint2((ulong)counts + scalars.counts),
        as_uint2((ulong)oversized + scalars.oversized),
        scalars.partitions,
        scalars.left_rows,
        scalars.right_rows,
        scalars.most_left,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

