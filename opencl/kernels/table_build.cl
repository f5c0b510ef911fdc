// Kernel table_build in OpenCL C 1.2, translated from shaders/table_build.comp by make generate; do not edit.
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
    ulong slots;
    ulong lost;
    ulong lost_rows;
    ulong repeats;
    uint rows;
    uint mask;
    uint seed;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keys;
    uint2 slots;
    uint2 lost;
    uint2 lost_rows;
    uint2 repeats;
    uint rows;
    uint mask;
    uint seed;
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

INLINE uint offer(const Arguments* args, uint slot, uint entry) {
    uint value;
    if (DISTINCT == 1u) {
        uint value_2 = ((__global volatile uint*)as_ulong(args->slots))[slot];
        value = value_2;
    } else {
        value = 0u;
    }
    uint held = value;
    return held == 0u ? atomic_cmpxchg(&((__global uint*)as_ulong(args->slots))[slot], 0u, entry) : held;
}

#if KEY_BITS == 32
INLINE uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint hash_of(const Arguments* args, uint key) {
    return mix_of(key, args->seed);
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint key = column32_from(args->keys, begin + i)[0];
        uint hash = hash_of(args, key);
        uint entry = (hash & ~args->mask) | (begin + i + 1u);
        uint tries = 0u;
        for (; tries < PATIENCE; ++tries) {
            uint held = offer(args, (hash + tries) & args->mask, entry);
            if (held == 0u) break;
            if (DISTINCT == 0u || ((held ^ hash) & ~args->mask) != 0u) continue;
            uint row = (held & args->mask) - 1u;
            if (column32_from(args->keys, row)[0] != key) continue;
            atomic_add(&column32_from(args->repeats, row)[0], 1u);
            break;
        }
        if (tries < PATIENCE) continue;
        uint row = begin + i;
        atomic_add(&((__global uint*)as_ulong(args->lost))[0], 1u);
        atomic_or(&column32_from(args->lost_rows, row / 32u)[0], 1u << (row % 32u));
    }
}
#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint mix_of_uint_uint(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint2 mix_of_uint2_uint(uint2 key, uint seed) {
    key.x ^= mix_of_uint_uint(key.y, seed);
    key.y ^= mix_of_uint_uint(key.x, ~seed);
    key.x ^= mix_of_uint_uint(key.y, seed + 1u);
    return key;
}

INLINE uint hash_of(const Arguments* args, uint2 key) {
    return mix_of_uint2_uint(key, args->seed).x;
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint2 key = column64_from(args->keys, begin + i)[0];
        uint hash = hash_of(args, key);
        uint entry = (hash & ~args->mask) | (begin + i + 1u);
        uint tries = 0u;
        for (; tries < PATIENCE; ++tries) {
            uint held = offer(args, (hash + tries) & args->mask, entry);
            if (held == 0u) break;
            if (DISTINCT == 0u || ((held ^ hash) & ~args->mask) != 0u) continue;
            uint row = (held & args->mask) - 1u;
            if (any(column64_from(args->keys, row)[0] != key)) continue;
            atomic_add(&column32_from(args->repeats, row)[0], 1u);
            break;
        }
        if (tries < PATIENCE) continue;
        uint row = begin + i;
        atomic_add(&((__global uint*)as_ulong(args->lost))[0], 1u);
        atomic_or(&column32_from(args->lost_rows, row / 32u)[0], 1u << (row % 32u));
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_build(
    __global uchar* keys,
    __global uchar* slots,
    __global uchar* lost,
    __global uchar* lost_rows,
    __global uchar* repeats,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)slots + scalars.slots),
        as_uint2((ulong)lost + scalars.lost),
        as_uint2((ulong)lost_rows + scalars.lost_rows),
        as_uint2((ulong)repeats + scalars.repeats),
        scalars.rows,
        scalars.mask,
        scalars.seed,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

