// Kernel partition_pieces in OpenCL C 1.2, translated from shaders/partition_pieces.comp by make generate; do not edit.
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
} Scalars;

typedef struct {
    uint2 offsets;
    uint2 left_starts;
    uint2 right_starts;
    uint2 units;
    uint count;
    uint partitions;
    uint left_rows;
    uint right_rows;
    uint stride;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    uint unit;
} Globals;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE bool before(const Arguments* args, Globals* globals, uint which, uint p) {
    return ((__global uint*)as_ulong(args->offsets))[p] <= globals->unit;
}

INLINE uint search(const Arguments* args, Globals* globals, uint which, uint low, uint high) {
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (before(args, globals, which, middle)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE void kernel_main(const Arguments* args, Globals* globals) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint here = rows_left(args->count, begin, WORKGROUP * ITEMS);
    for (uint i = LOCAL_ID_X; i < here; i += WORKGROUP) {
        globals->unit = begin + i;
        uint p = search(args, globals, 0u, 0u, args->partitions) - 1u;
        __global uint* left = column32_from(args->left_starts, args->stride * p);
        __global uint* right = column32_from(args->right_starts, args->stride * p);
        uint right_size = right[1] - right[0];
        uint right_pieces = right_size / args->right_rows + (right_size % args->right_rows > 0u ? 1u : 0u);
        uint piece = globals->unit - ((__global uint*)as_ulong(args->offsets))[p];
        uint left_first = left[0] + piece / right_pieces * args->left_rows;
        uint right_first = right[0] + piece % right_pieces * args->right_rows;
        ((__global uint4*)as_ulong(element_address(args->units, globals->unit, 4u)))[0] =
                (uint4)(left_first, left_first + min(left[1] - left_first, args->left_rows), right_first,
                right_first + min(right[1] - right_first, args->right_rows));
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_pieces(
    __global uchar* offsets,
    __global uchar* left_starts,
    __global uchar* right_starts,
    __global uchar* units,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)offsets + scalars.offsets),
        as_uint2((ulong)left_starts + scalars.left_starts),
        as_uint2((ulong)right_starts + scalars.right_starts),
        as_uint2((ulong)units + scalars.units),
        scalars.count,
        scalars.partitions,
        scalars.left_rows,
        scalars.right_rows,
        scalars.stride,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, globals);
}

