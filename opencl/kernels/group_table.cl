// Kernel group_table in OpenCL C 1.2, translated from shaders/group_table.comp by make generate; do not edit.
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
    ulong units;
    ulong ids;
    ulong places;
    ulong keys_out;
    ulong found;
    uint rows;
    uint digit;
    uint room;
    uint seed;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keys;
    uint2 units;
    uint2 ids;
    uint2 places;
    uint2 keys_out;
    uint2 found;
    uint rows;
    uint digit;
    uint room;
    uint seed;
    uint first_group;
    uint end_group;
} Arguments;

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

typedef struct {
    uint first;
    uint rows;
    uint base;
    bool whole;
} Unit;

INLINE Unit unit_of(uint2 units, uint i, uint rows, uint tile_rows) {
    if (absent(units)) return (Unit){i * tile_rows, rows_left(rows, i * tile_rows, tile_rows), 0u, false};
    __global uint* unit = column32_from(units, 4u * i);
    return (Unit){unit[0], unit[1] - unit[0], unit[2], unit[3] == 1u};
}

#if KEY_BITS == 32
typedef struct {
    uint sh_table[SLOTS * 32u / 32u];
    uint sh_count;
    uint sh_failures;
    uint sh_first;
} Shared;

INLINE uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint packed_of(const Arguments* args, uint key) {
    return args->digit == 0u ? key : key | 1u;
}

INLINE bool is_free(uint a) {
    return a == 0u;
}

INLINE uint hash_of(const Arguments* args, uint key) {
    return key >> args->digit;
}

INLINE uint held_key(__local Shared* shared, uint slot) {
    return shared->sh_table[slot];
}

INLINE uint unpacked(const Arguments* args, uint a, uint known) {
    return args->digit == 0u ? a : a - 1u + (known & 1u);
}

INLINE uint unmix_of(uint key, uint seed) {
    key = (key ^ (key >> 16u)) * 0x7ed1b41du;
    key = (key ^ (key >> 13u) ^ (key >> 26u)) * 0xa5cb9243u;
    return key ^ (key >> 16u) ^ seed;
}
#endif

#if KEY_BITS == 64
typedef struct {
    uint sh_table[SLOTS * 64u / 32u];
    uint sh_count;
    uint sh_failures;
    uint sh_first;
} Shared;

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

INLINE uint2 packed_of(const Arguments* args, uint2 key) {
    if (args->digit == 0u) return key;
    return (uint2)((key.x & 0xfffffffcu) | ((key.y >> 30u) & 2u) | 1u, (key.y << 1u) | 1u);
}

INLINE bool is_free(uint2 a) {
    return a.x == 0u || a.y == 0u;
}

INLINE uint hash_of(uint2 key) {
    return key.y;
}

INLINE uint2 held_key(__local Shared* shared, uint slot) {
    return (uint2)(shared->sh_table[slot], shared->sh_table[SLOTS + slot]);
}

INLINE uint2 unpacked(const Arguments* args, uint2 a, uint known) {
    return args->digit == 0u ? a : (uint2)(a.x - (a.x & 3u) + (known & 3u), (a.y >> 1u) | ((a.x & 2u) << 30u));
}

INLINE uint2 unmix_of(uint2 key, uint seed) {
    key.x ^= mix_of_uint_uint(key.y, seed + 1u);
    key.y ^= mix_of_uint_uint(key.x, ~seed);
    key.x ^= mix_of_uint_uint(key.y, seed);
    return key;
}
#endif

INLINE bool offer(__local Shared* shared, uint at, uint word) {
    uint held = shared->sh_table[at];
    if (held == 0u) {
        held = atomic_cmpxchg(&shared->sh_table[at], 0u, word);
    }
    return held == 0u || held == word;
}

