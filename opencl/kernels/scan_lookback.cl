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
#pragma OPENCL FP_CONTRACT OFF

#if SUM_BITS == 32 || IN_BITS == 32
typedef struct { uint v[4u]; } uint_x4u;

typedef struct { uint_x4u at; } Values;

typedef struct { Values v[8u]; } Values_x8u;

INLINE bool full(uint count) {
    return count == (WORKGROUP * ((ITEMS + 4u - 1u) / 4u) * 4u);
}

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ((ITEMS + 4u - 1u) / 4u) + round) * invocations + subgroup_local_id()) * 4u;
}

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint_x4u){{words_.x, words_.y, words_.z, words_.w}}};
}

INLINE Values no_values() {
    return (Values){(uint_x4u){{0u, 0u, 0u, 0u}}};
}

INLINE Values load_rows(uint2 from, uint row, uint count) {
    if (row >= count) {
        return no_values();
    }
    Values rows = load_values(from, row / 4u);
    if ((count - row) < 2u) {
        rows.at.v[1] = 0u;
    }
    if ((count - row) < 3u) {
        rows.at.v[2] = 0u;
    }
    if ((count - row) < 4u) {
        rows.at.v[3] = 0u;
    }
    return rows;
}

#endif

#if SUM_BITS == 32
typedef struct { uint_x4u at; } Sums;

typedef struct { uint v[(WORKGROUP + 3u) / 4u]; } uint_xworkgroup_3u_4u;

typedef struct { uint v[8u]; } uint_x8u;

typedef struct {
    uint_xworkgroup_3u_4u sh_subgroup_sum;
    uint sh_next;
    uint sh_prefix;
} Shared;

typedef struct {
    uint rest_row;
    Sums rest;
    Values_x8u value;
    uint_x8u sum_before;
} Own;

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
    uint value = subgroup_add(a);
    return value;
}

INLINE uint sum_of_rounds(Own* own) {
    uint own_ = 0u;
    uint r = 0u;
    UNROLL
    for (; r < 8u; r = r + 1) {
        if (r < ((ITEMS + 4u - 1u) / 4u)) {
            own_ = add(own_, sum_of(own->value.v[r]));
        }
    }
    return subgroup_sum(own_);
}

INLINE uint workgroup_sum(__local Shared* shared, uint own_, uint* all) {
    bool value = subgroup_elect();
    if (value) {
        shared->sh_subgroup_sum.v[subgroup_id()] = own_;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    *all = 0u;
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before = *all;
        }
        *all = add(*all, shared->sh_subgroup_sum.v[s]);
    }
    return before;
}

INLINE uint2 parts_of(uint sum) {
    return (uint2)(sum & 65535u, sum >> 16);
}

INLINE uint subgroup_sum_before(uint a) {
    uint value = subgroup_exclusive_add(a);
    return value;
}

INLINE uint scan_rounds(Own* own) {
    uint sum = 0u;
    uint r = 0u;
    UNROLL
    for (; r < 8u; r = r + 1) {
        if (r < ((ITEMS + 4u - 1u) / 4u)) {
            uint own_ = sum_of(own->value.v[r]);
            own->sum_before.v[r] = add(sum, subgroup_sum_before(own_));
            sum = add(sum, subgroup_sum(own_));
        }
    }
    return sum;
}

INLINE bool agree(uint2 words_) {
    return ((words_.x ^ words_.y) & 3u) == 0u;
}

INLINE uint from_parts(uint2 parts) {
    return (parts.y << 16) | parts.x;
}

INLINE Sums sums_of(Own* own, uint r, uint before) {
    Sums sums;
    sums.at.v[0] = add(before, own->sum_before.v[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(own->value.v[r].at.v[0], before));
    sums.at.v[2] = add(sums.at.v[1], widen(own->value.v[r].at.v[1], before));
    sums.at.v[3] = add(sums.at.v[2], widen(own->value.v[r].at.v[2], before));
    return sums;
}

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    ((__global uint4*)as_ulong(to))[row / 4u] = (uint4)(sums.at.v[0], sums.at.v[1], sums.at.v[2], sums.at.v[3]);
}

INLINE void store_rest(Own* own, uint2 to, uint count) {
    if (own->rest_row == 4294967295u) {
        return;
    }
    __global uint* column = (__global uint*)as_ulong(to);
    column[own->rest_row] = own->rest.at.v[0];
    if ((count - own->rest_row) > 1u) {
        column[own->rest_row + 1u] = own->rest.at.v[1];
    }
    if ((count - own->rest_row) > 2u) {
        column[own->rest_row + 2u] = own->rest.at.v[2];
    }
}

