// Kernel scan_lookback in OpenCL C 1.2, translated from shaders/scan_lookback.comp by make generate; do not edit.
// Variants:
//   in_bits=32 sum_bits=32
//   in_bits=32 sum_bits=64
//   in_bits=64 sum_bits=64

#ifndef SUBGROUPS
#error "scan_lookback: this variant needs subgroups"
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

#if SUM_BITS == 32 || IN_BITS == 32
typedef struct {
    uint v[4];
} uint_array;

typedef struct {
    uint_array at;
} Values;

#define ROUNDS ((ITEMS + 4u - 1u) / 4u)

INLINE bool full(uint count) {
    return count == WORKGROUP * ROUNDS * 4u;
}

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ROUNDS + round) * invocations + subgroup_local_id()) * 4u;
}

INLINE Values load_values(uint2 address, uint load) {
    uint4 words = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint_array){{words.x, words.y, words.z, words.w}}};
}

INLINE Values no_values(void) {
    return (Values){(uint_array){{0u, 0u, 0u, 0u}}};
}

INLINE Values load_rows(uint2 from, uint row, uint count) {
    if (row >= count) return no_values();
    Values rows = load_values(from, row / 4u);
    if (count - row < 2u) {
        rows.at.v[1] = 0u;
    }
    if (count - row < 3u) {
        rows.at.v[2] = 0u;
    }
    if (count - row < 4u) {
        rows.at.v[3] = 0u;
    }
    return rows;
}
#endif

#if SUM_BITS == 32
typedef struct {
    uint_array at;
} Sums;

typedef struct {
    uint sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
    uint sh_next;
    uint sh_prefix;
} Shared;

typedef struct {
    uint rest_row;
    Sums rest;
    Values value[8];
    uint sum_before[8];
} Globals;

INLINE uint widen(uint a, uint like) {
    return a;
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

INLINE uint sum_of(Values rows) {
    uint sum = add(widen(rows.at.v[0], 0u), widen(rows.at.v[1], 0u));
    sum = add(sum, add(widen(rows.at.v[2], sum), widen(rows.at.v[3], sum)));
    return sum;
}

INLINE uint subgroup_sum(uint a) {
    return subgroup_add(a);
}

INLINE uint sum_of_rounds(Globals* globals) {
    uint own = 0u;
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS) {
            own = add(own, sum_of(globals->value[r]));
        }
    }
    return subgroup_sum(own);
}

INLINE uint workgroup_sum(__local Shared* shared, uint own, uint* all_) {
    if (subgroup_elect()) {
        shared->sh_subgroup_sum[subgroup_id()] = own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    *all_ = 0u;
    for (uint s = 0u; s < subgroup_count(); ++s) {
        if (s == subgroup_id()) {
            before = *all_;
        }
        *all_ = add(*all_, shared->sh_subgroup_sum[s]);
    }
    return before;
}

INLINE uint2 parts_of(uint sum) {
    return (uint2)(sum & 0xffffu, sum >> 16u);
}

INLINE uint subgroup_sum_before(uint a) {
    return subgroup_exclusive_add(a);
}

INLINE uint scan_rounds(Globals* globals) {
    uint sum = 0u;
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS) {
            uint own = sum_of(globals->value[r]);
            uint value = add(sum, subgroup_sum_before(own));
            globals->sum_before[r] = value;
            sum = add(sum, subgroup_sum(own));
        }
    }
    return sum;
}

INLINE bool agree(uint2 words) {
    return ((words.x ^ words.y) & 3u) == 0u;
}

INLINE uint from_parts(uint2 parts) {
    return (parts.y << 16u) | parts.x;
}

INLINE Sums sums_of(Globals* globals, uint r, uint before) {
    Sums sums;
    sums.at.v[0] = add(before, globals->sum_before[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(globals->value[r].at.v[0], before));
    sums.at.v[2] = add(sums.at.v[1], widen(globals->value[r].at.v[1], before));
    sums.at.v[3] = add(sums.at.v[2], widen(globals->value[r].at.v[2], before));
    return sums;
}

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    ((__global uint4*)as_ulong(to))[row / 4u] = (uint4)(sums.at.v[0], sums.at.v[1], sums.at.v[2], sums.at.v[3]);
}

