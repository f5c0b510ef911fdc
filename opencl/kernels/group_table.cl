// Kernel group_table in OpenCL C 1.2, translated from shaders/group_table.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 units; uint2 ids; uint2 places; uint2 keys_out; uint2 found; uint rows; uint digit; uint room; uint seed; uint first_group; uint end_group; } Push;

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

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

typedef struct { uint first; uint rows; uint base; bool whole; } Unit;

INLINE Unit unit_of(uint2 units, uint i, uint rows, uint tile_rows) {
    if (absent(units)) {
        return (Unit){i * tile_rows, rows_left(rows, i * tile_rows, tile_rows), 0u, false};
    }
    __global uint* unit = column32_from(units, 4u * i);
    return (Unit){unit[0], unit[1] - unit[0], unit[2], unit[3] == 1u};
}

#if KEY_BITS == 32
typedef struct { uint v[SLOTS * 32u / 32u]; } uint_xslots_32u_32u;

typedef struct {
    uint_xslots_32u_32u sh_table;
    uint sh_count;
    uint sh_failures;
    uint sh_first;
} Shared;

INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint packed_of(const Push* push, uint key) {
    uint variable;
    if (push->digit == 0u) {
        variable = key;
    } else {
        variable = key | 1u;
    }
    return variable;
}

INLINE bool is_free(uint a) {
    return a == 0u;
}

INLINE uint hash_of(const Push* push, uint key) {
    return key >> push->digit;
}

INLINE uint held_key(__local Shared* shared, uint slot) {
    return shared->sh_table.v[slot];
}

INLINE uint unpacked(const Push* push, uint a, uint known) {
    uint variable;
    if (push->digit == 0u) {
        variable = a;
    } else {
        variable = a - 1u + (known & 1u);
    }
    return variable;
}

INLINE uint unmix_of(uint* key, uint seed) {
    *key = ((*key) ^ ((*key) >> 16)) * 2127672349u;
    *key = ((*key) ^ ((*key) >> 13) ^ ((*key) >> 26)) * 2781581891u;
    return (*key) ^ ((*key) >> 16) ^ seed;
}

typedef struct { uint v[4u]; } uint_x4u;

#endif

#if KEY_BITS == 64
typedef struct { uint v[SLOTS * 64u / 32u]; } uint_xslots_64u_32u;

typedef struct {
    uint_xslots_64u_32u sh_table;
    uint sh_count;
    uint sh_failures;
    uint sh_first;
} Shared;

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

INLINE uint2 packed_of(const Push* push, uint2 key) {
    if (push->digit == 0u) {
        return key;
    }
    return (uint2)((key.x & 4294967292u) | ((key.y >> 30) & 2u) | 1u, (key.y << 1) | 1u);
}

INLINE bool is_free(uint2 a) {
    return (a.x == 0u) || a.y == 0u;
}

INLINE uint hash_of(uint2 key) {
    return key.y;
}

INLINE uint2 held_key(__local Shared* shared, uint slot) {
    return (uint2)(shared->sh_table.v[slot], shared->sh_table.v[SLOTS + slot]);
}

INLINE uint2 unpacked(const Push* push, uint2 a, uint known) {
    uint2 variable;
    if (push->digit == 0u) {
        variable = a;
    } else {
        variable = (uint2)(a.x - (a.x & 3u) + (known & 3u), (a.y >> 1) | ((a.x & 2u) << 30));
    }
    return variable;
}

INLINE uint2 unmix_of(uint2* key, uint seed) {
    uint param = (*key).y;
    uint value = mix_of_u1_u1(&param, seed + 1u);
    (*key).x = (*key).x ^ value;
    uint param_3 = (*key).x;
    uint value_2 = mix_of_u1_u1(&param_3, ~seed);
    (*key).y = (*key).y ^ value_2;
    uint param_5 = (*key).y;
    uint value_3 = mix_of_u1_u1(&param_5, seed);
    (*key).x = (*key).x ^ value_3;
    return *key;
}

