// Kernel merge_units in OpenCL C 1.2, translated from shaders/merge_units.comp by make generate; do not edit.
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
    ulong left_bounds;
    ulong right_bounds;
    ulong counts;
    uint left_rows;
    uint right_rows;
    uint tiles;
    uint tile_rows;
    uint piece_rows;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 left_keys;
    uint2 right_keys;
    uint2 left_bounds;
    uint2 right_bounds;
    uint2 counts;
    uint left_rows;
    uint right_rows;
    uint tiles;
    uint tile_rows;
    uint piece_rows;
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

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if KEY_BITS == 32
typedef struct {
    uint2 left;
    uint low_key;
    uint high_key;
} Globals;

INLINE bool less(uint a, uint b) {
    return a < b;
}

INLINE bool before(Globals* globals, uint which, uint row) {
    uint key = column32_from(globals->left, row)[0];
    return which == 0u ? less(key, globals->low_key) : !less(globals->high_key, key);
}
#endif

#if KEY_BITS == 64
typedef struct {
    uint2 left;
    uint2 low_key;
    uint2 high_key;
} Globals;

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE bool before(Globals* globals, uint which, uint row) {
    uint2 key = column64_from(globals->left, row)[0];
    return which == 0u ? less(key, globals->low_key) : !less(globals->high_key, key);
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

#if KEY_BITS == 32
INLINE void kernel_main(const Arguments* args, Globals* globals) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->tiles, begin, WORKGROUP * ITEMS);
    globals->left = args->left_keys;
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint tile = begin + i;
        uint first = tile * args->tile_rows;
        uint end = first + min(args->right_rows - first, args->tile_rows);
        globals->low_key = column32_from(args->right_keys, first)[0];
        globals->high_key = column32_from(args->right_keys, end - 1u)[0];
        uint low = search(globals, 0u, 0u, args->left_rows);
        uint high = search(globals, 1u, low, args->left_rows);
        column64_from(args->left_bounds, tile)[0] = (uint2)(low, high);
        column64_from(args->right_bounds, tile)[0] = (uint2)(first, end);
        column32_from(args->counts, tile)[0] = (high - low) / args->piece_rows +
                ((high - low) % args->piece_rows > 0u ? 1u : 0u);
    }
}
#endif

#if KEY_BITS == 64
INLINE void kernel_main(const Arguments* args, Globals* globals) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->tiles, begin, WORKGROUP * ITEMS);
    globals->left = args->left_keys;
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint tile = begin + i;
        uint first = tile * args->tile_rows;
        uint end = first + min(args->right_rows - first, args->tile_rows);
        globals->low_key = column64_from(args->right_keys, first)[0];
        globals->high_key = column64_from(args->right_keys, end - 1u)[0];
        uint low = search(globals, 0u, 0u, args->left_rows);
        uint high = search(globals, 1u, low, args->left_rows);
        column64_from(args->left_bounds, tile)[0] = (uint2)(low, high);
        column64_from(args->right_bounds, tile)[0] = (uint2)(first, end);
        column32_from(args->counts, tile)[0] = (high - low) / args->piece_rows +
                ((high - low) % args->piece_rows > 0u ? 1u : 0u);
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_units(
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* left_bounds,
    __global uchar* right_bounds,
    __global uchar* counts,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)left_bounds + scalars.left_bounds),
        as_uint2((ulong)right_bounds + scalars.right_bounds),
        as_uint2((ulong)counts + scalars.counts),
        scalars.left_rows,
        scalars.right_rows,
        scalars.tiles,
        scalars.tile_rows,
        scalars.piece_rows,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, globals);
}

