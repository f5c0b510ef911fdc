// Kernel unmix in OpenCL C 1.2, translated from shaders/unmix.comp by make generate; do not edit.
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
    ulong keys;
    ulong unmixed;
    uint rows;
    uint seed;
    uint high;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keys;
    uint2 unmixed;
    uint rows;
    uint seed;
    uint high;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if KEY_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint unmix_of(uint key, uint seed) {
    key = (key ^ (key >> 16u)) * 0x7ed1b41du;
    key = (key ^ (key >> 13u) ^ (key >> 26u)) * 0xa5cb9243u;
    return key ^ (key >> 16u) ^ seed;
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* tile = column32_from(args->keys, begin);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint key = unmix_of(tile[i], args->seed);
        if (WIDENED == 1u) {
            column64_from(args->unmixed, begin)[i] = (uint2)(key, args->high);
        } else {
            column32_from(args->unmixed, begin)[i] = key;
        }
    }
}
#endif

#if KEY_BITS == 64
INLINE uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint2 unmix_of(uint2 key, uint seed) {
    key.x ^= mix_of(key.y, seed + 1u);
    key.y ^= mix_of(key.x, ~seed);
    key.x ^= mix_of(key.y, seed);
    return key;
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint2* tile = column64_from(args->keys, begin);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint2 key = unmix_of(tile[i], args->seed);
        column64_from(args->unmixed, begin)[i] = key;
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void unmix(
    __global uchar* keys,
    __global uchar* unmixed,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)unmixed + scalars.unmixed),
        scalars.rows,
        scalars.seed,
        scalars.high,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