typedef struct { uint2 v[4u]; } uint2_x4u;

#endif

INLINE bool offer(__local Shared* shared, uint at, uint word) {
    uint held = shared->sh_table.v[at];
    if (held == 0u) {
        held = atomic_cmpxchg(&shared->sh_table.v[at], 0u, word);
    }
    return (held == 0u) || (held == word);
}

#if KEY_BITS == 32
INLINE uint slot_of(const Push* push, __local Shared* shared, uint key) {
    uint a = packed_of(push, key);
    if (is_free(a)) {
        return SLOTS;
    }
    uint at = hash_of(push, key) & (SLOTS - 1u);
    uint tries = 0u;
    for (; tries < PATIENCE; tries = tries + 1) {
        bool value = offer(shared, at, a);
        if (value) {
            return at;
        }
        at = (at + 1u) & (SLOTS - 1u);
    }
    return SLOTS;
}

INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    Unit unit = unit_of(push->units, group, push->rows, WORKGROUP * ITEMS);
    if (LOCAL_ID_X == 0u) {
        shared->sh_count = 0u;
        shared->sh_failures = 0u;
    }
    uint i = LOCAL_ID_X;
    for (; i < (SLOTS * 32u / 32u); i = i + WORKGROUP) {
        shared->sh_table.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(push->keys, unit.first);
    __global uint* to = column32_from(push->ids, unit.first);
    bool mixes = push->digit == 0u;
    uint begin = LOCAL_ID_X;
    uint_x4u key;
    uint variable;
    for (; begin < unit.rows; begin = begin + 4u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 4u; k = k + 1) {
            key.v[k] = from[min(begin + k * WORKGROUP, unit.rows - 1u)];
        }
        uint k_2 = 0u;
        for (; k_2 < 4u; k_2 = k_2 + 1) {
            uint i_2 = begin + k_2 * WORKGROUP;
            if (i_2 >= unit.rows) {
                break;
            }
            if (mixes) {
                uint param_9 = key.v[k_2];
                variable = mix_of(&param_9, push->seed);
            } else {
                variable = key.v[k_2];
            }
            uint slot = slot_of(push, shared, variable);
            if (slot == SLOTS) {
                atomic_add(&shared->sh_failures, 1u);
            }
            to[i_2] = slot & (SLOTS - 1u);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint slot_2 = LOCAL_ID_X;
    for (; slot_2 < SLOTS; slot_2 = slot_2 + WORKGROUP) {
        own_ = own_ + (is_free(held_key(shared, slot_2)) ? 0u : 1u);
    }
    uint own_first = atomic_add(&shared->sh_count, own_);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LOCAL_ID_X == 0u) {
        uint count = shared->sh_count;
        uint first = atomic_add(&column32_from(push->found, 0u)[0], count);
        uint failures = shared->sh_failures;
        if ((first + count) > push->room) {
            failures = failures + 1;
        }
        if (failures > 0u) {
            atomic_add(&column32_from(push->found, 1u)[0], failures);
        }
        shared->sh_first = first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint place = shared->sh_first + own_first;
    __global uint* places_of = column32_from(push->places, group * SLOTS);
    uint slot_3 = LOCAL_ID_X;
    for (; slot_3 < SLOTS; slot_3 = slot_3 + WORKGROUP) {
        uint a = held_key(shared, slot_3);
        bool taken = !is_free(a) && place < push->room;
        places_of[slot_3] = taken ? place : 4294967295u;
        if (!taken) {
            continue;
        }
        uint param_26 = unpacked(push, a, unit.base);
        uint value = unmix_of(&param_26, push->seed);
        column32_from(push->keys_out, place)[0] = value;
        place = place + 1;
    }
}

#endif

#if KEY_BITS == 64
INLINE uint slot_of(const Push* push, __local Shared* shared, uint2 key) {
    uint2 a = packed_of(push, key);
    if (is_free(a)) {
        return SLOTS;
    }
    uint at = hash_of(key) & (SLOTS - 1u);
    uint tries = 0u;
    bool either;
    for (; tries < PATIENCE; tries = tries + 1) {
        bool value = offer(shared, at, a.x);
        if (value) {
            bool value_2 = offer(shared, SLOTS + at, a.y);
            either = value_2;
        } else {
            either = false;
        }
        if (either) {
            return at;
        }
        at = (at + 1u) & (SLOTS - 1u);
    }
    return SLOTS;
}

INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    Unit unit = unit_of(push->units, group, push->rows, WORKGROUP * ITEMS);
    if (LOCAL_ID_X == 0u) {
        shared->sh_count = 0u;
        shared->sh_failures = 0u;
    }
    uint i = LOCAL_ID_X;
    for (; i < (SLOTS * 64u / 32u); i = i + WORKGROUP) {
        shared->sh_table.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint2* from = column64_from(push->keys, unit.first);
    __global uint* to = column32_from(push->ids, unit.first);
    bool mixes = push->digit == 0u;
    uint begin = LOCAL_ID_X;
    uint2_x4u key;
    uint2 variable;
    for (; begin < unit.rows; begin = begin + 4u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 4u; k = k + 1) {
            key.v[k] = from[min(begin + k * WORKGROUP, unit.rows - 1u)];
        }
        uint k_2 = 0u;
        for (; k_2 < 4u; k_2 = k_2 + 1) {
            uint i_2 = begin + k_2 * WORKGROUP;
            if (i_2 >= unit.rows) {
                break;
            }
            if (mixes) {
                uint2 param_9 = key.v[k_2];
                variable = mix_of_vu2_u1(&param_9, push->seed);
            } else {
                variable = key.v[k_2];
            }
            uint slot = slot_of(push, shared, variable);
            if (slot == SLOTS) {
                atomic_add(&shared->sh_failures, 1u);
            }
            to[i_2] = slot & (SLOTS - 1u);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint slot_2 = LOCAL_ID_X;
    for (; slot_2 < SLOTS; slot_2 = slot_2 + WORKGROUP) {
        own_ = own_ + (is_free(held_key(shared, slot_2)) ? 0u : 1u);
    }
    uint own_first = atomic_add(&shared->sh_count, own_);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LOCAL_ID_X == 0u) {
        uint count = shared->sh_count;
        uint first = atomic_add(&column32_from(push->found, 0u)[0], count);
        uint failures = shared->sh_failures;
        if ((first + count) > push->room) {
            failures = failures + 1;
        }
        if (failures > 0u) {
            atomic_add(&column32_from(push->found, 1u)[0], failures);
        }
        shared->sh_first = first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint place = shared->sh_first + own_first;
    __global uint* places_of = column32_from(push->places, group * SLOTS);
    uint slot_3 = LOCAL_ID_X;
    for (; slot_3 < SLOTS; slot_3 = slot_3 + WORKGROUP) {
        uint2 a = held_key(shared, slot_3);
        bool taken = !is_free(a) && place < push->room;
        places_of[slot_3] = taken ? place : 4294967295u;
        if (!taken) {
            continue;
        }
        uint2 param_26 = unpacked(push, a, unit.base);
        uint2 value = unmix_of(&param_26, push->seed);
        column64_from(push->keys_out, place)[0] = value;
        place = place + 1;
    }
}

#endif

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_table(__global uchar* keys, __global uchar* units, __global uchar* ids, __global uchar* places, __global uchar* keys_out, __global uchar* found, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)units + words.units),
        as_uint2((ulong)ids + words.ids),
        as_uint2((ulong)places + words.places),
        as_uint2((ulong)keys_out + words.keys_out),
        as_uint2((ulong)found + words.found),
        words.rows,
        words.digit,
        words.room,
        words.seed,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

