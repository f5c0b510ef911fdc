// Kernel merge_count in OpenCL C 1.2, translated from shaders/merge_count.comp by make generate; do not edit.
// Variants:
//   key_bits=32 shared=0
//   key_bits=32 shared=1
//   key_bits=64 shared=0
//   key_bits=64 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "merge_count: this variant needs subgroups"
#endif
#endif

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

#if KEY_BITS == 32
typedef struct { uint v[TABLE]; } uint_xtable;

typedef struct {
    uint own_matches;
    uint wanted;
    uint left_count;
} Own;

typedef struct { uint v[ITEMS]; } uint_xitems;

typedef struct { uint v[8u]; } uint_x8u;

INLINE bool less(uint a, uint b) {
    return a < b;
}

#endif

typedef struct { uint2 units; uint2 left_keys; uint2 right_keys; uint2 counts; uint first_group; uint end_group; } Push;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE void batch_looked_up(uint row) {
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if SHARED == 0
typedef struct { uint2 v[(WORKGROUP + 3u) / 4u]; } uint2_xworkgroup_3u_4u;

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

#endif

#if KEY_BITS == 32 && SHARED == 0
typedef struct {
    uint_xtable sh_left;
    uint2_xworkgroup_3u_4u sh_subgroup_sum;
} Shared;

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

#if KEY_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#endif

#if SHARED == 1
typedef struct { uint v[2u]; } uint_x2u;

typedef struct { uint m0; uint m1; } ResType;

INLINE ResType add_carry(uint a, uint b) {
    uint sum = a + b;
    return (ResType){sum, sum < a ? 1u : 0u};
}

#endif

#if KEY_BITS == 32 && SHARED == 1
typedef struct {
    uint_xtable sh_left;
    uint_x2u sh_total;
} Shared;

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

#if KEY_BITS == 32
INLINE void load_left(const Push* push, __local Shared* shared, Own* own, uint left_first) {
    __global uint* left = column32_from(push->left_keys, left_first);
    uint i = LOCAL_ID_X;
    uint_x8u own_;
    for (; i < own->left_count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i + k * WORKGROUP) < own->left_count) {
                own_.v[k] = left[i + k * WORKGROUP];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < own->left_count) {
                shared->sh_left.v[i + k_2 * WORKGROUP] = own_.v[k_2];
            }
        }
    }
}

#endif

#if KEY_BITS == 64
typedef struct { uint2 v[TABLE]; } uint2_xtable;

typedef struct {
    uint own_matches;
    uint2 wanted;
    uint left_count;
} Own;

typedef struct { uint2 v[ITEMS]; } uint2_xitems;

typedef struct { uint2 v[8u]; } uint2_x8u;

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

#endif

INLINE void looked_up(Own* own, uint k, uint matches) {
    own->own_matches = own->own_matches + matches;
}

#if KEY_BITS == 64 && SHARED == 0
typedef struct {
    uint2_xtable sh_left;
    uint2_xworkgroup_3u_4u sh_subgroup_sum;
} Shared;

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

#endif

#if SHARED == 0
INLINE uint2 workgroup_sum(__local Shared* shared, uint2 own_, uint2* all) {
    bool value = subgroup_elect();
    if (value) {
        shared->sh_subgroup_sum.v[subgroup_id()] = own_;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 before_2 = (uint2)(0u);
    *all = (uint2)(0u);
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before_2 = *all;
        }
        *all = add(*all, shared->sh_subgroup_sum.v[s]);
    }
    return before_2;
}

INLINE void put_count(const Push* push, __local Shared* shared, Own* own, uint unit) {
    uint2 param_3;
    workgroup_sum(shared, subgroup_sum((uint2)(own->own_matches, 0u)), &param_3);
    uint2 all = param_3;
    if (LOCAL_ID_X == 0u) {
        column64_from(push->counts, unit)[0] = all;
    }
}

#endif

#if KEY_BITS == 64 && SHARED == 1
typedef struct {
    uint2_xtable sh_left;
    uint_x2u sh_total;
} Shared;

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

#endif

INLINE bool before(__local Shared* shared, Own* own, uint which, uint row) {
    bool variable;
    if (which == 0u) {
        variable = less(shared->sh_left.v[row], own->wanted);
    } else {
        variable = !less(own->wanted, shared->sh_left.v[row]);
    }
    return variable;
}

INLINE uint search(__local Shared* shared, Own* own, uint which, uint* low, uint* high) {
    while ((*low) < (*high)) {
        uint middle = *low + (*high - *low) / 2u;
        if (before(shared, own, which, middle)) {
            *low = middle + 1u;
        } else {
            *high = middle;
        }
    }
    return *low;
}

INLINE uint gallop(__local Shared* shared, Own* own, uint which, uint* low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= (high - *low) && before(shared, own, which, *low + step - 1u); step = step * 2u) {
        *low = *low + step;
    }
    uint param_4 = *low;
    uint param_5 = *low + min(step - 1u, high - *low);
    uint value = search(shared, own, which, &param_4, &param_5);
    return value;
}

