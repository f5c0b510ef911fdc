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
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 units; uint2 left_keys; uint2 right_keys; uint2 counts; uint shift; uint first_group; uint end_group; } Push;

typedef struct { uint v[HEADS]; } uint_xheads;

typedef struct { uint v[TABLE]; } uint_xtable;

typedef struct { uint v[UNIQUE < DISTINCT ? (TABLE + 1u) / 2u : 1u]; } uint_xunique_distinct_table_1u_2;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE uint left_row(uint stop) {
    return stop - 1u;
}

INLINE void batch_looked_up(uint row) {
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if SHARED == 0
typedef struct { uint2 v[(WORKGROUP + 3u) / 4u]; } uint2_xworkgroup_3u_4u;

typedef struct {
    uint_xheads sh_head;
    uint_xtable sh_node;
    uint2_xworkgroup_3u_4u sh_subgroup_sum;
    uint_xunique_distinct_table_1u_2 sh_others;
} Shared;

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 4194303u, (a.x >> 22) | ((a.y & 4095u) << 10), a.y >> 12);
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE uint2 from_limbs(uint3 limb) {
    uint2 sum = add((uint2)(limb.x, 0u), (uint2)(limb.y << 22, limb.y >> 10));
    return (uint2)(sum.x, sum.y + (limb.z << 12));
}

INLINE uint2 subgroup_sum(uint2 a) {
    uint3 value = subgroup_add_uint3(limbs(a));
    return from_limbs(value);
}

INLINE uint2 workgroup_sum(__local Shared* shared, uint2 own_, uint2* all) {
    bool value = subgroup_elect();
    if (value) {
        shared->sh_subgroup_sum.v[subgroup_id()] = own_;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 before = (uint2)(0u);
    *all = (uint2)(0u);
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before = *all;
        }
        *all = add(*all, shared->sh_subgroup_sum.v[s]);
    }
    return before;
}

#endif

#if KEY_BITS == 32
typedef struct {
    uint own_matches;
    __global uint* unit_keys;
} Own;

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

typedef struct { uint v[ITEMS]; } uint_xitems;

INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint bits_of(uint key) {
    uint variable;
    if (MIXED == 1u) {
        variable = key;
    } else {
        uint param = key;
        variable = mix_of(&param, 0u);
    }
    return variable;
}

INLINE uint tag_of(uint bits) {
    return bits >> 16;
}

INLINE uint chain_of(const Push* push, uint bits) {
    return (bits >> push->shift) & (HEADS - 1u);
}

typedef struct { uint v[8u]; } uint_x8u;

#endif

#if KEY_BITS == 32 && SHARED == 0
INLINE void load_batch(__global uint* right, uint first, uint count, uint_xitems* key) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
        if (row < count) {
            (*key).v[k] = right[row];
        }
    }
}

#endif

#if SHARED == 1
typedef struct { uint v[2u]; } uint_x2u;

typedef struct {
    uint_xheads sh_head;
    uint_xtable sh_node;
    uint_x2u sh_total;
    uint_xunique_distinct_table_1u_2 sh_others;
} Shared;

typedef struct { uint m0; uint m1; } ResType;

INLINE ResType add_carry(uint a, uint b) {
    uint sum = a + b;
    return (ResType){sum, sum < a ? 1u : 0u};
}

INLINE uint2 workgroup_total(__local Shared* shared, uint2 own_) {
    if (LOCAL_ID_X == 0u) {
        shared->sh_total.v[1] = 0u;
        shared->sh_total.v[0] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = atomic_add(&shared->sh_total.v[0], own_.x);
    ResType value = add_carry(before, own_.x);
    uint carry = value.m1;
    if ((own_.y + carry) > 0u) {
        atomic_add(&shared->sh_total.v[1], own_.y + carry);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(shared->sh_total.v[0], shared->sh_total.v[1]);
}

#endif

INLINE void clear_others(__local Shared* shared, uint left_count) {
    if (!(UNIQUE < DISTINCT)) {
        return;
    }
    uint i = LOCAL_ID_X;
    for (; (2u * i) < left_count; i = i + WORKGROUP) {
        shared->sh_others.v[i] = 0u;
    }
}

INLINE uint stop_after(__local Shared* shared, uint stop) {
    return shared->sh_node.v[stop - 1u] & 65535u;
}

#if KEY_BITS == 32
INLINE void build_table(const Push* push, __local Shared* shared, Own* own, uint left_count) {
    uint i = LOCAL_ID_X;
    for (; i < HEADS; i = i + WORKGROUP) {
        shared->sh_head.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i_2 = LOCAL_ID_X;
    uint_x8u own_;
    for (; i_2 < left_count; i_2 = i_2 + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i_2 + k * WORKGROUP) < left_count) {
                own_.v[k] = own->unit_keys[i_2 + k * WORKGROUP];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i_2 + k_2 * WORKGROUP) < left_count) {
                uint row = i_2 + k_2 * WORKGROUP;
                uint bits = bits_of(own_.v[k_2]);
                uint value = atomic_xchg(&shared->sh_head.v[chain_of(push, bits)], row + 1u);
                shared->sh_node.v[row] = (tag_of(bits) << 16) | value;
            }
        }
    }
}