#endif

typedef struct { uint2 values; uint2 sums; uint2 status; uint rows; uint tiles; uint total; uint first_group; uint end_group; } Push;

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

INLINE uint first_of(uint4 ballot, uint otherwise) {
    uint variable;
    if (all(ballot == (uint4)(0u))) {
        variable = otherwise;
    } else {
        uint value = subgroup_ballot_find_lsb(ballot);
        variable = value;
    }
    return variable;
}

#if SUM_BITS == 32 || IN_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#endif

#if SUM_BITS == 32
INLINE void publish(const Push* push, uint tile, uint flag, uint sum) {
    uint value = flag;
    ((__global volatile uint2*)as_ulong(push->status))[tile] = (parts_of(sum) << (uint2)(2u)) | (uint2)(value, value);
}

INLINE uint2 look_at(const Push* push, uint tiles_before) {
    uint2 variable;
    if (tiles_before == 0u) {
        variable = (uint2)(2u);
    } else {
        uint2 value = ((__global volatile uint2*)as_ulong(push->status))[tiles_before - 1u];
        variable = value;
    }
    return variable;
}

INLINE void look_back(const Push* push, uint* next, uint* prefix) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    uint back = subgroup_local_id();
    uint2 words_;
    uint variable;
    uint variable_2;
    while ((*next) > 0u) {
        uint found = 0u;
        uint looks = 0u;
        for (; (looks < PATIENCE) && (found == 0u); looks = looks + 1) {
            words_ = look_at(push, *next - min(*next, back));
            bool there = agree(words_) && (words_.x & 3u) != 0u;
            uint4 value = subgroup_ballot(!there);
            found = first_of(value, invocations);
        }
        if (found == 0u) {
            return;
        }
        uint4 value_2 = subgroup_ballot(back < found && (words_.x & 3u) == 2u);
        uint whole = first_of(value_2, found);
        if ((back <= whole) && (back < found)) {
            variable = from_parts(words_ >> (uint2)(2u));
        } else {
            variable = 0u;
        }
        *prefix = add(*prefix, subgroup_sum(variable));
        if (whole < found) {
            variable_2 = 0u;
        } else {
            variable_2 = *next - found;
        }
        *next = variable_2;
    }
}

INLINE uint sum_of_tile(const Push* push, __local Shared* shared, uint tile) {
    uint2 from = as_uint2((ulong)column32_from(push->values, tile * WORKGROUP * ITEMS));
    uint sum = 0u;
    uint i = LOCAL_ID_X;
    for (; i < (WORKGROUP * ITEMS / 4u); i = i + WORKGROUP) {
        sum = add(sum, sum_of(load_values(from, i)));
    }
    uint param_10;
    workgroup_sum(shared, subgroup_sum(sum), &param_10);
    uint all = param_10;
    return all;
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64
typedef struct { uint2 v[4u]; } uint2_x4u;

typedef struct { uint2_x4u at; } Sums;

typedef struct { uint2 v[8u]; } uint2_x8u;

typedef struct {
    uint rest_row;
    Sums rest;
    Values_x8u value;
    uint2_x8u sum_before;
} Own;

INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}

INLINE void store_all_sums(uint2 to, uint row, Sums sums) {
    bool odd = (subgroup_local_id() & 1u) == 1u;
    uint2 value = sums.at.v[0];
    uint2 value_2 = sums.at.v[1];
    uint4 low = (uint4)(value.x, value.y, value_2.x, value_2.y);
    uint2 value_3 = sums.at.v[2];
    uint2 value_4 = sums.at.v[3];
    uint4 high = (uint4)(value_3.x, value_3.y, value_4.x, value_4.y);
    uint4 value_5 = subgroup_shuffle_xor_uint4(odd ? low : high, 1u);
    uint4 other = value_5;
    __global uint4* value_6 = (__global uint4*)as_ulong(to);
    uint variable;
    if (odd) {
        variable = row / 2u - 1u;
    } else {
        variable = row / 2u;
    }
    value_6[variable] = odd ? other : low;
    __global uint4* value_7 = (__global uint4*)as_ulong(to);
    uint variable_2;
    if (odd) {
        variable_2 = row / 2u + 1u;
    } else {
        variable_2 = row / 2u + 2u;
    }
    value_7[variable_2] = odd ? high : other;
}

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    uint2 value = sums.at.v[0];
    uint2 value_2 = sums.at.v[1];
    ((__global uint4*)as_ulong(to))[row / 2u] = (uint4)(value.x, value.y, value_2.x, value_2.y);
    uint2 value_3 = sums.at.v[2];
    uint2 value_4 = sums.at.v[3];
    ((__global uint4*)as_ulong(to))[row / 2u + 1u] = (uint4)(value_3.x, value_3.y, value_4.x, value_4.y);
}