INLINE void store_rest(Globals* globals, uint2 to, uint count) {
    if (globals->rest_row == 0xffffffffu) return;
    __global uint* column = (__global uint*)as_ulong(to);
    column[globals->rest_row] = globals->rest.at.v[0];
    if (count - globals->rest_row > 1u) {
        column[globals->rest_row + 1u] = globals->rest.at.v[1];
    }
    if (count - globals->rest_row > 2u) {
        column[globals->rest_row + 2u] = globals->rest.at.v[2];
    }
}
#endif

typedef struct {
    ulong values;
    ulong sums;
    ulong status;
    uint rows;
    uint tiles;
    uint total;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 values;
    uint2 sums;
    uint2 status;
    uint rows;
    uint tiles;
    uint total;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE uint first_of(uint4 ballot, uint otherwise) {
    return all(ballot == (uint4)(0u)) ? otherwise : subgroup_ballot_find_lsb(ballot);
}

#if SUM_BITS == 32 || IN_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}
#endif

#if SUM_BITS == 32
INLINE void publish(const Arguments* args, uint tile, uint flag, uint sum) {
    ((__global volatile uint2*)as_ulong(args->status))[tile] = (parts_of(sum) << (uint2)(2u)) | (uint2)(flag);
}

INLINE uint2 look_at(const Arguments* args, uint tiles_before) {
    uint2 value;
    if (tiles_before == 0u) {
        value = (uint2)(2u);
    } else {
        uint2 value_2 = ((__global volatile uint2*)as_ulong(args->status))[tiles_before - 1u];
        value = value_2;
    }
    return value;
}

INLINE void look_back(const Arguments* args, uint* next, uint* prefix) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    uint back = subgroup_local_id();
    uint2 words;
    while (*next > 0u) {
        uint found = 0u;
        for (uint looks = 0u; looks < PATIENCE && found == 0u; ++looks) {
            words = look_at(args, *next - min(*next, back));
            bool there = agree(words) && (words.x & 3u) != 0u;
            found = first_of(subgroup_ballot(!there), invocations);
        }
        if (found == 0u) return;
        uint whole = first_of(subgroup_ballot(back < found && (words.x & 3u) == 2u), found);
        *prefix = add(*prefix, subgroup_sum(back <= whole && back < found ? from_parts(words >> (uint2)(2u)) : 0u));
        *next = whole < found ? 0u : *next - found;
    }
}

INLINE uint sum_of_tile(const Arguments* args, __local Shared* shared, uint tile) {
    uint2 from = as_uint2((ulong)column32_from(args->values, tile * WORKGROUP * ITEMS));
    uint sum = 0u;
    for (uint i = LOCAL_ID_X; i < WORKGROUP * ITEMS / 4u; i += WORKGROUP) {
        sum = add(sum, sum_of(load_values(from, i)));
    }
    uint all_;
    workgroup_sum(shared, subgroup_sum(sum), &all_);
    return all_;
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64
typedef struct {
    uint2 at[4];
} Sums;

typedef struct {
    uint rest_row;
    Sums rest;
    Values value[8];
    uint2 sum_before[8];
} Globals;

INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}

INLINE void store_all_sums(uint2 to, uint row, Sums sums) {
    bool odd = (subgroup_local_id() & 1u) == 1u;
    uint4 low = (uint4)(sums.at[0].x, sums.at[0].y, sums.at[1].x, sums.at[1].y);
    uint4 high = (uint4)(sums.at[2].x, sums.at[2].y, sums.at[3].x, sums.at[3].y);
    uint4 other = subgroup_shuffle_xor_uint4(odd ? low : high, 1u);
    ((__global uint4*)as_ulong(to))[odd ? row / 2u - 1u : row / 2u] = odd ? other : low;
    ((__global uint4*)as_ulong(to))[odd ? row / 2u + 1u : row / 2u + 2u] = odd ? high : other;
}

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    ((__global uint4*)as_ulong(to))[row / 2u] = (uint4)(sums.at[0].x, sums.at[0].y, sums.at[1].x, sums.at[1].y);
    ((__global uint4*)as_ulong(to))[row / 2u + 1u] = (uint4)(sums.at[2].x, sums.at[2].y, sums.at[3].x, sums.at[3].y);
}

