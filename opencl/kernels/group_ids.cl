// Kernel group_ids in OpenCL C 1.2, translated from shaders/group_ids.comp by make generate; do not edit.
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
    ulong table;
    ulong ids;
    ulong counts;
    ulong flushes;
    uint count;
    uint slots;
    uint dense;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keys;
    uint2 units;
    uint2 table;
    uint2 ids;
    uint2 counts;
    uint2 flushes;
    uint count;
    uint slots;
    uint dense;
    uint first_group;
    uint end_group;
} Arguments;

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
    uint hash = key * 0x9e3779b9u;
    return (hash ^ (hash >> 16u)) * 0x85ebca6bu;
}

INLINE void clear_slots(__global uint* slot, uint used) {
    for (uint i = 0u; i < 2u * used; ++i) {
        slot[i] = 0u;
    }
}

INLINE uint widen(uint a, uint like) {
    return a;
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    __global uint* slot = column32_from(args->table, (group * WORKGROUP + LOCAL_ID_X) * 2u * args->slots);
    uint all_flushes = 0u;
    for (uint k = 0u; k < ITEMS; ++k) {
        uint unit = (group * ITEMS + k) * WORKGROUP + LOCAL_ID_X;
        if (unit >= args->count) break;
        uint first = column32_from(args->units, unit)[0];
        uint rows = column32_from(args->units, unit)[1] - first;
        __global uint* from = column32_from(args->keys, first);
        __global uint* to = column32_from(args->ids, first);
        uint used_slots = args->slots;
        if (args->dense == 0u && rows < args->slots / 2u) {
            used_slots = max(2u, 2u << (31u - clz(rows) + 1u));
        }
        uint shift = 32u - (31u - clz(used_slots));
        uint most = used_slots - used_slots / 4u;
        uint used = 0u;
        uint found = 0u;
        for (uint i = 0u; i < rows; ++i) {
            uint key = from[i];
            uint start = args->dense == 1u ? low(key) : hash_of(key) >> shift;
            uint at = start;
            uint id = low(slot[2u * at + 1u]);
            for (uint tries = 0u; args->dense == 0u && id != 0u && slot[2u * at] != key && tries < used_slots;
                    ++tries) {
                at = (at + 1u) & (used_slots - 1u);
                id = low(slot[2u * at + 1u]);
            }
            if (id == 0u) {
                if (args->dense == 0u && used == most) {
                    clear_slots(slot, used_slots);
                    used = 0u;
                    ++all_flushes;
                    at = start;
                }
                ++used;
                ++found;
                id = found;
                if (args->dense == 0u) {
                    slot[2u * at] = key;
                }
                slot[2u * at + 1u] = widen(id, 0u);
            }
            to[i] = id - 1u;
        }
        column32_from(args->counts, unit)[0] = found;
        clear_slots(slot, used_slots);
    }
    if (all_flushes > 0u) {
        atomic_add(&((__global uint*)as_ulong(args->flushes))[0], all_flushes);
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

INLINE uint hash_of_uint(uint key) {
    uint hash = key * 0x9e3779b9u;
    return (hash ^ (hash >> 16u)) * 0x85ebca6bu;
}

INLINE uint hash_of_uint2(uint2 key) {
    return hash_of_uint(key.x ^ (key.y * 0x85ebca6bu));
}

INLINE void clear_slots(__global uint2* slot, uint used) {
    for (uint i = 0u; i < 2u * used; ++i) {
        slot[i] = (uint2)(0u);
    }
}

INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    __global uint2* slot = column64_from(args->table, (group * WORKGROUP + LOCAL_ID_X) * 2u * args->slots);
    uint all_flushes = 0u;
    for (uint k = 0u; k < ITEMS; ++k) {
        uint unit = (group * ITEMS + k) * WORKGROUP + LOCAL_ID_X;
        if (unit >= args->count) break;
        uint first = column32_from(args->units, unit)[0];
        uint rows = column32_from(args->units, unit)[1] - first;
        __global uint2* from = column64_from(args->keys, first);
        __global uint* to = column32_from(args->ids, first);
        uint used_slots = args->slots;
        if (args->dense == 0u && rows < args->slots / 2u) {
            used_slots = max(2u, 2u << (31u - clz(rows) + 1u));
        }
        uint shift = 32u - (31u - clz(used_slots));
        uint most = used_slots - used_slots / 4u;
        uint used = 0u;
        uint found = 0u;
        for (uint i = 0u; i < rows; ++i) {
            uint2 key = from[i];
            uint start = args->dense == 1u ? low(key) : hash_of_uint2(key) >> shift;
            uint at = start;
            uint id = low(slot[2u * at + 1u]);
            for (uint tries = 0u; args->dense == 0u && id != 0u && any(slot[2u * at] != key) && tries < used_slots;
                    ++tries) {
                at = (at + 1u) & (used_slots - 1u);
                id = low(slot[2u * at + 1u]);
            }
            if (id == 0u) {
                if (args->dense == 0u && used == most) {
                    clear_slots(slot, used_slots);
                    used = 0u;
                    ++all_flushes;
                    at = start;
                }
                ++used;
                ++found;
                id = found;
                if (args->dense == 0u) {
                    slot[2u * at] = key;
                }
                slot[2u * at + 1u] = widen(id, (uint2)(0u));
            }
            to[i] = id - 1u;
        }
        column32_from(args->counts, unit)[0] = found;
        clear_slots(slot, used_slots);
    }
    if (all_flushes > 0u) {
        atomic_add(&((__global uint*)as_ulong(args->flushes))[0], all_flushes);
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_ids(
    __global uchar* keys,
    __global uchar* units,
    __global uchar* table,
    __global uchar* ids,
    __global uchar* counts,
    __global uchar* flushes,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)units + scalars.units),
        as_uint2((ulong)table + scalars.table),
        as_uint2((ulong)ids + scalars.ids),
        as_uint2((ulong)counts + scalars.counts),
        as_uint2((ulong)flushes + scalars.flushes),
        scalars.count,
        scalars.slots,
        scalars.dense,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

