// Kernel partition_count in OpenCL C 1.2, translated from shaders/partition_count.comp by make generate; do not edit.
// Variants:
//   key_bits=32 shared=0
//   key_bits=32 shared=1
//   key_bits=64 shared=0
//   key_bits=64 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "partition_count: this variant needs subgroups"
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

#define BY_KEY (UNIQUE < DISTINCT)

typedef struct {
    ulong units;
    ulong left_keys;
    ulong right_keys;
    ulong counts;
    uint shift;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 units;
    uint2 left_keys;
    uint2 right_keys;
    uint2 counts;
    uint shift;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE uint left_row(uint stop) {
    return stop - 1u;
}

INLINE void batch_looked_up(uint row) {
}

#define BATCH_ROWS (WORKGROUP * ITEMS)

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if SHARED == 0
typedef struct {
    uint sh_head[HEADS];
    uint sh_node[TABLE];
    uint2 sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
    uint sh_others[BY_KEY ? (TABLE + 1u) / 2u : 1u];
} Shared;

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 0x3fffffu, (a.x >> 22u) | ((a.y & 0xfffu) << 10u), a.y >> 12u);
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
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
    uint own_matches;
    __global uint* unit_keys;
} Globals;

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

typedef struct {
    uint v[ITEMS];
} uint_array;

INLINE uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint bits_of(uint key) {
    return MIXED == 1u ? key : mix_of(key, 0u);
}

INLINE uint tag_of(uint bits) {
    return bits >> 16u;
}