INLINE void store_rest(Globals* globals, uint2 to, uint count) {
    if (globals->rest_row == 0xffffffffu) return;
    __global uint2* column = (__global uint2*)as_ulong(to);
    column[globals->rest_row] = globals->rest.at[0];
    if (count - globals->rest_row > 1u) {
        column[globals->rest_row + 1u] = globals->rest.at[1];
    }
    if (count - globals->rest_row > 2u) {
        column[globals->rest_row + 2u] = globals->rest.at[2];
    }
}
#endif

#if SUM_BITS == 32 || IN_BITS == 32
INLINE void load_tile(Globals* globals, uint2 from, uint count) {
    if (full(count)) {
        UNROLL
        for (uint r = 0u; r < 8u; ++r) {
            if (r < ROUNDS) {
                globals->value[r] = load_values(from, row_of(r) / 4u);
            }
        }
    } else {
        UNROLL
        for (uint r = 0u; r < 8u; ++r) {
            if (r < ROUNDS) {
                globals->value[r] = load_rows(from, row_of(r), count);
            }
        }
    }
}

INLINE void store_rows(Globals* globals, uint2 to, uint row, uint count, Sums sums) {
    if (count - row < 4u) {
        globals->rest = sums;
        globals->rest_row = row;
    } else {
        store_sums(to, row, sums);
    }
}
#endif

#if SUM_BITS == 64
typedef struct {
    uint2 sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
    uint sh_next;
    uint2 sh_prefix;
} Shared;

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

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

INLINE uint3 parts_of(uint2 sum) {
    return limbs(sum);
}

INLINE void publish(const Arguments* args, uint tile, uint flag, uint2 sum) {
    uint3 value = (parts_of(sum) << (uint3)(2u)) | (uint3)(flag);
    ((__global volatile uint3*)as_ulong(args->status))[tile].x = value.x;
    ((__global volatile uint3*)as_ulong(args->status))[tile].y = value.y;
    ((__global volatile uint3*)as_ulong(args->status))[tile].z = value.z;
}

INLINE uint2 subgroup_sum_before(uint2 a) {
    return from_limbs(subgroup_exclusive_add_uint3(limbs(a)));
}

INLINE uint3 look_at(const Arguments* args, uint tiles_before) {
    uint3 value;
    if (tiles_before == 0u) {
        value = (uint3)(2u);
    } else {
        uint3 value_2 = ((__global volatile uint3*)as_ulong(args->status))[tiles_before - 1u];
        value = value_2;
    }
    return value;
}

INLINE bool agree(uint3 words) {
    return (((words.x ^ words.y) | (words.x ^ words.z)) & 3u) == 0u;
}

INLINE uint2 from_parts(uint3 parts) {
    return from_limbs(parts);
}

INLINE void look_back(const Arguments* args, uint* next, uint2* prefix) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    uint back = subgroup_local_id();
    uint3 words;
    while (*next > 0u) {
        uint found = 0u;
        for (uint looks = 0u; looks < PATIENCE && found == 0u; ++looks) {
            words = look_at(args, *next - min(*next, back));
            bool there = agree(words) && (words.x & 3u) != 0u;
            found = first_of(subgroup_ballot(!there), invocations);
        }
        if (found == 0u) return;
        uint whole = first_of(subgroup_ballot(back < found && (words.x & 3u) == 2u), found);
        *prefix = add(*prefix, subgroup_sum(back <= whole && back < found ? from_parts(words >> (uint3)(2u))
                : (uint2)(0u)));
        *next = whole < found ? 0u : *next - found;
    }
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64
INLINE uint2 sum_of(Values rows) {
    uint2 sum = add(widen(rows.at.v[0], (uint2)(0u)), widen(rows.at.v[1], (uint2)(0u)));
    sum = add(sum, add(widen(rows.at.v[2], sum), widen(rows.at.v[3], sum)));
    return sum;
}

