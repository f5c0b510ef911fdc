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
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 slots; uint2 left_keys; uint2 right_keys; uint2 repeats; uint2 counts; uint rows; uint mask; uint first_group; uint end_group; } Push;

typedef struct {
    uint2 own_matches;
} Own;

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

INLINE uint left_row(const Push* push, uint at) {
    return (((__global uint*)as_ulong(push->slots))[at - 1u] & push->mask) - 1u;
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE void looked_up(Own* own, uint k, uint matches) {
    own->own_matches = add(own->own_matches, (uint2)(matches, 0u));
}

INLINE void batch_looked_up(uint row) {
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if SHARED == 0
typedef struct { uint2 v[(WORKGROUP + 3u) / 4u]; } uint2_xworkgroup_3u_4u;

typedef struct {
    uint2_xworkgroup_3u_4u sh_subgroup_sum;
} Shared;

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 4194303u, (a.x >> 22) | ((a.y & 4095u) << 10), a.y >> 12);
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
typedef struct { uint v[ITEMS]; } uint_xitems;

INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint hash_of(uint key) {
    uint param = key;
    uint value = mix_of(&param, SEED);
    return value;
}

INLINE uint match_of(const Push* push, uint key, uint hash, uint* tries) {
    for (; (*tries) < PATIENCE; *tries = *tries + 1) {
        uint slot = (hash + *tries) & push->mask;
        uint entry = ((__global uint*)as_ulong(push->slots))[slot];
        if (entry == 0u) {
            return 0u;
        }
        if (((entry ^ hash) & (~push->mask)) != 0u) {
            continue;
        }
        if (column32_from(push->left_keys, (entry & push->mask) - 1u)[0] == key) {
            return slot + 1u;
        }
    }
    return 0u;
}

INLINE uint first_match(const Push* push, uint key) {
    uint value = hash_of(key);
    uint param_4 = 0u;
    uint value_2 = match_of(push, key, value, &param_4);
    return value_2;
}

INLINE uint next_match(const Push* push, uint key, uint at) {
    uint hash = hash_of(key);
    uint param_4 = (at - hash) & push->mask;
    uint value = match_of(push, key, hash, &param_4);
    return value;
}

INLINE uint matches_of(const Push* push, uint key, uint cursor) {
    uint match = first_match(push, key);
    uint matches = 0u;
    if (DISTINCT == 1u) {
        uint variable;
        if (match == 0u) {
            variable = 0u;
        } else {
            variable = 1u + column32_from(push->repeats, left_row(push, match))[0];
        }
        return variable;
    }
    uint variable_2;
    for (; ; ) {
        if (!(match > 0u)) {
            break;
        }
        matches = matches + 1;
        if (UNIQUE == 1u) {
            variable_2 = 0u;
        } else {
            variable_2 = next_match(push, key, match);
        }
        match = variable_2;
    }
    return matches;
}

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

INLINE void look_up(const Push* push, Own* own, __global uint* right, uint right_first, uint count, uint_xitems* key) {
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
                uint value = matches_of(push, (*key).v[k], param_2);
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

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->own_matches = (uint2)(0u);
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    __global uint* right = column32_from(push->right_keys, first);
    uint_xitems key;
    uint_xitems param_9 = key;
    load_batch(right, 0u, count, &param_9);
    key = param_9;
    uint_xitems param_13 = key;
    look_up(push, own, right, first, count, &param_13);
    uint2 param_16;
    workgroup_sum(shared, subgroup_sum(own->own_matches), &param_16);
    uint2 all = param_16;
    if (LOCAL_ID_X == 0u) {
        column64_from(push->counts, tile)[0] = all;
    }
}

#endif

#if SHARED == 1
typedef struct { uint v[2u]; } uint_x2u;

typedef struct {
    uint_x2u sh_total;
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

INLINE void look_up(const Push* push, Own* own, __global uint* right, uint right_first, uint count, uint_xitems* key) {
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
                uint value = matches_of(push, (*key).v[k], param_2);
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

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->own_matches = (uint2)(0u);
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    __global uint* right = column32_from(push->right_keys, first);
    uint_xitems key;
    uint_xitems param_9 = key;
    load_batch(right, 0u, count, &param_9);
    key = param_9;
    uint_xitems param_13 = key;
    look_up(push, own, right, first, count, &param_13);
    uint2 all = workgroup_total(shared, own->own_matches);
    if (LOCAL_ID_X == 0u) {
        column64_from(push->counts, tile)[0] = all;
    }
}

#endif

#if KEY_BITS == 64
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

INLINE uint hash_of(uint2 key) {
    uint2 param = key;
    uint2 value = mix_of_vu2_u1(&param, SEED);
    return value.x;
}

INLINE uint match_of(const Push* push, uint2 key, uint hash, uint* tries) {
    for (; (*tries) < PATIENCE; *tries = *tries + 1) {
        uint slot = (hash + *tries) & push->mask;
        uint entry = ((__global uint*)as_ulong(push->slots))[slot];
        if (entry == 0u) {
            return 0u;
        }
        if (((entry ^ hash) & (~push->mask)) != 0u) {
            continue;
        }
        if (all(column64_from(push->left_keys, (entry & push->mask) - 1u)[0] == key)) {
            return slot + 1u;
        }
    }
    return 0u;
}

INLINE uint first_match(const Push* push, uint2 key) {
    uint value = hash_of(key);
    uint param_4 = 0u;
    uint value_2 = match_of(push, key, value, &param_4);
    return value_2;
}

INLINE uint next_match(const Push* push, uint2 key, uint at) {
    uint hash = hash_of(key);
    uint param_4 = (at - hash) & push->mask;
    uint value = match_of(push, key, hash, &param_4);
    return value;
}

INLINE uint matches_of(const Push* push, uint2 key, uint cursor) {
    uint match = first_match(push, key);
    uint matches = 0u;
    if (DISTINCT == 1u) {
        uint variable;
        if (match == 0u) {
            variable = 0u;
        } else {
            variable = 1u + column32_from(push->repeats, left_row(push, match))[0];
        }
        return variable;
    }
    uint variable_2;
    for (; ; ) {
        if (!(match > 0u)) {
            break;
        }
        matches = matches + 1;
        if (UNIQUE == 1u) {
            variable_2 = 0u;
        } else {
            variable_2 = next_match(push, key, match);
        }
        match = variable_2;
    }
    return matches;
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

INLINE void look_up(const Push* push, Own* own, __global uint2* right, uint right_first, uint count, uint2_xitems* key) {
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
                uint value = matches_of(push, (*key).v[k], param_2);
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

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->own_matches = (uint2)(0u);
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    __global uint2* right = column64_from(push->right_keys, first);
    uint2_xitems key;
    uint2_xitems param_9 = key;
    load_batch(right, 0u, count, &param_9);
    key = param_9;
    uint2_xitems param_13 = key;
    look_up(push, own, right, first, count, &param_13);
    uint2 param_16;
    workgroup_sum(shared, subgroup_sum(own->own_matches), &param_16);
    uint2 all = param_16;
    if (LOCAL_ID_X == 0u) {
        column64_from(push->counts, tile)[0] = all;
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

INLINE void look_up(const Push* push, Own* own, __global uint2* right, uint right_first, uint count, uint2_xitems* key) {
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
                uint value = matches_of(push, (*key).v[k], param_2);
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

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->own_matches = (uint2)(0u);
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    __global uint2* right = column64_from(push->right_keys, first);
    uint2_xitems key;
    uint2_xitems param_9 = key;
    load_batch(right, 0u, count, &param_9);
    key = param_9;
    uint2_xitems param_13 = key;
    look_up(push, own, right, first, count, &param_13);
    uint2 all = workgroup_total(shared, own->own_matches);
    if (LOCAL_ID_X == 0u) {
        column64_from(push->counts, tile)[0] = all;
    }
}

#endif

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_count(__global uchar* slots, __global uchar* left_keys, __global uchar* right_keys, __global uchar* repeats, __global uchar* counts, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)slots + words.slots),
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)repeats + words.repeats),
        as_uint2((ulong)counts + words.counts),
        words.rows,
        words.mask,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

