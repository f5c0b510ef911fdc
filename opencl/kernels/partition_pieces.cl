// Kernel partition_pieces in OpenCL C 1.2, translated from shaders/partition_pieces.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 offsets; uint2 left_starts; uint2 right_starts; uint2 units; uint count; uint partitions; uint left_rows; uint right_rows; uint stride; uint first_group; uint end_group; } Push;

typedef struct {
    uint unit;
} Own;

INLINE uint rows_left(uint rows, uint first, uint size) {
    uint variable;
    if (first < rows) {
        variable = min(size, rows - first);
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE bool before(const Push* push, Own* own, uint which, uint p) {
    return ((__global uint*)as_ulong(push->offsets))[p] <= own->unit;
}

INLINE uint search(const Push* push, Own* own, uint which, uint* low, uint* high) {
    while ((*low) < (*high)) {
        uint middle = *low + (*high - *low) / 2u;
        if (before(push, own, which, middle)) {
            *low = middle + 1u;
        } else {
            *high = middle;
        }
    }
    return *low;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE void run(const Push* push, Own* own) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint here = rows_left(push->count, begin, WORKGROUP * ITEMS);
    uint i = LOCAL_ID_X;
    for (; i < here; i = i + WORKGROUP) {
        own->unit = begin + i;
        uint param_5 = 0u;
        uint param_6 = push->partitions;
        uint value = search(push, own, 0u, &param_5, &param_6);
        uint p = value - 1u;
        __global uint* left = column32_from(push->left_starts, push->stride * p);
        __global uint* right = column32_from(push->right_starts, push->stride * p);
        uint right_size = right[1] - right[0];
        uint right_pieces = right_size / push->right_rows + ((right_size % push->right_rows) > 0u ? 1u : 0u);
        uint piece = own->unit - ((__global uint*)as_ulong(push->offsets))[p];
        uint left_first = left[0] + piece / right_pieces * push->left_rows;
        uint right_first = right[0] + piece % right_pieces * push->right_rows;
        ((__global uint4*)as_ulong(element_address(push->units, own->unit, 4u)))[0] = (uint4)(left_first, left_first + min(left[1] - left_first, push->left_rows), right_first, right_first + min(right[1] - right_first, push->right_rows));
    }
}

typedef struct {
    ulong offsets;
    ulong left_starts;
    ulong right_starts;
    ulong units;
    uint count;
    uint partitions;
    uint left_rows;
    uint right_rows;
    uint stride;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_pieces(__global uchar* offsets, __global uchar* left_starts, __global uchar* right_starts, __global uchar* units, const Words words) {
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)offsets + words.offsets),
        as_uint2((ulong)left_starts + words.left_starts),
        as_uint2((ulong)right_starts + words.right_starts),
        as_uint2((ulong)units + words.units),
        words.count,
        words.partitions,
        words.left_rows,
        words.right_rows,
        words.stride,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, own);
}