INLINE void store_rest(Own* own, uint2 to, uint count) {
    if (own->rest_row == 4294967295u) {
        return;
    }
    __global uint2* column = (__global uint2*)as_ulong(to);
    column[own->rest_row] = own->rest.at.v[0];
    if ((count - own->rest_row) > 1u) {
        column[own->rest_row + 1u] = own->rest.at.v[1];
    }
    if ((count - own->rest_row) > 2u) {
        column[own->rest_row + 2u] = own->rest.at.v[2];
    }
}

#endif

#if SUM_BITS == 32 || IN_BITS == 32
INLINE void load_tile(Own* own, uint2 from, uint count) {
    if (full(count)) {
        uint r = 0u;
        UNROLL
        for (; r < 8u; r = r + 1) {
            if (r < ((ITEMS + 4u - 1u) / 4u)) {
                own->value.v[r] = load_values(from, row_of(r) / 4u);
            }
        }
    } else {
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 8u; r_2 = r_2 + 1) {
            if (r_2 < ((ITEMS + 4u - 1u) / 4u)) {
                own->value.v[r_2] = load_rows(from, row_of(r_2), count);
            }
        }
    }
}

INLINE void store_rows(Own* own, uint2 to, uint row, uint count, Sums sums) {
    if ((count - row) < 4u) {
        own->rest = sums;
        own->rest_row = row;
    } else {
        store_sums(to, row, sums);
    }
}

#endif

#if SUM_BITS == 64
typedef struct { uint2 v[(WORKGROUP + 3u) / 4u]; } uint2_xworkgroup_3u_4u;

typedef struct {
    uint2_xworkgroup_3u_4u sh_subgroup_sum;
    uint sh_next;
    uint2 sh_prefix;
} Shared;

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

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

INLINE uint3 parts_of(uint2 sum) {
    return limbs(sum);
}

INLINE void publish(const Push* push, uint tile, uint flag, uint2 sum) {
    uint value = flag;
    ((__global volatile uint3*)as_ulong(push->status))[tile] = (parts_of(sum) << (uint3)(2u)) | (uint3)(value, value, value);
}

INLINE uint2 subgroup_sum_before(uint2 a) {
    uint3 value = subgroup_exclusive_add_uint3(limbs(a));
    return from_limbs(value);
}

INLINE uint3 look_at(const Push* push, uint tiles_before) {
    uint3 variable;
    if (tiles_before == 0u) {
        variable = (uint3)(2u);
    } else {
        uint3 value = ((__global volatile uint3*)as_ulong(push->status))[tiles_before - 1u];
        variable = value;
    }
    return variable;
}

INLINE bool agree(uint3 words_) {
    return (((words_.x ^ words_.y) | (words_.x ^ words_.z)) & 3u) == 0u;
}

INLINE uint2 from_parts(uint3 parts) {
    return from_limbs(parts);
}