INLINE bool alike(__local Shared* shared, Own* own, uint stop, uint other) {
    return (shared->sh_node.v[stop - 1u] >> 16) == (shared->sh_node.v[other - 1u] >> 16) && ((DECIDED == 1u) || own->unit_keys[stop - 1u] == own->unit_keys[other - 1u]);
}

INLINE uint first_stop(const Push* push, __local Shared* shared, uint key, uint cursor) {
    uint value = bits_of(key);
    return shared->sh_head.v[chain_of(push, value)];
}

INLINE bool matches_at(__local Shared* shared, Own* own, uint key, uint stop, uint* next) {
    uint entry = shared->sh_node.v[stop - 1u];
    *next = entry & 65535u;
    uint value = bits_of(key);
    return (entry >> 16) == tag_of(value) && ((DECIDED == 1u) || own->unit_keys[stop - 1u] == key);
}

INLINE uint match_from(__local Shared* shared, Own* own, uint key, uint* stop) {
    uint next;
    uint param_3;
    bool either;
    for (; ; *stop = next) {
        if ((*stop) > 0u) {
            bool value = matches_at(shared, own, key, *stop, &param_3);
            next = param_3;
            either = !value;
        } else {
            either = false;
        }
        if (!either) {
            break;
        }
    }
    return *stop;
}

INLINE void count_others(const Push* push, __local Shared* shared, Own* own, uint left_count) {
    if (!(UNIQUE < DISTINCT)) {
        return;
    }
    uint row = LOCAL_ID_X;
    uint cursor;
    for (; row < left_count; row = row + WORKGROUP) {
        uint own_ = row + 1u;
        uint stop = stop_after(shared, own_);
        while (stop > 0u && !alike(shared, own, own_, stop)) {
            stop = stop_after(shared, stop);
        }
        if (stop > 0u) {
            uint key = own->unit_keys[row];
            uint param_6 = cursor;
            uint value = first_stop(push, shared, key, param_6);
            cursor = param_6;
            uint param_8 = value;
            uint value_2 = match_from(shared, own, key, &param_8);
            uint first = left_row(value_2);
            atomic_add(&shared->sh_others.v[first / 2u], 1u << (16u * (first % 2u)));
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE uint matches_of(const Push* push, __local Shared* shared, Own* own, uint key, uint* cursor) {
    uint matches = 0u;
    uint param_2 = *cursor;
    uint value = first_stop(push, shared, key, param_2);
    *cursor = param_2;
    uint stop = value;
    uint next;
    uint param_5;
    for (; stop > 0u; stop = next) {
        bool value_2 = matches_at(shared, own, key, stop, &param_5);
        next = param_5;
        if (value_2) {
            matches = matches + 1;
            if (UNIQUE < DISTINCT) {
                matches = matches + ((shared->sh_others.v[left_row(stop) / 2u] >> (16u * (left_row(stop) % 2u))) & 65535u);
            }
            if ((UNIQUE < DISTINCT) || (UNIQUE == 1u)) {
                next = 0u;
            }
        }
    }
    return matches;
}

#endif

#if KEY_BITS == 32 && SHARED == 1
INLINE void load_batch(__global uint* right, uint first, uint count, uint_xitems* key) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            (*key).v[k] = right[row];
        }
    }
}

#endif

#if KEY_BITS == 64
typedef struct {
    uint own_matches;
    __global uint2* unit_keys;
} Own;

typedef struct { uint2 v[ITEMS]; } uint2_xitems;

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

INLINE uint2 bits_of(uint2 key) {
    uint2 variable;
    if (MIXED == 1u) {
        variable = key;
    } else {
        uint2 param = key;
        variable = mix_of_vu2_u1(&param, 0u);
    }
    return variable;
}

