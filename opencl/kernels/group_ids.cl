// Kernel group_ids in OpenCL C 1.2, translated from shaders/group_ids.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 units; uint2 table; uint2 ids; uint2 counts; uint2 flushes; uint count; uint slots; uint dense; uint first_group; uint end_group; } Push;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#if KEY_BITS == 32
INLINE uint low(uint key) {
    return key;
}

INLINE uint hash_of(uint key) {
    uint hash = key * 2654435769u;
    return (hash ^ (hash >> 16)) * 2246822507u;
}

INLINE void clear_slots(__global uint* slot, uint used) {
    uint i = 0u;
    for (; i < (2u * used); i = i + 1) {
        slot[i] = 0u;
    }
}

INLINE uint widen(uint a, uint like) {
    return a;
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    __global uint* slot = column32_from(push->table, (group * WORKGROUP + LOCAL_ID_X) * 2u * push->slots);
    uint all_flushes = 0u;
    uint k = 0u;
    uint variable;
    for (; k < ITEMS; k = k + 1) {
        uint unit = (group * ITEMS + k) * WORKGROUP + LOCAL_ID_X;
        if (unit >= push->count) {
            break;
        }
        uint first = column32_from(push->units, unit)[0];
        uint rows = column32_from(push->units, unit)[1] - first;
        __global uint* from = column32_from(push->keys, first);
        __global uint* to = column32_from(push->ids, first);
        uint used_slots = push->slots;
        if (push->dense == 0u && rows < (push->slots / 2u)) {
            used_slots = max(2u, 2u << as_uint(31 - (int)clz(rows) + 1));
        }
        uint shift = 32u - as_uint(31 - (int)clz(used_slots));
        uint most = used_slots - used_slots / 4u;
        uint used = 0u;
        uint found = 0u;
        uint i = 0u;
        for (; i < rows; i = i + 1) {
            uint key = from[i];
            if (push->dense == 1u) {
                variable = low(key);
            } else {
                variable = hash_of(key) >> shift;
            }
            uint start = variable;
            uint at = start;
            uint id = low(slot[2u * at + 1u]);
            uint tries = 0u;
            for (; (push->dense == 0u) && (id != 0u) && slot[2u * at] != key && (tries < used_slots); tries = tries + 1) {
                at = (at + 1u) & (used_slots - 1u);
                id = low(slot[2u * at + 1u]);
            }
            if (id == 0u) {
                if ((push->dense == 0u) && (used == most)) {
                    clear_slots(slot, used_slots);
                    used = 0u;
                    all_flushes = all_flushes + 1;
                    at = start;
                }
                used = used + 1;
                uint value = found + 1;
                found = value;
                id = value;
                if (push->dense == 0u) {
                    slot[2u * at] = key;
                }
                slot[2u * at + 1u] = widen(id, 0u);
            }
            to[i] = id - 1u;
        }
        column32_from(push->counts, unit)[0] = found;
        clear_slots(slot, used_slots);
    }
    if (all_flushes > 0u) {
        atomic_add(&((__global uint*)as_ulong(push->flushes))[0], all_flushes);
    }
}

#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint low(uint2 key) {
    return key.x;
}

INLINE uint hash_of_u1(uint key) {
    uint hash = key * 2654435769u;
    return (hash ^ (hash >> 16)) * 2246822507u;
}

INLINE uint hash_of_vu2(uint2 key) {
    return hash_of_u1(key.x ^ (key.y * 2246822507u));
}

INLINE void clear_slots(__global uint2* slot, uint used) {
    uint i = 0u;
    for (; i < (2u * used); i = i + 1) {
        slot[i] = (uint2)(0u);
    }
}

INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    __global uint2* slot = column64_from(push->table, (group * WORKGROUP + LOCAL_ID_X) * 2u * push->slots);
    uint all_flushes = 0u;
    uint k = 0u;
    uint variable;
    for (; k < ITEMS; k = k + 1) {
        uint unit = (group * ITEMS + k) * WORKGROUP + LOCAL_ID_X;
        if (unit >= push->count) {
            break;
        }
        uint first = column32_from(push->units, unit)[0];
        uint rows = column32_from(push->units, unit)[1] - first;
        __global uint2* from = column64_from(push->keys, first);
        __global uint* to = column32_from(push->ids, first);
        uint used_slots = push->slots;
        if (push->dense == 0u && rows < (push->slots / 2u)) {
            used_slots = max(2u, 2u << as_uint(31 - (int)clz(rows) + 1));
        }
        uint shift = 32u - as_uint(31 - (int)clz(used_slots));
        uint most = used_slots - used_slots / 4u;
        uint used = 0u;
        uint found = 0u;
        uint i = 0u;
        for (; i < rows; i = i + 1) {
            uint2 key = from[i];
            if (push->dense == 1u) {
                variable = low(key);
            } else {
                variable = hash_of_vu2(key) >> shift;
            }
            uint start = variable;
            uint at = start;
            uint id = low(slot[2u * at + 1u]);
            uint tries = 0u;
            for (; (push->dense == 0u) && (id != 0u) && any(slot[2u * at] != key) && (tries < used_slots); tries = tries + 1) {
                at = (at + 1u) & (used_slots - 1u);
                id = low(slot[2u * at + 1u]);
            }
            if (id == 0u) {
                if ((push->dense == 0u) && (used == most)) {
                    clear_slots(slot, used_slots);
                    used = 0u;
                    all_flushes = all_flushes + 1;
                    at = start;
                }
                used = used + 1;
                uint value = found + 1;
                found = value;
                id = value;
                if (push->dense == 0u) {
                    slot[2u * at] = key;
                }
                slot[2u * at + 1u] = widen(id, (uint2)(0u));
            }
            to[i] = id - 1u;
        }
        column32_from(push->counts, unit)[0] = found;
        clear_slots(slot, used_slots);
    }
    if (all_flushes > 0u) {
        atomic_add(&((__global uint*)as_ulong(push->flushes))[0], all_flushes);
    }
}

#endif

typedef struct {
    ulong keys;
    ulong units;
    ulong table;
    ulong ids;
    ulong counts;
    ulong flushes;
    uint count;
    uint slots;
    uint dense;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_ids(__global uchar* keys, __global uchar* units, __global uchar* table, __global uchar* ids, __global uchar* counts, __global uchar* flushes, const Words words) {
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)units + words.units),
        as_uint2((ulong)table + words.table),
        as_uint2((ulong)ids + words.ids),
        as_uint2((ulong)counts + words.counts),
        as_uint2((ulong)flushes + words.flushes),
        words.count,
        words.slots,
        words.dense,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

