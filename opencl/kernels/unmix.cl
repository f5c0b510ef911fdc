// Kernel unmix in OpenCL C 1.2, translated from shaders/unmix.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 unmixed; uint rows; uint seed; uint high; uint first_group; uint end_group; } Push;

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

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if KEY_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint unmix_of(uint* key, uint seed) {
    *key = ((*key) ^ ((*key) >> 16)) * 2127672349u;
    *key = ((*key) ^ ((*key) >> 13) ^ ((*key) >> 26)) * 2781581891u;
    return (*key) ^ ((*key) >> 16) ^ seed;
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* tile = column32_from(push->keys, begin);
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint param_6 = tile[i];
        uint key = unmix_of(&param_6, push->seed);
        if (WIDENED == 1u) {
            column64_from(push->unmixed, begin)[i] = (uint2)(key, push->high);
        } else {
            column32_from(push->unmixed, begin)[i] = key;
        }
    }
}

#endif

#if KEY_BITS == 64
INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint2 unmix_of(uint2* key, uint seed) {
    uint param = (*key).y;
    uint value = mix_of(&param, seed + 1u);
    (*key).x = (*key).x ^ value;
    uint param_3 = (*key).x;
    uint value_2 = mix_of(&param_3, ~seed);
    (*key).y = (*key).y ^ value_2;
    uint param_5 = (*key).y;
    uint value_3 = mix_of(&param_5, seed);
    (*key).x = (*key).x ^ value_3;
    return *key;
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* tile = column64_from(push->keys, begin);
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint2 param_6 = tile[i];
        uint2 key = unmix_of(&param_6, push->seed);
        column64_from(push->unmixed, begin)[i] = key;
    }
}

#endif

typedef struct {
    ulong keys;
    ulong unmixed;
    uint rows;
    uint seed;
    uint high;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void unmix(__global uchar* keys, __global uchar* unmixed, const Words words) {
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)unmixed + words.unmixed),
        words.rows,
        words.seed,
        words.high,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