INLINE void look_back(const Push* push, uint* next, uint2* prefix) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    uint back = subgroup_local_id();
    uint3 words_;
    uint2 variable;
    uint variable_2;
    while ((*next) > 0u) {
        uint found = 0u;
        uint looks = 0u;
        for (; (looks < PATIENCE) && (found == 0u); looks = looks + 1) {
            words_ = look_at(push, *next - min(*next, back));
            bool there = agree(words_) && (words_.x & 3u) != 0u;
            uint4 value = subgroup_ballot(!there);
            found = first_of(value, invocations);
        }
        if (found == 0u) {
            return;
        }
        uint4 value_2 = subgroup_ballot(back < found && (words_.x & 3u) == 2u);
        uint whole = first_of(value_2, found);
        if ((back <= whole) && (back < found)) {
            variable = from_parts(words_ >> (uint3)(2u));
        } else {
            variable = (uint2)(0u);
        }
        *prefix = add(*prefix, subgroup_sum(variable));
        if (whole < found) {
            variable_2 = 0u;
        } else {
            variable_2 = *next - found;
        }
        *next = variable_2;
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

INLINE uint2 sum_of_rounds(Own* own) {
    uint2 own_ = (uint2)(0u);
    uint r = 0u;
    UNROLL
    for (; r < 8u; r = r + 1) {
        if (r < ((ITEMS + 4u - 1u) / 4u)) {
            own_ = add(own_, sum_of(own->value.v[r]));
        }
    }
    return subgroup_sum(own_);
}

INLINE uint2 scan_rounds(Own* own) {
    uint2 sum = (uint2)(0u);
    uint r = 0u;
    UNROLL
    for (; r < 8u; r = r + 1) {
        if (r < ((ITEMS + 4u - 1u) / 4u)) {
            uint2 own_ = sum_of(own->value.v[r]);
            own->sum_before.v[r] = add(sum, subgroup_sum_before(own_));
            sum = add(sum, subgroup_sum(own_));
        }
    }
    return sum;
}

INLINE uint2 sum_of_tile(const Push* push, __local Shared* shared, uint tile) {
    uint2 from = as_uint2((ulong)column32_from(push->values, tile * WORKGROUP * ITEMS));
    uint2 sum = (uint2)(0u);
    uint i = LOCAL_ID_X;
    for (; i < (WORKGROUP * ITEMS / 4u); i = i + WORKGROUP) {
        sum = add(sum, sum_of(load_values(from, i)));
    }
    uint2 param_10;
    workgroup_sum(shared, subgroup_sum(sum), &param_10);
    uint2 all = param_10;
    return all;
}

INLINE Sums sums_of(Own* own, uint r, uint2 before) {
    Sums sums;
    sums.at.v[0] = add(before, own->sum_before.v[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(own->value.v[r].at.v[0], before));
    sums.at.v[2] = add(sums.at.v[1], widen(own->value.v[r].at.v[1], before));
    sums.at.v[3] = add(sums.at.v[2], widen(own->value.v[r].at.v[2], before));
    return sums;
}

INLINE void store_tile(Own* own, uint2 to, uint count, uint2 before) {
    if (full(count)) {
        uint r = 0u;
        UNROLL
        for (; r < 8u; r = r + 1) {
            if (r < ((ITEMS + 4u - 1u) / 4u)) {
                store_all_sums(to, row_of(r), sums_of(own, r, before));
            }
        }
    } else {
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 8u; r_2 = r_2 + 1) {
            if (r_2 < ((ITEMS + 4u - 1u) / 4u) && row_of(r_2) < count) {
                store_rows(own, to, row_of(r_2), count, sums_of(own, r_2, before));
            }
        }
        store_rest(own, to, count);
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->rest_row = 4294967295u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    load_tile(own, as_uint2((ulong)column32_from(push->values, begin)), count);
    uint2 param_9;
    uint2 value = workgroup_sum(shared, sum_of_rounds(own), &param_9);
    uint2 all = param_9;
    uint2 before = value;
    uint2 prefix = (uint2)(0u);
    uint next = tile;
    if ((LOCAL_ID_X == 0u) && (tile > 0u)) {
        publish(push, tile, 1u, all);
    }
    scan_rounds(own);
    while (next > 0u) {
        if (subgroup_id() == 0u) {
            uint param_13 = next;
            uint2 param_14 = prefix;
            look_back(push, &param_13, &param_14);
            next = param_13;
            prefix = param_14;
            bool value_2 = subgroup_elect();
            if (value_2) {
                shared->sh_next = next;
                shared->sh_prefix = prefix;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        next = shared->sh_next;
        prefix = shared->sh_prefix;
        if (next > 0u) {
            next = next - 1;
            uint2 value_3 = sum_of_tile(push, shared, next);
            prefix = add(prefix, value_3);
        }
    }
    if (LOCAL_ID_X == 0u) {
        publish(push, tile, 2u, add(prefix, all));
        if (push->total == 1u && (tile + 1u) == push->tiles) {
            column64_from(push->sums, push->rows)[0] = add(prefix, all);
        }
    }
    store_tile(own, as_uint2((ulong)column64_from(push->sums, begin)), count, add(prefix, before));
}

#endif

#if IN_BITS == 64
typedef struct { uint2 v[2u]; } uint2_x2u;

typedef struct { uint2_x2u at; } Sums;

typedef struct { uint2_x2u at; } Values;

typedef struct { Values v[16u]; } Values_x16u;

typedef struct { uint2 v[16u]; } uint2_x16u;

typedef struct {
    uint rest_row;
    Sums rest;
    Values_x16u value;
    uint2_x16u sum_before;
} Own;

INLINE bool full(uint count) {
    return count == (WORKGROUP * ((ITEMS + 2u - 1u) / 2u) * 2u);
}

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ((ITEMS + 2u - 1u) / 2u) + round) * invocations + subgroup_local_id()) * 2u;
}

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    uint4 value = words_;
    uint4 value_2 = words_;
    return (Values){(uint2_x2u){{value.xy, value_2.zw}}};
}