INLINE uint chain_of(const Arguments* args, uint bits) {
    return (bits >> args->shift) & (HEADS - 1u);
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
#endif

#if SHARED == 1
typedef struct {
    uint sh_head[HEADS];
    uint sh_node[TABLE];
    uint sh_total[2];
    uint sh_others[BY_KEY ? (TABLE + 1u) / 2u : 1u];
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

INLINE void clear_others(__local Shared* shared, uint left_count) {
    if (!BY_KEY) return;
    for (uint i = LOCAL_ID_X; 2u * i < left_count; i += WORKGROUP) {
        shared->sh_others[i] = 0u;
    }
}

INLINE uint stop_after(__local Shared* shared, uint stop) {
    return shared->sh_node[stop - 1u] & 0xffffu;
}

#if KEY_BITS == 32
INLINE void build_table(const Arguments* args, __local Shared* shared, Globals* globals, uint left_count) {
    for (uint i = LOCAL_ID_X; i < HEADS; i += WORKGROUP) {
        shared->sh_head[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own[8];
    for (uint i = LOCAL_ID_X; i < left_count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < left_count) {
                own[k] = globals->unit_keys[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < left_count) {
                uint row = i + k * WORKGROUP;
                uint bits = bits_of(own[k]);
                uint value = (tag_of(bits) << 16u) | atomic_xchg(&shared->sh_head[chain_of(args, bits)], row + 1u);
                shared->sh_node[row] = value;
            }
        }
    }
}

INLINE bool alike(__local Shared* shared, Globals* globals, uint stop, uint other) {
    return shared->sh_node[stop - 1u] >> 16u == shared->sh_node[other - 1u] >> 16u &&
            (DECIDED == 1u || globals->unit_keys[stop - 1u] == globals->unit_keys[other - 1u]);
}

INLINE uint first_stop(const Arguments* args, __local Shared* shared, uint key, uint cursor) {
    return shared->sh_head[chain_of(args, bits_of(key))];
}

INLINE bool matches_at(__local Shared* shared, Globals* globals, uint key, uint stop, uint* next) {
    uint entry = shared->sh_node[stop - 1u];
    *next = entry & 0xffffu;
    return entry >> 16u == tag_of(bits_of(key)) && (DECIDED == 1u || globals->unit_keys[stop - 1u] == key);
}

INLINE uint match_from(__local Shared* shared, Globals* globals, uint key, uint stop) {
    uint next;
    for (; stop > 0u && !matches_at(shared, globals, key, stop, &next); stop = next) {
    }
    return stop;
}

INLINE void count_others(const Arguments* args, __local Shared* shared, Globals* globals, uint left_count) {
    if (!BY_KEY) return;
    uint cursor;
    for (uint row = LOCAL_ID_X; row < left_count; row += WORKGROUP) {
        uint own = row + 1u;
        uint stop = stop_after(shared, own);
        while (stop > 0u && !alike(shared, globals, own, stop)) {
            stop = stop_after(shared, stop);
        }
        if (stop > 0u) {
            uint key = globals->unit_keys[row];
            uint first = left_row(match_from(shared, globals, key, first_stop(args, shared, key, cursor)));
            atomic_add(&shared->sh_others[first / 2u], 1u << (16u * (first % 2u)));
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE uint matches_of(const Arguments* args, __local Shared* shared, Globals* globals, uint key, uint* cursor) {
    uint matches = 0u;
    uint next;
    for (uint stop = first_stop(args, shared, key, *cursor); stop > 0u; stop = next) {
        if (matches_at(shared, globals, key, stop, &next)) {
            ++matches;
            if (BY_KEY) {
                matches += (shared->sh_others[left_row(stop) / 2u] >> (16u * (left_row(stop) % 2u))) & 0xffffu;
            }
            if (BY_KEY || UNIQUE == 1u) {
                next = 0u;
            }
        }
    }
    return matches;
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
#endif

#if KEY_BITS == 64
typedef struct {
    uint own_matches;
    __global uint2* unit_keys;
} Globals;

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

INLINE uint2 bits_of(uint2 key) {
    return MIXED == 1u ? key : mix_of_uint2_uint(key, 0u);
}

INLINE uint tag_of(uint2 bits) {
    return bits.y >> 16u;
}

INLINE uint chain_of(const Arguments* args, uint2 bits) {
    return (bits.x >> args->shift) & (HEADS - 1u);
}

INLINE void build_table(const Arguments* args, __local Shared* shared, Globals* globals, uint left_count) {
    for (uint i = LOCAL_ID_X; i < HEADS; i += WORKGROUP) {
        shared->sh_head[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 own[8];
    for (uint i = LOCAL_ID_X; i < left_count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < left_count) {
                own[k] = globals->unit_keys[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < left_count) {
                uint row = i + k * WORKGROUP;
                uint2 bits = bits_of(own[k]);
                uint value = (tag_of(bits) << 16u) | atomic_xchg(&shared->sh_head[chain_of(args, bits)], row + 1u);
                shared->sh_node[row] = value;
            }
        }
    }
}

INLINE bool alike(__local Shared* shared, Globals* globals, uint stop, uint other) {
    return shared->sh_node[stop - 1u] >> 16u == shared->sh_node[other - 1u] >> 16u &&
            (DECIDED == 1u || all(globals->unit_keys[stop - 1u] == globals->unit_keys[other - 1u]));
}

INLINE uint first_stop(const Arguments* args, __local Shared* shared, uint2 key, uint cursor) {
    return shared->sh_head[chain_of(args, bits_of(key))];
}

INLINE bool matches_at(__local Shared* shared, Globals* globals, uint2 key, uint stop, uint* next) {
    uint entry = shared->sh_node[stop - 1u];
    *next = entry & 0xffffu;
    return entry >> 16u == tag_of(bits_of(key)) && (DECIDED == 1u || all(globals->unit_keys[stop - 1u] == key));
}

INLINE uint match_from(__local Shared* shared, Globals* globals, uint2 key, uint stop) {
    uint next;
    for (; stop > 0u && !matches_at(shared, globals, key, stop, &next); stop = next) {
    }
    return stop;
}

INLINE void count_others(const Arguments* args, __local Shared* shared, Globals* globals, uint left_count) {
    if (!BY_KEY) return;
    uint cursor;
    for (uint row = LOCAL_ID_X; row < left_count; row += WORKGROUP) {
        uint own = row + 1u;
        uint stop = stop_after(shared, own);
        while (stop > 0u && !alike(shared, globals, own, stop)) {
            stop = stop_after(shared, stop);
        }
        if (stop > 0u) {
            uint2 key = globals->unit_keys[row];
            uint first = left_row(match_from(shared, globals, key, first_stop(args, shared, key, cursor)));
            atomic_add(&shared->sh_others[first / 2u], 1u << (16u * (first % 2u)));
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE uint matches_of(const Arguments* args, __local Shared* shared, Globals* globals, uint2 key, uint* cursor) {
    uint matches = 0u;
    uint next;
    for (uint stop = first_stop(args, shared, key, *cursor); stop > 0u; stop = next) {
        if (matches_at(shared, globals, key, stop, &next)) {
            ++matches;
            if (BY_KEY) {
                matches += (shared->sh_others[left_row(stop) / 2u] >> (16u * (left_row(stop) % 2u))) & 0xffffu;
            }
            if (BY_KEY || UNIQUE == 1u) {
                next = 0u;
            }
        }
    }
    return matches;
}
#endif

INLINE void looked_up(Globals* globals, uint k, uint matches) {
    globals->own_matches += matches;
}

#if KEY_BITS == 32 && SHARED == 0
INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint* right,
        uint right_first, uint count, uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, shared, globals, key.v[k], &cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}
#endif

#if SHARED == 0
INLINE void put_count(const Arguments* args, __local Shared* shared, Globals* globals, uint unit) {
    uint2 all_;
    workgroup_sum(shared, subgroup_sum((uint2)(globals->own_matches, 0u)), &all_);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->counts, unit)[0] = all_;
    }
}
#endif

#if KEY_BITS == 32 && SHARED == 1
INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint* right,
        uint right_first, uint count, uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, shared, globals, key.v[k], &cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}
#endif

#if SHARED == 1
INLINE void put_count(const Arguments* args, __local Shared* shared, Globals* globals, uint unit) {
    uint2 all_ = workgroup_total(shared, (uint2)(globals->own_matches, 0u));
    if (LOCAL_ID_X == 0u) {
        column64_from(args->counts, unit)[0] = all_;
    }
}
#endif

#if KEY_BITS == 32
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->own_matches = 0u;
    uint unit = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(args->units, unit, 4u)))[0];
    globals->unit_keys = column32_from(args->left_keys, rows.x);
    __global uint* right = column32_from(args->right_keys, rows.z);
    uint_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    clear_others(shared, rows.y - rows.x);
    build_table(args, shared, globals, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    count_others(args, shared, globals, rows.y - rows.x);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_count(args, shared, globals, unit);
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

INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint2* right,
        uint right_first, uint count, uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, shared, globals, key.v[k], &cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
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

INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint2* right,
        uint right_first, uint count, uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, shared, globals, key.v[k], &cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}
#endif

#if KEY_BITS == 64
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->own_matches = 0u;
    uint unit = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(args->units, unit, 4u)))[0];
    globals->unit_keys = column64_from(args->left_keys, rows.x);
    __global uint2* right = column64_from(args->right_keys, rows.z);
    uint2_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    clear_others(shared, rows.y - rows.x);
    build_table(args, shared, globals, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    count_others(args, shared, globals, rows.y - rows.x);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_count(args, shared, globals, unit);
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_count(
    __global uchar* units,
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* counts,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)units + scalars.units),
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)counts + scalars.counts),
        scalars.shift,
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

