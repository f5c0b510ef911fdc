// Kernel merge_partition in OpenCL C 1.2, translated from shaders/merge_partition.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

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
    ulong left_keys;
    ulong right_keys;
    ulong splits;
    uint left_rows;
    uint right_rows;
    uint run;
    uint tiles;
    uint tile_rows;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 left_keys;
    uint2 right_keys;
    uint2 splits;
    uint left_rows;
    uint right_rows;
    uint run;
    uint tiles;
    uint tile_rows;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    uint2 right;
    uint right_last;
    uint2 left;
    uint left_first;
} Globals;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

typedef struct {
    uint left;
    uint left_rows;
    uint right;
    uint right_rows;
} Runs;

INLINE Runs runs_at(uint row, uint left_rows, uint right_rows, uint run) {
    if (run == 0u) return (Runs){0u, left_rows, 0u, right_rows};
    uint left = ((row / run) & 0xfffffffeu) * run;
    uint rest = left_rows - left;
    uint n = min(run, rest);
    return (Runs){left, n, left + n, min(run, rest - n)};
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#if KEY_BITS == 32
INLINE bool less(uint a, uint b) {
    return a < b;
}

INLINE bool before(Globals* globals, uint which, uint row) {
    return !less(column32_from(globals->right, globals->right_last - row)[0],
            column32_from(globals->left, globals->left_first + row)[0]);
}
#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE bool before(Globals* globals, uint which, uint row) {
    return !less(column64_from(globals->right, globals->right_last - row)[0],
            column64_from(globals->left, globals->left_first + row)[0]);
}
#endif

INLINE uint search(Globals* globals, uint which, uint low, uint high) {
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (before(globals, which, middle)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

INLINE void kernel_main(const Arguments* args, Globals* globals) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->tiles, begin, WORKGROUP * ITEMS);
    globals->left = args->left_keys;
    globals->right = args->right_keys;
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint row = (begin + i) * args->tile_rows;
        Runs runs = runs_at(row, args->left_rows, args->right_rows, args->run);
        uint diagonal = row - runs.left;
        globals->left_first = runs.left;
        globals->right_last = runs.right + diagonal - 1u;
        uint low = diagonal > runs.right_rows ? diagonal - runs.right_rows : 0u;
        column32_from(args->splits, begin + i)[0] = search(globals, 0u, low, min(diagonal, runs.left_rows));
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_partition(
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* splits,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)splits + scalars.splits),
        scalars.left_rows,
        scalars.right_rows,
        scalars.run,
        scalars.tiles,
        scalars.tile_rows,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, globals);
}