INLINE uint tag_of(uint2 bits) {
    return bits.y >> 16;
}

INLINE uint chain_of(const Push* push, uint2 bits) {
    return (bits.x >> push->shift) & (HEADS - 1u);
}

typedef struct { uint2 v[8u]; } uint2_x8u;

INLINE void build_table(const Push* push, __local Shared* shared, Own* own, uint left_count) {
    uint i = LOCAL_ID_X;
    for (; i < HEADS; i = i + WORKGROUP) {
        shared->sh_head.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i_2 = LOCAL_ID_X;
    uint2_x8u own_;
    for (; i_2 < left_count; i_2 = i_2 + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i_2 + k * WORKGROUP) < left_count) {
                own_.v[k] = own->unit_keys[i_2 + k * WORKGROUP];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i_2 + k_2 * WORKGROUP) < left_count) {
                uint row = i_2 + k_2 * WORKGROUP;
                uint2 bits = bits_of(own_.v[k_2]);
                uint value = atomic_xchg(&shared->sh_head.v[chain_of(push, bits)], row + 1u);
                shared->sh_node.v[row] = (tag_of(bits) << 16) | value;
            }
        }
    }
}

INLINE bool alike(__local Shared* shared, Own* own, uint stop, uint other) {
    return (shared->sh_node.v[stop - 1u] >> 16) == (shared->sh_node.v[other - 1u] >> 16) && ((DECIDED == 1u) || all(own->unit_keys[stop - 1u] == own->unit_keys[other - 1u]));
}

INLINE uint first_stop(const Push* push, __local Shared* shared, uint2 key, uint cursor) {
    uint2 value = bits_of(key);
    return shared->sh_head.v[chain_of(push, value)];
}

INLINE bool matches_at(__local Shared* shared, Own* own, uint2 key, uint stop, uint* next) {
    uint entry = shared->sh_node.v[stop - 1u];
    *next = entry & 65535u;
    uint2 value = bits_of(key);
    return (entry >> 16) == tag_of(value) && ((DECIDED == 1u) || all(own->unit_keys[stop - 1u] == key));
}

INLINE uint match_from(__local Shared* shared, Own* own, uint2 key, uint* stop) {
    uint next;
    uint param_3;
    bool either;
    for (; ; *stop = next) {
        if ((*stop) > 0u) {
            bool value = matches_at(shared, own, key, *stop, &param_3);
            next = param_3;
            either = !value;
        } else {
            either = false;
        }
        if (!either) {
            break;
        }
    }
    return *stop;
}

