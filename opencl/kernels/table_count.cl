// Kernel table_count in OpenCL C 1.2, translated from shaders/table_count.comp by make generate; do not edit.
// Variants:
//   key_bits=32 shared=0
//   key_bits=32 shared=1
//   key_bits=64 shared=0
//   key_bits=64 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "table_count: this variant needs subgroups"
#endif
#endif

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
    ulong slots;
    ulong left_keys;
    ulong right_keys;
    ulong repeats;
    ulong counts;
    uint rows;
    uint mask;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 slots;
    uint2 left_keys;
    uint2 right_keys;
    uint2 repeats;
    uint2 counts;
    uint rows;
    uint mask;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    uint2 own_matches;
} Globals;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint left_row(const Arguments* args, uint at) {
    return (((__global uint*)as_ulong(args->slots))[at - 1u] & args->mask) - 1u;
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE void looked_up(Globals* globals, uint k, uint matches) {
    globals->own_matches = add(globals->own_matches, (uint2)(matches, 0u));
}

INLINE void batch_looked_up(uint row) {
}

#define BATCH_ROWS (WORKGROUP * ITEMS)

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if SHARED == 0
typedef struct {
    uint2 sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
} Shared;

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 0x3fffffu, (a.x >> 22u) | ((a.y & 0xfffu) << 10u), a.y >> 12u);
}

INLINE uint2 from_limbs(uint3 limb) {
    uint2 sum = add((uint2)(limb.x, 0u), (uint2)(limb.y << 22u, limb.y >> 10u));
    return (uint2)(sum.x, sum.y + (limb.z << 12u));
}

INLINE uint2 subgroup_sum(uint2 a) {
    return from_limbs(subgroup_add_uint3(limbs(a)));
}

INLINE uint2 workgroup_sum(__local Shared* shared, uint2 own, uint2* all_) {
    if (subgroup_elect()) {
        shared->sh_subgroup_sum[subgroup_id()] = own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 before = (uint2)(0u);
    *all_ = (uint2)(0u);
    for (uint s = 0u; s < subgroup_count(); ++s) {
        if (s == subgroup_id()) {
            before = *all_;
        }
        *all_ = add(*all_, shared->sh_subgroup_sum[s]);
    }
    return before;
}
#endif

#if KEY_BITS == 32
typedef struct {
    uint v[ITEMS];
} uint_array;

INLINE uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint hash_of(uint key) {
    return mix_of(key, SEED);
}

INLINE uint match_of(const Arguments* args, uint key, uint hash, uint tries) {
    for (; tries < PATIENCE; ++tries) {
        uint slot = (hash + tries) & args->mask;
        uint entry = ((__global uint*)as_ulong(args->slots))[slot];
        if (entry == 0u) return 0u;
        if (((entry ^ hash) & ~args->mask) != 0u) continue;
        if (column32_from(args->left_keys, (entry & args->mask) - 1u)[0] == key) return slot + 1u;
    }
    return 0u;
}

INLINE uint first_match(const Arguments* args, uint key) {
    return match_of(args, key, hash_of(key), 0u);
}

INLINE uint next_match(const Arguments* args, uint key, uint at) {
    uint hash = hash_of(key);
    return match_of(args, key, hash, (at - hash) & args->mask);
}

INLINE uint matches_of(const Arguments* args, uint key, uint cursor) {
    uint match = first_match(args, key);
    uint matches = 0u;
    if (DISTINCT == 1u) return match == 0u ? 0u : 1u + column32_from(args->repeats, left_row(args, match))[0];
    for (;;) {
        if (match <= 0u) break;
        ++matches;
        match = UNIQUE == 1u ? 0u : next_match(args, key, match);
    }
    return matches;
}
#endif

#if KEY_BITS == 32 && SHARED == 0
INLINE void load_batch(__global uint* right, uint first, uint count, uint_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}

INLINE void look_up(const Arguments* args, Globals* globals, __global uint* right, uint right_first, uint count,
        uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, key.v[k], cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->own_matches = (uint2)(0u);
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    __global uint* right = column32_from(args->right_keys, first);
    uint_array key;
    load_batch(right, 0u, count, &key);
    look_up(args, globals, right, first, count, key);
    uint2 all_;
    workgroup_sum(shared, subgroup_sum(globals->own_matches), &all_);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->counts, tile)[0] = all_;
    }
}
#endif