INLINE uint2 sum_of_rounds(Globals* globals) {
    uint2 own = (uint2)(0u);
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS) {
            own = add(own, sum_of(globals->value[r]));
        }
    }
    return subgroup_sum(own);
}

INLINE uint2 scan_rounds(Globals* globals) {
    uint2 sum = (uint2)(0u);
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS) {
            uint2 own = sum_of(globals->value[r]);
            uint2 value = add(sum, subgroup_sum_before(own));
            globals->sum_before[r] = value;
            sum = add(sum, subgroup_sum(own));
        }
    }
    return sum;
}

INLINE uint2 sum_of_tile(const Arguments* args, __local Shared* shared, uint tile) {
    uint2 from = as_uint2((ulong)column32_from(args->values, tile * WORKGROUP * ITEMS));
    uint2 sum = (uint2)(0u);
    for (uint i = LOCAL_ID_X; i < WORKGROUP * ITEMS / 4u; i += WORKGROUP) {
        sum = add(sum, sum_of(load_values(from, i)));
    }
    uint2 all_;
    workgroup_sum(shared, subgroup_sum(sum), &all_);
    return all_;
}

INLINE Sums sums_of(Globals* globals, uint r, uint2 before) {
    Sums sums;
    sums.at[0] = add(before, globals->sum_before[r]);
    sums.at[1] = add(sums.at[0], widen(globals->value[r].at.v[0], before));
    sums.at[2] = add(sums.at[1], widen(globals->value[r].at.v[1], before));
    sums.at[3] = add(sums.at[2], widen(globals->value[r].at.v[2], before));
    return sums;
}

INLINE void store_tile(Globals* globals, uint2 to, uint count, uint2 before) {
    if (full(count)) {
        UNROLL
        for (uint r = 0u; r < 8u; ++r) {
            if (r < ROUNDS) {
                store_all_sums(to, row_of(r), sums_of(globals, r, before));
            }
        }
    } else {
        UNROLL
        for (uint r = 0u; r < 8u; ++r) {
            if (r < ROUNDS && row_of(r) < count) {
                store_rows(globals, to, row_of(r), count, sums_of(globals, r, before));
            }
        }
        store_rest(globals, to, count);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->rest_row = 0xffffffffu;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    load_tile(globals, as_uint2((ulong)column32_from(args->values, begin)), count);
    uint2 all_;
    uint2 before = workgroup_sum(shared, sum_of_rounds(globals), &all_);
    uint2 prefix = (uint2)(0u);
    uint next = tile;
    if (LOCAL_ID_X == 0u && tile > 0u) {
        publish(args, tile, 1u, all_);
    }
    scan_rounds(globals);
    while (next > 0u) {
        if (subgroup_id() == 0u) {
            look_back(args, &next, &prefix);
            if (subgroup_elect()) {
                shared->sh_next = next;
                shared->sh_prefix = prefix;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        next = shared->sh_next;
        prefix = shared->sh_prefix;
        if (next > 0u) {
            --next;
            prefix = add(prefix, sum_of_tile(args, shared, next));
        }
    }
    if (LOCAL_ID_X == 0u) {
        publish(args, tile, 2u, add(prefix, all_));
        if (args->total == 1u && tile + 1u == args->tiles) {
            column64_from(args->sums, args->rows)[0] = add(prefix, all_);
        }
    }
    store_tile(globals, as_uint2((ulong)column64_from(args->sums, begin)), count, add(prefix, before));
}
#endif

#if IN_BITS == 64
typedef struct {
    uint2 v[2];
} uint2_array;

typedef struct {
    uint2_array at;
} Sums;

typedef struct {
    uint2_array at;
} Values;

typedef struct {
    uint rest_row;
    Sums rest;
    Values value[16];
    uint2 sum_before[16];
} Globals;

#define ROUNDS ((ITEMS + 2u - 1u) / 2u)

INLINE bool full(uint count) {
    return count == WORKGROUP * ROUNDS * 2u;
}

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ROUNDS + round) * invocations + subgroup_local_id()) * 2u;
}

