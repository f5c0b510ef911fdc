// Kernel partition_units in OpenCL C 1.2, translated from shaders/partition_units.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 left_starts; uint2 right_starts; uint2 counts; uint2 oversized; uint partitions; uint left_rows; uint right_rows; uint most_left; uint first_group; uint end_group; } Push;

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

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint pieces(uint rows, uint most) {
    return rows / most + ((rows % most) > 0u ? 1u : 0u);
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->partitions, begin, WORKGROUP * ITEMS);
    __global uint* left = column32_from(push->left_starts, begin);
    __global uint* right = column32_from(push->right_starts, begin);
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint left_size = left[i + 1u] - left[i];
        uint right_size = right[i + 1u] - right[i];
        uint units = pieces(left_size, push->left_rows) * pieces(right_size, push->right_rows);
        if ((left_size > push->most_left) && (right_size > 0u)) {
            units = 0u;
            atomic_add(&((__global uint*)as_ulong(push->oversized))[0], 1u);
        }
        column32_from(push->counts, begin + i)[0] = units;
    }
}

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_units(__global uchar* left_starts, __global uchar* right_starts, __global uchar* counts, __global uchar* oversized, const Words words) {
    const Push addresses = {
        as_uint2((ulong)left_starts + words.left_starts),
        as_uint2((ulong)right_starts + words.right_starts),
        as_uint2((ulong)counts + words.counts),
        as_uint2((ulong)oversized + words.oversized),
        words.partitions,
        words.left_rows,
        words.right_rows,
        words.most_left,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

