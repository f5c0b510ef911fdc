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
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
    ulong units;
    ulong left_keys;
    ulong right_keys;
    ulong counts;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 units;
    uint2 left_keys;
    uint2 right_keys;
    uint2 counts;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE void batch_looked_up(uint row) {
}

#define BATCH_ROWS (WORKGROUP * ITEMS)

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if KEY_BITS == 32 && SHARED == 0
typedef struct {
    uint sh_left[TABLE];
    uint2 sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
} Shared;
#endif

#if KEY_BITS == 32
typedef struct {
    uint own_matches;
    uint wanted;
    uint left_count;
} Globals;

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

typedef struct {
    uint v[ITEMS];
} uint_array;

INLINE bool less(uint a, uint b) {
    return a < b;
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

#if SHARED == 0
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
#endif

#if KEY_BITS == 32 && SHARED == 1
typedef struct {
    uint sh_left[TABLE];
    uint sh_total[2];
} Shared;

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

#if KEY_BITS == 32
INLINE void load_left(const Arguments* args, __local Shared* shared, Globals* globals, uint left_first) {
    __global uint* left = column32_from(args->left_keys, left_first);
    uint own[8];
    for (uint i = LOCAL_ID_X; i < globals->left_count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                own[k] = left[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                shared->sh_left[i + k * WORKGROUP] = own[k];
            }
        }
    }
}
#endif

#if SHARED == 1
typedef struct {
    uint low;
    uint high;
} uint_pair;

INLINE uint_pair add_carry(uint a, uint b) {
    uint sum = a + b;
    return (uint_pair){sum, sum < a ? 1u : 0u};
}
#endif

#if KEY_BITS == 64 && SHARED == 0
typedef struct {
    uint2 sh_left[TABLE];
    uint2 sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
} Shared;
#endif

#if KEY_BITS == 64
typedef struct {
    uint own_matches;
    uint2 wanted;
    uint left_count;
} Globals;

typedef struct {
    uint2 v[ITEMS];
} uint2_array;

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}
#endif

INLINE void looked_up(Globals* globals, uint k, uint matches) {
    globals->own_matches += matches;
}

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
#endif

#if KEY_BITS == 64 && SHARED == 1
typedef struct {
    uint2 sh_left[TABLE];
    uint sh_total[2];
} Shared;

INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}
#endif

INLINE bool before(__local Shared* shared, Globals* globals, uint which, uint row) {
    return which == 0u ? less(shared->sh_left[row], globals->wanted) : !less(globals->wanted, shared->sh_left[row]);
}

INLINE uint search(__local Shared* shared, Globals* globals, uint which, uint low, uint high) {
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (before(shared, globals, which, middle)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

INLINE uint gallop(__local Shared* shared, Globals* globals, uint which, uint low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= high - low && before(shared, globals, which, low + step - 1u); step *= 2u) {
        low += step;
    }
    return search(shared, globals, which, low, low + min(step - 1u, high - low));
}

INLINE uint matches_end(__local Shared* shared, Globals* globals, uint first) {
    return gallop(shared, globals, 1u, first, globals->left_count);
}

#if KEY_BITS == 32
INLINE uint first_stop(__local Shared* shared, Globals* globals, uint key, uint* cursor) {
    globals->wanted = key;
    *cursor = gallop(shared, globals, 0u, *cursor, globals->left_count);
    return *cursor < globals->left_count ? *cursor + 1u : 0u;
}

INLINE uint matches_of(__local Shared* shared, Globals* globals, uint key, uint* cursor) {
    first_stop(shared, globals, key, cursor);
    return matches_end(shared, globals, *cursor) - *cursor;
}
#endif

#if KEY_BITS == 32 && SHARED == 0
INLINE void look_up(__local Shared* shared, Globals* globals, __global uint* right, uint right_first, uint count,
        uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(shared, globals, key.v[k], &cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}
#endif

#if SHARED == 0
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

INLINE void put_count(const Arguments* args, __local Shared* shared, Globals* globals, uint unit) {
    uint2 all_;
    workgroup_sum(shared, subgroup_sum((uint2)(globals->own_matches, 0u)), &all_);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->counts, unit)[0] = all_;
    }
}
#endif

#if KEY_BITS == 32 && SHARED == 1
INLINE void look_up(__local Shared* shared, Globals* globals, __global uint* right, uint right_first, uint count,
        uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(shared, globals, key.v[k], &cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}
#endif

#if SHARED == 1
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
    globals->left_count = rows.y - rows.x;
    __global uint* right = column32_from(args->right_keys, rows.z);
    uint_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    load_left(args, shared, globals, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(shared, globals, right, rows.z, rows.w - rows.z, key);
    put_count(args, shared, globals, unit);
}
#endif

#if KEY_BITS == 64
INLINE void load_left(const Arguments* args, __local Shared* shared, Globals* globals, uint left_first) {
    __global uint2* left = column64_from(args->left_keys, left_first);
    uint2 own[8];
    for (uint i = LOCAL_ID_X; i < globals->left_count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                own[k] = left[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                shared->sh_left[i + k * WORKGROUP] = own[k];
            }
        }
    }
}

INLINE uint first_stop(__local Shared* shared, Globals* globals, uint2 key, uint* cursor) {
    globals->wanted = key;
    *cursor = gallop(shared, globals, 0u, *cursor, globals->left_count);
    return *cursor < globals->left_count ? *cursor + 1u : 0u;
}

INLINE uint matches_of(__local Shared* shared, Globals* globals, uint2 key, uint* cursor) {
    first_stop(shared, globals, key, cursor);
    return matches_end(shared, globals, *cursor) - *cursor;
}
#endif

#if KEY_BITS == 64 && SHARED == 0
INLINE void look_up(__local Shared* shared, Globals* globals, __global uint2* right, uint right_first, uint count,
        uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(shared, globals, key.v[k], &cursor);
            }
            looked_up(globals, k, matches);
        }
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}
#endif

#if KEY_BITS == 64 && SHARED == 1
INLINE void look_up(__local Shared* shared, Globals* globals, __global uint2* right, uint right_first, uint count,
        uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(shared, globals, key.v[k], &cursor);
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
    globals->left_count = rows.y - rows.x;
    __global uint2* right = column64_from(args->right_keys, rows.z);
    uint2_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    load_left(args, shared, globals, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(shared, globals, right, rows.z, rows.w - rows.z, key);
    put_count(args, shared, globals, unit);
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_count(
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