INLINE Values no_values() {
    return (Values){(uint2_x2u){{(uint2)(0u), (uint2)(0u)}}};
}

INLINE Values load_rows(uint2 from, uint row, uint count) {
    if (row >= count) {
        return no_values();
    }
    Values rows = load_values(from, row / 2u);
    if ((count - row) < 2u) {
        rows.at.v[1] = (uint2)(0u);
    }
    return rows;
}

INLINE void load_tile(Own* own, uint2 from, uint count) {
    if (full(count)) {
        uint r = 0u;
        UNROLL
        for (; r < 16u; r = r + 1) {
            if (r < ((ITEMS + 2u - 1u) / 2u)) {
                own->value.v[r] = load_values(from, row_of(r) / 2u);
            }
        }
    } else {
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 16u; r_2 = r_2 + 1) {
            if (r_2 < ((ITEMS + 2u - 1u) / 2u)) {
                own->value.v[r_2] = load_rows(from, row_of(r_2), count);
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

INLINE uint2 sum_of_rounds(Own* own) {
    uint2 own_ = (uint2)(0u);
    uint r = 0u;
    UNROLL
    for (; r < 16u; r = r + 1) {
        if (r < ((ITEMS + 2u - 1u) / 2u)) {
            own_ = add(own_, sum_of(own->value.v[r]));
        }
    }
    return subgroup_sum(own_);
}

INLINE uint2 scan_rounds(Own* own) {
    uint2 sum = (uint2)(0u);
    uint r = 0u;
    UNROLL
    for (; r < 16u; r = r + 1) {
        if (r < ((ITEMS + 2u - 1u) / 2u)) {
            uint2 own_ = sum_of(own->value.v[r]);
            own->sum_before.v[r] = add(sum, subgroup_sum_before(own_));
            sum = add(sum, subgroup_sum(own_));
        }
    }
    return sum;
}

INLINE uint2 sum_of_tile(const Push* push, __local Shared* shared, uint tile) {
    uint2 from = as_uint2((ulong)column64_from(push->values, tile * WORKGROUP * ITEMS));
    uint2 sum = (uint2)(0u);
    uint i = LOCAL_ID_X;
    for (; i < (WORKGROUP * ITEMS / 2u); i = i + WORKGROUP) {
        sum = add(sum, sum_of(load_values(from, i)));
    }
    uint2 param_10;
    workgroup_sum(shared, subgroup_sum(sum), &param_10);
    uint2 all = param_10;
    return all;
}

INLINE Sums sums_of(Own* own, uint r, uint2 before) {
    Sums sums;
    sums.at.v[0] = add(before, own->sum_before.v[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(own->value.v[r].at.v[0], before));
    return sums;
}

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    uint2 value = sums.at.v[0];
    uint2 value_2 = sums.at.v[1];
    ((__global uint4*)as_ulong(to))[row / 2u] = (uint4)(value.x, value.y, value_2.x, value_2.y);
}

INLINE void store_rows(Own* own, uint2 to, uint row, uint count, Sums sums) {
    if ((count - row) < 2u) {
        own->rest = sums;
        own->rest_row = row;
    } else {
        store_sums(to, row, sums);
    }
}

INLINE void store_rest(Own* own, uint2 to, uint count) {
    if (own->rest_row == 4294967295u) {
        return;
    }
    __global uint2* column = (__global uint2*)as_ulong(to);
    column[own->rest_row] = own->rest.at.v[0];
}

#endif

#if SUM_BITS == 32 || IN_BITS == 64
INLINE void store_all_sums(uint2 to, uint row, Sums sums) {
    store_sums(to, row, sums);
}

#endif

#if SUM_BITS == 32
INLINE void store_tile(Own* own, uint2 to, uint count, uint before) {
    if (full(count)) {
        uint r = 0u;
        UNROLL
        for (; r < 8u; r = r + 1) {
            if (r < ((ITEMS + 4u - 1u) / 4u)) {
                store_all_sums(to, row_of(r), sums_of(own, r, before));
            }
        }
    } else {
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 8u; r_2 = r_2 + 1) {
            if (r_2 < ((ITEMS + 4u - 1u) / 4u) && row_of(r_2) < count) {
                store_rows(own, to, row_of(r_2), count, sums_of(own, r_2, before));
            }
        }
        store_rest(own, to, count);
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->rest_row = 4294967295u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    load_tile(own, as_uint2((ulong)column32_from(push->values, begin)), count);
    uint param_9;
    uint value = workgroup_sum(shared, sum_of_rounds(own), &param_9);
    uint all = param_9;
    uint before = value;
    uint prefix = 0u;
    uint next = tile;
    if ((LOCAL_ID_X == 0u) && (tile > 0u)) {
        publish(push, tile, 1u, all);
    }
    scan_rounds(own);
    while (next > 0u) {
        if (subgroup_id() == 0u) {
            uint param_13 = next;
            uint param_14 = prefix;
            look_back(push, &param_13, &param_14);
            next = param_13;
            prefix = param_14;
            bool value_2 = subgroup_elect();
            if (value_2) {
                shared->sh_next = next;
                shared->sh_prefix = prefix;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        next = shared->sh_next;
        prefix = shared->sh_prefix;
        if (next > 0u) {
            next = next - 1;
            uint value_3 = sum_of_tile(push, shared, next);
            prefix = add(prefix, value_3);
        }
    }
    if (LOCAL_ID_X == 0u) {
        publish(push, tile, 2u, add(prefix, all));
        if (push->total == 1u && (tile + 1u) == push->tiles) {
            column32_from(push->sums, push->rows)[0] = add(prefix, all);
        }
    }
    store_tile(own, as_uint2((ulong)column32_from(push->sums, begin)), count, add(prefix, before));
}

#endif

#if IN_BITS == 64
INLINE void store_tile(Own* own, uint2 to, uint count, uint2 before) {
    if (full(count)) {
        uint r = 0u;
        UNROLL
        for (; r < 16u; r = r + 1) {
            if (r < ((ITEMS + 2u - 1u) / 2u)) {
                store_all_sums(to, row_of(r), sums_of(own, r, before));
            }
        }
    } else {
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 16u; r_2 = r_2 + 1) {
            if (r_2 < ((ITEMS + 2u - 1u) / 2u) && row_of(r_2) < count) {
                store_rows(own, to, row_of(r_2), count, sums_of(own, r_2, before));
            }
        }
        store_rest(own, to, count);
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->rest_row = 4294967295u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    load_tile(own, as_uint2((ulong)column64_from(push->values, begin)), count);
    uint2 param_9;
    uint2 value = workgroup_sum(shared, sum_of_rounds(own), &param_9);
    uint2 all = param_9;
    uint2 before = value;
    uint2 prefix = (uint2)(0u);
    uint next = tile;
    if ((LOCAL_ID_X == 0u) && (tile > 0u)) {
        publish(push, tile, 1u, all);
    }
    scan_rounds(own);
    while (next > 0u) {
        if (subgroup_id() == 0u) {
            uint param_13 = next;
            uint2 param_14 = prefix;
            look_back(push, &param_13, &param_14);
            next = param_13;
            prefix = param_14;
            bool value_2 = subgroup_elect();
            if (value_2) {
                shared->sh_next = next;
                shared->sh_prefix = prefix;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        next = shared->sh_next;
        prefix = shared->sh_prefix;
        if (next > 0u) {
            next = next - 1;
            uint2 value_3 = sum_of_tile(push, shared, next);
            prefix = add(prefix, value_3);
        }
    }
    if (LOCAL_ID_X == 0u) {
        publish(push, tile, 2u, add(prefix, all));
        if (push->total == 1u && (tile + 1u) == push->tiles) {
            column64_from(push->sums, push->rows)[0] = add(prefix, all);
        }
    }
    store_tile(own, as_uint2((ulong)column64_from(push->sums, begin)), count, add(prefix, before));
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void scan_lookback(__global uchar* values, __global uchar* sums, __global uchar* status, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)sums + words.sums),
        as_uint2((ulong)status + words.status),
        words.rows,
        words.tiles,
        words.total,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

