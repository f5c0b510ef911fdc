// Kernel table_build in OpenCL C 1.2, translated from shaders/table_build.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 slots; uint2 lost; uint2 lost_rows; uint2 repeats; uint rows; uint mask; uint seed; uint first_group; uint end_group; } Push;

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

INLINE uint offer(const Push* push, uint slot, uint entry) {
    uint variable;
    if (DISTINCT == 1u) {
        uint value = ((__global volatile uint*)as_ulong(push->slots))[slot];
        variable = value;
    } else {
        variable = 0u;
    }
    uint held = variable;
    uint variable_2;
    if (held == 0u) {
        variable_2 = atomic_cmpxchg(&((__global uint*)as_ulong(push->slots))[slot], 0u, entry);
    } else {
        variable_2 = held;
    }
    return variable_2;
}

#if KEY_BITS == 32
INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint hash_of(const Push* push, uint key) {
    uint param = key;
    uint value = mix_of(&param, push->seed);
    return value;
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint key = column32_from(push->keys, begin + i)[0];
        uint hash = hash_of(push, key);
        uint entry = (hash & (~push->mask)) | (begin + i + 1u);
        uint tries = 0u;
        for (; tries < PATIENCE; tries = tries + 1) {
            uint held = offer(push, (hash + tries) & push->mask, entry);
            if (held == 0u) {
                break;
            }
            if ((DISTINCT == 0u) || ((held ^ hash) & (~push->mask)) != 0u) {
                continue;
            }
            uint row = (held & push->mask) - 1u;
            if (column32_from(push->keys, row)[0] != key) {
                continue;
            }
            atomic_add(&column32_from(push->repeats, row)[0], 1u);
            break;
        }
        if (tries < PATIENCE) {
            continue;
        }
        uint row_2 = begin + i;
        atomic_add(&((__global uint*)as_ulong(push->lost))[0], 1u);
        atomic_or(&column32_from(push->lost_rows, row_2 / 32u)[0], 1u << (row_2 % 32u));
    }
}

#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint mix_of_u1_u1(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint2 mix_of_vu2_u1(uint2* key, uint seed) {
    uint param = (*key).y;
    uint value = mix_of_u1_u1(&param, seed);
    (*key).x = (*key).x ^ value;
    uint param_3 = (*key).x;
    uint value_2 = mix_of_u1_u1(&param_3, ~seed);
    (*key).y = (*key).y ^ value_2;
    uint param_5 = (*key).y;
    uint value_3 = mix_of_u1_u1(&param_5, seed + 1u);
    (*key).x = (*key).x ^ value_3;
    return *key;
}

INLINE uint hash_of(const Push* push, uint2 key) {
    uint2 param = key;
    uint2 value = mix_of_vu2_u1(&param, push->seed);
    return value.x;
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint2 key = column64_from(push->keys, begin + i)[0];
        uint hash = hash_of(push, key);
        uint entry = (hash & (~push->mask)) | (begin + i + 1u);
        uint tries = 0u;
        for (; tries < PATIENCE; tries = tries + 1) {
            uint held = offer(push, (hash + tries) & push->mask, entry);
            if (held == 0u) {
                break;
            }
            if ((DISTINCT == 0u) || ((held ^ hash) & (~push->mask)) != 0u) {
                continue;
            }
            uint row = (held & push->mask) - 1u;
            if (any(column64_from(push->keys, row)[0] != key)) {
                continue;
            }
            atomic_add(&column32_from(push->repeats, row)[0], 1u);
            break;
        }
        if (tries < PATIENCE) {
            continue;
        }
        uint row_2 = begin + i;
        atomic_add(&((__global uint*)as_ulong(push->lost))[0], 1u);
        atomic_or(&column32_from(push->lost_rows, row_2 / 32u)[0], 1u << (row_2 % 32u));
    }
}

#endif

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_build(__global uchar* keys, __global uchar* slots, __global uchar* lost, __global uchar* lost_rows, __global uchar* repeats, const Words words) {
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)slots + words.slots),
        as_uint2((ulong)lost + words.lost),
        as_uint2((ulong)lost_rows + words.lost_rows),
        as_uint2((ulong)repeats + words.repeats),
        words.rows,
        words.mask,
        words.seed,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

