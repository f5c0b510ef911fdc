// Kernel mark_counts in OpenCL C 1.2, translated from shaders/mark_counts.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 counts; uint2 ids; uint2 marks; uint rows; uint first_group; uint end_group; } Push;

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

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->counts, begin);
    uint2 bitmap = push->marks;
    if (!absent(push->ids)) {
        __global uint* to = column32_from(push->ids, begin);
        uint i = LOCAL_ID_X;
        for (; i < count; i = i + WORKGROUP) {
            if (from[i] > 0u) {
                atomic_or(&column32_from(bitmap, to[i] / 32u)[0], 1u << (to[i] % 32u));
            }
        }
        return;
    }
    uint i_2 = 4u * LOCAL_ID_X;
    for (; i_2 < count; i_2 = i_2 + 4u * WORKGROUP) {
        uint bits = 0u;
        uint k = 0u;
        UNROLL
        for (; k < 4u; k = k + 1) {
            if ((i_2 + k) < count) {
                bits = bits | (min(from[i_2 + k], 1u) << k);
            }
        }
        if (bits > 0u) {
            atomic_or(&column32_from(bitmap, (begin + i_2) / 32u)[0], bits << (i_2 % 32u));
        }
    }
}

typedef struct {
    ulong counts;
    ulong ids;
    ulong marks;
    uint rows;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void mark_counts(__global uchar* counts, __global uchar* ids, __global uchar* marks, const Words words) {
    const Push addresses = {
        as_uint2((ulong)counts + words.counts),
        as_uint2((ulong)ids + words.ids),
        as_uint2((ulong)marks + words.marks),
        words.rows,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