INLINE Values load_values(uint2 address, uint load) {
    uint4 words = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint2_array){{words.xy, words.zw}}};
}

INLINE Values no_values(void) {
    return (Values){(uint2_array){{(uint2)(0u), (uint2)(0u)}}};
}

INLINE Values load_rows(uint2 from, uint row, uint count) {
    if (row >= count) return no_values();
    Values rows = load_values(from, row / 2u);
    if (count - row < 2u) {
        rows.at.v[1] = (uint2)(0u);
    }
    return rows;
}

INLINE void load_tile(Globals* globals, uint2 from, uint count) {
    if (full(count)) {
        UNROLL
        for (uint r = 0u; r < 16u; ++r) {
            if (r < ROUNDS) {
                globals->value[r] = load_values(from, row_of(r) / 2u);
            }
        }
    } else {
        UNROLL
        for (uint r = 0u; r < 16u; ++r) {
            if (r < ROUNDS) {
                globals->value[r] = load_rows(from, row_of(r), count);
            }
        }
    }
}

INLINE uint2 widen(uint2 a, uint2 like) {
    return a;
}

INLINE uint2 sum_of(Values rows) {
    uint2 sum = add(widen(rows.at.v[0], (uint2)(0u)), widen(rows.at.v[1], (uint2)(0u)));
    return sum;
}

INLINE uint2 sum_of_rounds(Globals* globals) {
    uint2 own = (uint2)(0u);
    UNROLL
    for (uint r = 0u; r < 16u; ++r) {
        if (r < ROUNDS) {
            own = add(own, sum_of(globals->value[r]));
        }
    }
    return subgroup_sum(own);
}

INLINE uint2 scan_rounds(Globals* globals) {
    uint2 sum = (uint2)(0u);
    UNROLL
    for (uint r = 0u; r < 16u; ++r) {
        if (r < ROUNDS) {
            uint2 own = sum_of(globals->value[r]);
            uint2 value = add(sum, subgroup_sum_before(own));
            globals->sum_before[r] = value;
            sum = add(sum, subgroup_sum(own));
        }
    }
    return sum;
}

INLINE uint2 sum_of_tile(const Arguments* args, __local Shared* shared, uint tile) {
    uint2 from = as_uint2((ulong)column64_from(args->values, tile * WORKGROUP * ITEMS));
    uint2 sum = (uint2)(0u);
    for (uint i = LOCAL_ID_X; i < WORKGROUP * ITEMS / 2u; i += WORKGROUP) {
        sum = add(sum, sum_of(load_values(from, i)));
    }
    uint2 all_;
    workgroup_sum(shared, subgroup_sum(sum), &all_);
    return all_;
}

INLINE Sums sums_of(Globals* globals, uint r, uint2 before) {
    Sums sums;
    sums.at.v[0] = add(before, globals->sum_before[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(globals->value[r].at.v[0], before));
    return sums;
}

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    ((__global uint4*)as_ulong(to))[row / 2u] = (uint4)(sums.at.v[0].x, sums.at.v[0].y, sums.at.v[1].x, sums.at.v[1].y);
}

INLINE void store_rows(Globals* globals, uint2 to, uint row, uint count, Sums sums) {
    if (count - row < 2u) {
        globals->rest = sums;
        globals->rest_row = row;
    } else {
        store_sums(to, row, sums);
    }
}

INLINE void store_rest(Globals* globals, uint2 to, uint count) {
    if (globals->rest_row == 0xffffffffu) return;
    __global uint2* column = (__global uint2*)as_ulong(to);
    column[globals->rest_row] = globals->rest.at.v[0];
}
#endif

#if SUM_BITS == 32 || IN_BITS == 64
INLINE void store_all_sums(uint2 to, uint row, Sums sums) {
    store_sums(to, row, sums);
}
#endif

