// Kernel float_counts in OpenCL C 1.2, translated from shaders/float_counts.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 floats; uint2 counts; uint rows; uint first_group; uint end_group; } Push;

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

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->floats, begin);
    __global uint* to = column32_from(push->counts, begin);
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        to[i] = convert_uint(as_float(from[i]));
    }
}

typedef struct {
    ulong floats;
    ulong counts;
    uint rows;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void float_counts(__global uchar* floats, __global uchar* counts, const Words words) {
    const Push addresses = {
        as_uint2((ulong)floats + words.floats),
        as_uint2((ulong)counts + words.counts),
        words.rows,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

