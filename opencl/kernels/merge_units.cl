// Kernel merge_units in OpenCL C 1.2, translated from shaders/merge_units.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 left_keys; uint2 right_keys; uint2 left_bounds; uint2 right_bounds; uint2 counts; uint left_rows; uint right_rows; uint tiles; uint tile_rows; uint piece_rows; uint first_group; uint end_group; } Push;

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

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if KEY_BITS == 32
typedef struct {
    uint2 left;
    uint low_key;
    uint high_key;
} Own;

INLINE bool less(uint a, uint b) {
    return a < b;
}

INLINE bool before(Own* own, uint which, uint row) {
    uint key = column32_from(own->left, row)[0];
    bool variable;
    if (which == 0u) {
        variable = less(key, own->low_key);
    } else {
        variable = !less(own->high_key, key);
    }
    return variable;
}

#endif

#if KEY_BITS == 64
typedef struct {
    uint2 left;
    uint2 low_key;
    uint2 high_key;
} Own;

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE bool before(Own* own, uint which, uint row) {
    uint2 key = column64_from(own->left, row)[0];
    bool variable;
    if (which == 0u) {
        variable = less(key, own->low_key);
    } else {
        variable = !less(own->high_key, key);
    }
    return variable;
}

#endif

INLINE uint search(Own* own, uint which, uint* low, uint* high) {
    while ((*low) < (*high)) {
        uint middle = *low + (*high - *low) / 2u;
        if (before(own, which, middle)) {
            *low = middle + 1u;
        } else {
            *high = middle;
        }
    }
    return *low;
}

#if KEY_BITS == 32
INLINE void run(const Push* push, Own* own) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->tiles, begin, WORKGROUP * ITEMS);
    own->left = push->left_keys;
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint tile = begin + i;
        uint first = tile * push->tile_rows;
        uint end = first + min(push->right_rows - first, push->tile_rows);
        own->low_key = column32_from(push->right_keys, first)[0];
        own->high_key = column32_from(push->right_keys, end - 1u)[0];
        uint param_9 = 0u;
        uint param_10 = push->left_rows;
        uint low = search(own, 0u, &param_9, &param_10);
        uint param_12 = low;
        uint param_13 = push->left_rows;
        uint high = search(own, 1u, &param_12, &param_13);
        column64_from(push->left_bounds, tile)[0] = (uint2)(low, high);
        column64_from(push->right_bounds, tile)[0] = (uint2)(first, end);
        column32_from(push->counts, tile)[0] = (high - low) / push->piece_rows + (((high - low) % push->piece_rows) > 0u ? 1u : 0u);
    }
}

#endif

#if KEY_BITS == 64
INLINE void run(const Push* push, Own* own) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->tiles, begin, WORKGROUP * ITEMS);
    own->left = push->left_keys;
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint tile = begin + i;
        uint first = tile * push->tile_rows;
        uint end = first + min(push->right_rows - first, push->tile_rows);
        own->low_key = column64_from(push->right_keys, first)[0];
        own->high_key = column64_from(push->right_keys, end - 1u)[0];
        uint param_9 = 0u;
        uint param_10 = push->left_rows;
        uint low = search(own, 0u, &param_9, &param_10);
        uint param_12 = low;
        uint param_13 = push->left_rows;
        uint high = search(own, 1u, &param_12, &param_13);
        column64_from(push->left_bounds, tile)[0] = (uint2)(low, high);
        column64_from(push->right_bounds, tile)[0] = (uint2)(first, end);
        column32_from(push->counts, tile)[0] = (high - low) / push->piece_rows + (((high - low) % push->piece_rows) > 0u ? 1u : 0u);
    }
}

#endif

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_units(__global uchar* left_keys, __global uchar* right_keys, __global uchar* left_bounds, __global uchar* right_bounds, __global uchar* counts, const Words words) {
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)left_bounds + words.left_bounds),
        as_uint2((ulong)right_bounds + words.right_bounds),
        as_uint2((ulong)counts + words.counts),
        words.left_rows,
        words.right_rows,
        words.tiles,
        words.tile_rows,
        words.piece_rows,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, own);
}

