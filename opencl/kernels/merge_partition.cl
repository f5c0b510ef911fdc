// Kernel merge_partition in OpenCL C 1.2, translated from shaders/merge_partition.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 left_keys; uint2 right_keys; uint2 splits; uint left_rows; uint right_rows; uint run; uint tiles; uint tile_rows; uint first_group; uint end_group; } Push;

typedef struct {
    uint2 right;
    uint right_last;
    uint2 left;
    uint left_first;
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

typedef struct { uint left; uint left_rows; uint right; uint right_rows; } Runs;

INLINE Runs runs_at(uint row, uint left_rows, uint right_rows, uint run_2) {
    if (run_2 == 0u) {
        return (Runs){0u, left_rows, 0u, right_rows};
    }
    uint left = ((row / run_2) & 4294967294u) * run_2;
    uint rest = left_rows - left;
    uint n = min(run_2, rest);
    return (Runs){left, n, left + n, min(run_2, rest - n)};
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

INLINE bool before(Own* own, uint which, uint row) {
    return !less(column32_from(own->right, own->right_last - row)[0], column32_from(own->left, own->left_first + row)[0]);
}

#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE bool before(Own* own, uint which, uint row) {
    return !less(column64_from(own->right, own->right_last - row)[0], column64_from(own->left, own->left_first + row)[0]);
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

INLINE void run(const Push* push, Own* own) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->tiles, begin, WORKGROUP * ITEMS);
    own->left = push->left_keys;
    own->right = push->right_keys;
    uint i = LOCAL_ID_X;
    uint variable;
    for (; i < count; i = i + WORKGROUP) {
        uint row = (begin + i) * push->tile_rows;
        Runs runs = runs_at(row, push->left_rows, push->right_rows, push->run);
        uint diagonal = row - runs.left;
        own->left_first = runs.left;
        own->right_last = runs.right + diagonal - 1u;
        if (diagonal > runs.right_rows) {
            variable = diagonal - runs.right_rows;
        } else {
            variable = 0u;
        }
        uint low = variable;
        uint param_11 = low;
        uint param_12 = min(diagonal, runs.left_rows);
        uint value = search(own, 0u, &param_11, &param_12);
        column32_from(push->splits, begin + i)[0] = value;
    }
}

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_partition(__global uchar* left_keys, __global uchar* right_keys, __global uchar* splits, const Words words) {
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)splits + words.splits),
        words.left_rows,
        words.right_rows,
        words.run,
        words.tiles,
        words.tile_rows,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, own);
}