INLINE uint matches_end(__local Shared* shared, Own* own, uint first) {
    uint param_2 = first;
    uint value = gallop(shared, own, 1u, &param_2, own->left_count);
    return value;
}

#if KEY_BITS == 32
INLINE uint first_stop(__local Shared* shared, Own* own, uint key, uint* cursor) {
    own->wanted = key;
    uint param_2 = *cursor;
    *cursor = gallop(shared, own, 0u, &param_2, own->left_count);
    uint variable;
    if ((*cursor) < own->left_count) {
        variable = *cursor + 1u;
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE uint matches_of(__local Shared* shared, Own* own, uint key, uint* cursor) {
    uint param_2 = *cursor;
    first_stop(shared, own, key, &param_2);
    *cursor = param_2;
    uint value = matches_end(shared, own, *cursor);
    return value - *cursor;
}

#endif

#if KEY_BITS == 32 && SHARED == 0
INLINE void look_up(__local Shared* shared, Own* own, __global uint* right, uint right_first, uint count, uint_xitems* key) {
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
                uint value = matches_of(shared, own, (*key).v[k], &param_2);
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

#if KEY_BITS == 32 && SHARED == 1
INLINE void look_up(__local Shared* shared, Own* own, __global uint* right, uint right_first, uint count, uint_xitems* key) {
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
                uint value = matches_of(shared, own, (*key).v[k], &param_2);
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
INLINE uint2 workgroup_total(__local Shared* shared, uint2 own_) {
    if (LOCAL_ID_X == 0u) {
        shared->sh_total.v[1] = 0u;
        shared->sh_total.v[0] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before_2 = atomic_add(&shared->sh_total.v[0], own_.x);
    ResType value = add_carry(before_2, own_.x);
    uint carry = value.m1;
    if ((own_.y + carry) > 0u) {
        atomic_add(&shared->sh_total.v[1], own_.y + carry);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(shared->sh_total.v[0], shared->sh_total.v[1]);
}

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
    own->left_count = rows.y - rows.x;
    __global uint* right = column32_from(push->right_keys, rows.z);
    uint_xitems key;
    uint_xitems param_9 = key;
    load_batch(right, 0u, rows.w - rows.z, &param_9);
    key = param_9;
    load_left(push, shared, own, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint_xitems param_14 = key;
    look_up(shared, own, right, rows.z, rows.w - rows.z, &param_14);
    put_count(push, shared, own, unit);
}

#endif

#if KEY_BITS == 64
INLINE void load_left(const Push* push, __local Shared* shared, Own* own, uint left_first) {
    __global uint2* left = column64_from(push->left_keys, left_first);
    uint i = LOCAL_ID_X;
    uint2_x8u own_;
    for (; i < own->left_count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i + k * WORKGROUP) < own->left_count) {
                own_.v[k] = left[i + k * WORKGROUP];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < own->left_count) {
                shared->sh_left.v[i + k_2 * WORKGROUP] = own_.v[k_2];
            }
        }
    }
}

INLINE uint first_stop(__local Shared* shared, Own* own, uint2 key, uint* cursor) {
    own->wanted = key;
    uint param_2 = *cursor;
    *cursor = gallop(shared, own, 0u, &param_2, own->left_count);
    uint variable;
    if ((*cursor) < own->left_count) {
        variable = *cursor + 1u;
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE uint matches_of(__local Shared* shared, Own* own, uint2 key, uint* cursor) {
    uint param_2 = *cursor;
    first_stop(shared, own, key, &param_2);
    *cursor = param_2;
    uint value = matches_end(shared, own, *cursor);
    return value - *cursor;
}

#endif

#if KEY_BITS == 64 && SHARED == 0
INLINE void look_up(__local Shared* shared, Own* own, __global uint2* right, uint right_first, uint count, uint2_xitems* key) {
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
                uint value = matches_of(shared, own, (*key).v[k], &param_2);
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
INLINE void look_up(__local Shared* shared, Own* own, __global uint2* right, uint right_first, uint count, uint2_xitems* key) {
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
                uint value = matches_of(shared, own, (*key).v[k], &param_2);
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
    own->left_count = rows.y - rows.x;
    __global uint2* right = column64_from(push->right_keys, rows.z);
    uint2_xitems key;
    uint2_xitems param_9 = key;
    load_batch(right, 0u, rows.w - rows.z, &param_9);
    key = param_9;
    load_left(push, shared, own, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2_xitems param_14 = key;
    look_up(shared, own, right, rows.z, rows.w - rows.z, &param_14);
    put_count(push, shared, own, unit);
}

#endif

typedef struct {
    ulong units;
    ulong left_keys;
    ulong right_keys;
    ulong counts;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_count(__global uchar* units, __global uchar* left_keys, __global uchar* right_keys, __global uchar* counts, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)units + words.units),
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)counts + words.counts),
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