#if SUM_BITS == 32
INLINE void store_tile(Globals* globals, uint2 to, uint count, uint before) {
    if (full(count)) {
        UNROLL
        for (uint r = 0u; r < 8u; ++r) {
            if (r < ROUNDS) {
                store_all_sums(to, row_of(r), sums_of(globals, r, before));
            }
        }
    } else {
        UNROLL
        for (uint r = 0u; r < 8u; ++r) {
            if (r < ROUNDS && row_of(r) < count) {
                store_rows(globals, to, row_of(r), count, sums_of(globals, r, before));
            }
        }
        store_rest(globals, to, count);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->rest_row = 0xffffffffu;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    load_tile(globals, as_uint2((ulong)column32_from(args->values, begin)), count);
    uint all_;
    uint before = workgroup_sum(shared, sum_of_rounds(globals), &all_);
    uint prefix = 0u;
    uint next = tile;
    if (LOCAL_ID_X == 0u && tile > 0u) {
        publish(args, tile, 1u, all_);
    }
    scan_rounds(globals);
    while (next > 0u) {
        if (subgroup_id() == 0u) {
            look_back(args, &next, &prefix);
            if (subgroup_elect()) {
                shared->sh_next = next;
                shared->sh_prefix = prefix;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        next = shared->sh_next;
        prefix = shared->sh_prefix;
        if (next > 0u) {
            --next;
            prefix = add(prefix, sum_of_tile(args, shared, next));
        }
    }
    if (LOCAL_ID_X == 0u) {
        publish(args, tile, 2u, add(prefix, all_));
        if (args->total == 1u && tile + 1u == args->tiles) {
            column32_from(args->sums, args->rows)[0] = add(prefix, all_);
        }
    }
    store_tile(globals, as_uint2((ulong)column32_from(args->sums, begin)), count, add(prefix, before));
}
#endif

#if IN_BITS == 64
INLINE void store_tile(Globals* globals, uint2 to, uint count, uint2 before) {
    if (full(count)) {
        UNROLL
        for (uint r = 0u; r < 16u; ++r) {
            if (r < ROUNDS) {
                store_all_sums(to, row_of(r), sums_of(globals, r, before));
            }
        }
    } else {
        UNROLL
        for (uint r = 0u; r < 16u; ++r) {
            if (r < ROUNDS && row_of(r) < count) {
                store_rows(globals, to, row_of(r), count, sums_of(globals, r, before));
            }
        }
        store_rest(globals, to, count);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->rest_row = 0xffffffffu;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    load_tile(globals, as_uint2((ulong)column64_from(args->values, begin)), count);
    uint2 all_;
    uint2 before = workgroup_sum(shared, sum_of_rounds(globals), &all_);
    uint2 prefix = (uint2)(0u);
    uint next = tile;
    if (LOCAL_ID_X == 0u && tile > 0u) {
        publish(args, tile, 1u, all_);
    }
    scan_rounds(globals);
    while (next > 0u) {
        if (subgroup_id() == 0u) {
            look_back(args, &next, &prefix);
            if (subgroup_elect()) {
                shared->sh_next = next;
                shared->sh_prefix = prefix;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        next = shared->sh_next;
        prefix = shared->sh_prefix;
        if (next > 0u) {
            --next;
            prefix = add(prefix, sum_of_tile(args, shared, next));
        }
    }
    if (LOCAL_ID_X == 0u) {
        publish(args, tile, 2u, add(prefix, all_));
        if (args->total == 1u && tile + 1u == args->tiles) {
            column64_from(args->sums, args->rows)[0] = add(prefix, all_);
        }
    }
    store_tile(globals, as_uint2((ulong)column64_from(args->sums, begin)), count, add(prefix, before));
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void scan_lookback(
    __global uchar* values,
    __global uchar* sums,
    __global uchar* status,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)sums + scalars.sums),
        as_uint2((ulong)status + scalars.status),
        scalars.rows,
        scalars.tiles,
        scalars.total,
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