#if KEY_BITS == 32
INLINE uint slot_of(const Arguments* args, __local Shared* shared, uint key) {
    uint a = packed_of(args, key);
    if (is_free(a)) return SLOTS;
    uint at = hash_of(args, key) & (SLOTS - 1u);
    for (uint tries = 0u; tries < PATIENCE; ++tries) {
        if (offer(shared, at, a)) return at;
        at = (at + 1u) & (SLOTS - 1u);
    }
    return SLOTS;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    Unit unit = unit_of(args->units, group, args->rows, WORKGROUP * ITEMS);
    if (LOCAL_ID_X == 0u) {
        shared->sh_count = 0u;
        shared->sh_failures = 0u;
    }
    for (uint i = LOCAL_ID_X; i < SLOTS * 32u / 32u; i += WORKGROUP) {
        shared->sh_table[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(args->keys, unit.first);
    __global uint* to = column32_from(args->ids, unit.first);
    bool mixes = args->digit == 0u;
    uint key[4];
    for (uint begin = LOCAL_ID_X; begin < unit.rows; begin += 4u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 4u; ++k) {
            key[k] = from[min(begin + k * WORKGROUP, unit.rows - 1u)];
        }
        for (uint k = 0u; k < 4u; ++k) {
            uint i = begin + k * WORKGROUP;
            if (i >= unit.rows) break;
            uint slot = slot_of(args, shared, mixes ? mix_of(key[k], args->seed) : key[k]);
            if (slot == SLOTS) {
                atomic_add(&shared->sh_failures, 1u);
            }
            to[i] = slot & (SLOTS - 1u);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    for (uint slot = LOCAL_ID_X; slot < SLOTS; slot += WORKGROUP) {
        own += is_free(held_key(shared, slot)) ? 0u : 1u;
    }
    uint own_first = atomic_add(&shared->sh_count, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LOCAL_ID_X == 0u) {
        uint count = shared->sh_count;
        uint first = atomic_add(&column32_from(args->found, 0u)[0], count);
        uint failures = shared->sh_failures;
        if (first + count > args->room) {
            ++failures;
        }
        if (failures > 0u) {
            atomic_add(&column32_from(args->found, 1u)[0], failures);
        }
        shared->sh_first = first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint place = shared->sh_first + own_first;
    __global uint* places_of = column32_from(args->places, group * SLOTS);
    for (uint slot = LOCAL_ID_X; slot < SLOTS; slot += WORKGROUP) {
        uint a = held_key(shared, slot);
        bool taken = !is_free(a) && place < args->room;
        places_of[slot] = taken ? place : 0xffffffffu;
        if (!taken) continue;
        column32_from(args->keys_out, place)[0] = unmix_of(unpacked(args, a, unit.base), args->seed);
        ++place;
    }
}
#endif

#if KEY_BITS == 64
INLINE uint slot_of(const Arguments* args, __local Shared* shared, uint2 key) {
    uint2 a = packed_of(args, key);
    if (is_free(a)) return SLOTS;
    uint at = hash_of(key) & (SLOTS - 1u);
    for (uint tries = 0u; tries < PATIENCE; ++tries) {
        if (offer(shared, at, a.x) && offer(shared, SLOTS + at, a.y)) return at;
        at = (at + 1u) & (SLOTS - 1u);
    }
    return SLOTS;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    Unit unit = unit_of(args->units, group, args->rows, WORKGROUP * ITEMS);
    if (LOCAL_ID_X == 0u) {
        shared->sh_count = 0u;
        shared->sh_failures = 0u;
    }
    for (uint i = LOCAL_ID_X; i < SLOTS * 64u / 32u; i += WORKGROUP) {
        shared->sh_table[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint2* from = column64_from(args->keys, unit.first);
    __global uint* to = column32_from(args->ids, unit.first);
    bool mixes = args->digit == 0u;
    uint2 key[4];
    for (uint begin = LOCAL_ID_X; begin < unit.rows; begin += 4u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 4u; ++k) {
            key[k] = from[min(begin + k * WORKGROUP, unit.rows - 1u)];
        }
        for (uint k = 0u; k < 4u; ++k) {
            uint i = begin + k * WORKGROUP;
            if (i >= unit.rows) break;
            uint slot = slot_of(args, shared, mixes ? mix_of_uint2_uint(key[k], args->seed) : key[k]);
            if (slot == SLOTS) {
                atomic_add(&shared->sh_failures, 1u);
            }
            to[i] = slot & (SLOTS - 1u);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    for (uint slot = LOCAL_ID_X; slot < SLOTS; slot += WORKGROUP) {
        own += is_free(held_key(shared, slot)) ? 0u : 1u;
    }
    uint own_first = atomic_add(&shared->sh_count, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LOCAL_ID_X == 0u) {
        uint count = shared->sh_count;
        uint first = atomic_add(&column32_from(args->found, 0u)[0], count);
        uint failures = shared->sh_failures;
        if (first + count > args->room) {
            ++failures;
        }
        if (failures > 0u) {
            atomic_add(&column32_from(args->found, 1u)[0], failures);
        }
        shared->sh_first = first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint place = shared->sh_first + own_first;
    __global uint* places_of = column32_from(args->places, group * SLOTS);
    for (uint slot = LOCAL_ID_X; slot < SLOTS; slot += WORKGROUP) {
        uint2 a = held_key(shared, slot);
        bool taken = !is_free(a) && place < args->room;
        places_of[slot] = taken ? place : 0xffffffffu;
        if (!taken) continue;
        column64_from(args->keys_out, place)[0] = unmix_of(unpacked(args, a, unit.base), args->seed);
        ++place;
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_table(
    __global uchar* keys,
    __global uchar* units,
    __global uchar* ids,
    __global uchar* places,
    __global uchar* keys_out,
    __global uchar* found,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)units + scalars.units),
        as_uint2((ulong)ids + scalars.ids),
        as_uint2((ulong)places + scalars.places),
        as_uint2((ulong)keys_out + scalars.keys_out),
        as_uint2((ulong)found + scalars.found),
        scalars.rows,
        scalars.digit,
        scalars.room,
        scalars.seed,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