INLINE void count_others(const Push* push, __local Shared* shared, Own* own, uint left_count) {
    if (!(UNIQUE < DISTINCT)) {
        return;
    }
    uint row = LOCAL_ID_X;
    uint cursor;
    for (; row < left_count; row = row + WORKGROUP) {
        uint own_ = row + 1u;
        uint stop = stop_after(shared, own_);
        while (stop > 0u && !alike(shared, own, own_, stop)) {
            stop = stop_after(shared, stop);
        }
        if (stop > 0u) {
            uint2 key = own->unit_keys[row];
            uint param_6 = cursor;
            uint value = first_stop(push, shared, key, param_6);
            cursor = param_6;
            uint param_8 = value;
            uint value_2 = match_from(shared, own, key, &param_8);
            uint first = left_row(value_2);
            atomic_add(&shared->sh_others.v[first / 2u], 1u << (16u * (first % 2u)));
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE uint matches_of(const Push* push, __local Shared* shared, Own* own, uint2 key, uint* cursor) {
    uint matches = 0u;
    uint param_2 = *cursor;
    uint value = first_stop(push, shared, key, param_2);
    *cursor = param_2;
    uint stop = value;
    uint next;
    uint param_5;
    for (; stop > 0u; stop = next) {
        bool value_2 = matches_at(shared, own, key, stop, &param_5);
        next = param_5;
        if (value_2) {
            matches = matches + 1;
            if (UNIQUE < DISTINCT) {
                matches = matches + ((shared->sh_others.v[left_row(stop) / 2u] >> (16u * (left_row(stop) % 2u))) & 65535u);
            }
            if ((UNIQUE < DISTINCT) || (UNIQUE == 1u)) {
                next = 0u;
            }
        }
    }
    return matches;
}

#endif

INLINE void looked_up(Own* own, uint k, uint matches) {
    own->own_matches = own->own_matches + matches;
}

#if KEY_BITS == 32 && SHARED == 0
INLINE void look_up(const Push* push, __local Shared* shared, Own* own, __global uint* right, uint right_first, uint count, uint_xitems* key) {
    uint cursor = 0u;
    uint first = 0u;
    for (; first < count; first = first + WORKGROUP * ITEMS) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                uint param_2 = cursor;
                uint value = matches_of(push, shared, own, (*key).v[k], &param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(own, k, matches);
        }
        uint_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

#endif

#if SHARED == 0
INLINE void put_count(const Push* push, __local Shared* shared, Own* own, uint unit) {
    uint2 param_3;
    workgroup_sum(shared, subgroup_sum((uint2)(own->own_matches, 0u)), &param_3);
    uint2 all = param_3;
    if (LOCAL_ID_X == 0u) {
        column64_from(push->counts, unit)[0] = all;
    }
}

#endif

#if KEY_BITS == 32 && SHARED == 1
INLINE void look_up(const Push* push, __local Shared* shared, Own* own, __global uint* right, uint right_first, uint count, uint_xitems* key) {
    uint cursor = 0u;
    uint first = 0u;
    for (; first < count; first = first + WORKGROUP * ITEMS) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                uint param_2 = cursor;
                uint value = matches_of(push, shared, own, (*key).v[k], &param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(own, k, matches);
        }
        uint_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

#endif

#if SHARED == 1
INLINE void put_count(const Push* push, __local Shared* shared, Own* own, uint unit) {
    uint2 all = workgroup_total(shared, (uint2)(own->own_matches, 0u));
    if (LOCAL_ID_X == 0u) {
        column64_from(push->counts, unit)[0] = all;
    }
}

#endif

#if KEY_BITS == 32
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->own_matches = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    own->unit_keys = column32_from(push->left_keys, rows.x);
    __global uint* right = column32_from(push->right_keys, rows.z);
    uint_xitems key;
    uint_xitems param_11 = key;
    load_batch(right, 0u, rows.w - rows.z, &param_11);
    key = param_11;
    clear_others(shared, rows.y - rows.x);
    build_table(push, shared, own, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    count_others(push, shared, own, rows.y - rows.x);
    uint_xitems param_18 = key;
    look_up(push, shared, own, right, rows.z, rows.w - rows.z, &param_18);
    put_count(push, shared, own, unit);
}

#endif

#if KEY_BITS == 64 && SHARED == 0
INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_xitems* key) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
        if (row < count) {
            (*key).v[k] = right[row];
        }
    }
}

INLINE void look_up(const Push* push, __local Shared* shared, Own* own, __global uint2* right, uint right_first, uint count, uint2_xitems* key) {
    uint cursor = 0u;
    uint first = 0u;
    for (; first < count; first = first + WORKGROUP * ITEMS) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                uint param_2 = cursor;
                uint value = matches_of(push, shared, own, (*key).v[k], &param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(own, k, matches);
        }
        uint2_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

#endif

#if KEY_BITS == 64 && SHARED == 1
INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_xitems* key) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            (*key).v[k] = right[row];
        }
    }
}

INLINE void look_up(const Push* push, __local Shared* shared, Own* own, __global uint2* right, uint right_first, uint count, uint2_xitems* key) {
    uint cursor = 0u;
    uint first = 0u;
    for (; first < count; first = first + WORKGROUP * ITEMS) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                uint param_2 = cursor;
                uint value = matches_of(push, shared, own, (*key).v[k], &param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(own, k, matches);
        }
        uint2_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

#endif

#if KEY_BITS == 64
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->own_matches = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    own->unit_keys = column64_from(push->left_keys, rows.x);
    __global uint2* right = column64_from(push->right_keys, rows.z);
    uint2_xitems key;
    uint2_xitems param_11 = key;
    load_batch(right, 0u, rows.w - rows.z, &param_11);
    key = param_11;
    clear_others(shared, rows.y - rows.x);
    build_table(push, shared, own, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    count_others(push, shared, own, rows.y - rows.x);
    uint2_xitems param_18 = key;
    look_up(push, shared, own, right, rows.z, rows.w - rows.z, &param_18);
    put_count(push, shared, own, unit);
}

#endif

typedef struct {
    ulong units;
    ulong left_keys;
    ulong right_keys;
    ulong counts;
    uint shift;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_count(__global uchar* units, __global uchar* left_keys, __global uchar* right_keys, __global uchar* counts, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)units + words.units),
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)counts + words.counts),
        words.shift,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