#if SHARED == 1
typedef struct {
    uint sh_total[2];
} Shared;

typedef struct {
    uint low;
    uint high;
} uint_pair;

INLINE uint_pair add_carry(uint a, uint b) {
    uint sum = a + b;
    return (uint_pair){sum, sum < a ? 1u : 0u};
}

INLINE uint2 workgroup_total(__local Shared* shared, uint2 own) {
    if (LOCAL_ID_X == 0u) {
        shared->sh_total[1] = 0u;
        shared->sh_total[0] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = atomic_add(&shared->sh_total[0], own.x);
    uint carry = add_carry(before, own.x).high;
    if (own.y + carry > 0u) {
        atomic_add(&shared->sh_total[1], own.y + carry);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(shared->sh_total[0], shared->sh_total[1]);
}
#endif

#if KEY_BITS == 32 && SHARED == 1
INLINE void load_batch(__global uint* right, uint first, uint count, uint_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}

INLINE void look_up(const Arguments* args, Globals* globals, __global uint* right, uint right_first, uint count,
        uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, key.v[k], cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->own_matches = (uint2)(0u);
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    __global uint* right = column32_from(args->right_keys, first);
    uint_array key;
    load_batch(right, 0u, count, &key);
    look_up(args, globals, right, first, count, key);
    uint2 all_ = workgroup_total(shared, globals->own_matches);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->counts, tile)[0] = all_;
    }
}
#endif

#if KEY_BITS == 64
typedef struct {
    uint2 v[ITEMS];
} uint2_array;

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

INLINE uint hash_of(uint2 key) {
    return mix_of_uint2_uint(key, SEED).x;
}

INLINE uint match_of(const Arguments* args, uint2 key, uint hash, uint tries) {
    for (; tries < PATIENCE; ++tries) {
        uint slot = (hash + tries) & args->mask;
        uint entry = ((__global uint*)as_ulong(args->slots))[slot];
        if (entry == 0u) return 0u;
        if (((entry ^ hash) & ~args->mask) != 0u) continue;
        if (all(column64_from(args->left_keys, (entry & args->mask) - 1u)[0] == key)) return slot + 1u;
    }
    return 0u;
}

INLINE uint first_match(const Arguments* args, uint2 key) {
    return match_of(args, key, hash_of(key), 0u);
}

INLINE uint next_match(const Arguments* args, uint2 key, uint at) {
    uint hash = hash_of(key);
    return match_of(args, key, hash, (at - hash) & args->mask);
}

INLINE uint matches_of(const Arguments* args, uint2 key, uint cursor) {
    uint match = first_match(args, key);
    uint matches = 0u;
    if (DISTINCT == 1u) return match == 0u ? 0u : 1u + column32_from(args->repeats, left_row(args, match))[0];
    for (;;) {
        if (match <= 0u) break;
        ++matches;
        match = UNIQUE == 1u ? 0u : next_match(args, key, match);
    }
    return matches;
}
#endif

#if KEY_BITS == 64 && SHARED == 0
INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}

INLINE void look_up(const Arguments* args, Globals* globals, __global uint2* right, uint right_first, uint count,
        uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, key.v[k], cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->own_matches = (uint2)(0u);
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    __global uint2* right = column64_from(args->right_keys, first);
    uint2_array key;
    load_batch(right, 0u, count, &key);
    look_up(args, globals, right, first, count, key);
    uint2 all_;
    workgroup_sum(shared, subgroup_sum(globals->own_matches), &all_);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->counts, tile)[0] = all_;
    }
}
#endif

#if KEY_BITS == 64 && SHARED == 1
INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}

INLINE void look_up(const Arguments* args, Globals* globals, __global uint2* right, uint right_first, uint count,
        uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, key.v[k], cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->own_matches = (uint2)(0u);
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    __global uint2* right = column64_from(args->right_keys, first);
    uint2_array key;
    load_batch(right, 0u, count, &key);
    look_up(args, globals, right, first, count, key);
    uint2 all_ = workgroup_total(shared, globals->own_matches);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->counts, tile)[0] = all_;
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_count(
    __global uchar* slots,
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* repeats,
    __global uchar* counts,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)slots + scalars.slots),
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)repeats + scalars.repeats),
        as_uint2((ulong)counts + scalars.counts),
        scalars.rows,
        scalars.mask,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, shared, globals);
}

