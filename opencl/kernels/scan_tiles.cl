// Kernel scan_tiles in OpenCL C 1.2, translated from shaders/scan_tiles.comp by make generate; do not edit.
// Variants:
//   in_bits=32 sum_bits=32 serial=0 shared=0
//   in_bits=32 sum_bits=32 serial=0 shared=1
//   in_bits=32 sum_bits=32 serial=1 shared=0
//   in_bits=32 sum_bits=64 serial=0 shared=0
//   in_bits=32 sum_bits=64 serial=0 shared=1
//   in_bits=32 sum_bits=64 serial=1 shared=0
//   in_bits=64 sum_bits=64 serial=0 shared=0
//   in_bits=64 sum_bits=64 serial=0 shared=1
//   in_bits=64 sum_bits=64 serial=1 shared=0

#ifndef SUBGROUPS
#if SERIAL == 0 && SHARED == 0
#error "scan_tiles: this variant needs subgroups"
#endif
#endif

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 values; uint2 tile_prefix; uint2 sums; uint rows; uint tiles; uint total; uint first_group; uint end_group; } Push;

INLINE uint rows_left(uint rows, uint first, uint size) {
    uint variable;
    if (first < rows) {
        variable = min(size, rows - first);
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

#if (SUM_BITS == 32 && SERIAL == 0) || (IN_BITS == 32 && SERIAL == 0)
typedef struct { uint v[4u]; } uint_x4u;

typedef struct { uint_x4u at; } Values;

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

#if SUM_BITS == 32 && SERIAL == 0
typedef struct { uint_x4u at; } Sums;

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    ((__global uint4*)as_ulong(to))[row / 4u] = (uint4)(sums.at.v[0], sums.at.v[1], sums.at.v[2], sums.at.v[3]);
}

#endif

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
typedef struct { uint v[(WORKGROUP + 3u) / 4u]; } uint_xworkgroup_3u_4u;

typedef struct { uint v[8u]; } uint_x8u;

typedef struct {
    uint_xworkgroup_3u_4u sh_subgroup_sum;
} Shared;

INLINE uint subgroup_sum_before(uint a) {
    uint value = subgroup_exclusive_add(a);
    return value;
}

INLINE uint subgroup_sum(uint a) {
    uint value = subgroup_add(a);
    return value;
}

#endif

#if (SUM_BITS == 32 && SERIAL == 0 && SHARED == 0) || (IN_BITS == 32 && SERIAL == 0 && SHARED == 0)
typedef struct { Values v[8u]; } Values_x8u;

INLINE bool full(uint count) {
    return count == (WORKGROUP * ((ITEMS + 4u - 1u) / 4u) * 4u);
}

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ((ITEMS + 4u - 1u) / 4u) + round) * invocations + subgroup_local_id()) * 4u;
}

#endif

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint rest_row;
    Sums rest;
    Values_x8u value;
    uint_x8u sum_before;
} Own;

#endif

#if SUM_BITS == 32 || IN_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#endif

#if SUM_BITS == 32
INLINE uint prefix_of(const Push* push, uint tile) {
    uint variable;
    if (absent(push->tile_prefix)) {
        variable = 0u;
    } else {
        variable = column32_from(push->tile_prefix, tile)[0];
    }
    return variable;
}

INLINE uint widen(uint a, uint like) {
    return a;
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

INLINE void write_total(const Push* push, uint tile, uint sum) {
    if (push->total == 1u && (tile + 1u) == push->tiles) {
        column32_from(push->sums, push->rows)[0] = sum;
    }
}

#endif

#if SUM_BITS == 32 && SERIAL == 0
INLINE uint sum_of(Values rows) {
    uint sum = add(widen(rows.at.v[0], 0u), widen(rows.at.v[1], 0u));
    sum = add(sum, add(widen(rows.at.v[2], sum), widen(rows.at.v[3], sum)));
    return sum;
}

#endif

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
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

INLINE Sums sums_of(Own* own, uint r, uint before) {
    Sums sums;
    sums.at.v[0] = add(before, own->sum_before.v[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(own->value.v[r].at.v[0], before));
    sums.at.v[2] = add(sums.at.v[1], widen(own->value.v[r].at.v[1], before));
    sums.at.v[3] = add(sums.at.v[2], widen(own->value.v[r].at.v[2], before));
    return sums;
}

#endif

#if SUM_BITS == 32 && SHARED == 1
typedef struct { uint v[4u * WORKGROUP]; } uint_x4u_workgroup;

typedef struct {
    uint_x4u_workgroup sh_scanned;
} Shared;

INLINE void put_scanned(__local Shared* shared, uint at, uint value) {
    shared->sh_scanned.v[at] = value;
}

INLINE uint scanned(__local Shared* shared, uint at) {
    return shared->sh_scanned.v[at];
}

INLINE uint workgroup_scan(__local Shared* shared, uint* own_, uint* all) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, *own_);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint step = 1u;
    for (; step < WORKGROUP; step = step * 2u) {
        if (LOCAL_ID_X >= step) {
            *own_ = add(scanned(shared, side + LOCAL_ID_X - step), *own_);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, *own_);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) {
        return 0u;
    }
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

INLINE uint scan_portion(__local Shared* shared, uint before, uint_x4u* held) {
    uint sum = 0u;
    uint r = 0u;
    UNROLL
    for (; r < 4u; r = r + 1) {
        put_scanned(shared, r * WORKGROUP + LOCAL_ID_X, (*held).v[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = 0u;
    uint_x4u own_;
    UNROLL
    for (; k < 4u; k = k + 1) {
        own_.v[k] = scanned(shared, 4u * LOCAL_ID_X + k);
        sum = add(sum, own_.v[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint param_6 = sum;
    uint param_7;
    uint value = workgroup_scan(shared, &param_6, &param_7);
    uint all = param_7;
    uint at = value;
    at = add(before, at);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < 4u; k_2 = k_2 + 1) {
        put_scanned(shared, 4u * LOCAL_ID_X + k_2, at);
        at = add(at, own_.v[k_2]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint r_2 = 0u;
    UNROLL
    for (; r_2 < 4u; r_2 = r_2 + 1) {
        (*held).v[r_2] = scanned(shared, r_2 * WORKGROUP + LOCAL_ID_X);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return add(before, all);
}

#endif

#if (SUM_BITS == 32 && SHARED == 1) || (IN_BITS == 32 && SHARED == 1)
INLINE uint row_of(uint round) {
    return (round * WORKGROUP + LOCAL_ID_X) * 4u;
}

#endif

#if SUM_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint* from = column32_from(push->values, begin);
    __global uint* to = column32_from(push->sums, begin);
    uint sum = prefix_of(push, tile);
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint value = widen(from[i], 0u);
        to[i] = sum;
        sum = add(sum, value);
    }
    write_total(push, tile, sum);
}

#endif

#if (IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0) || (SUM_BITS == 64 && SHARED == 1)
typedef struct { uint2 v[4u]; } uint2_x4u;

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0
typedef struct { uint2_x4u at; } Sums;

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    uint2 value = sums.at.v[0];
    uint2 value_2 = sums.at.v[1];
    ((__global uint4*)as_ulong(to))[row / 2u] = (uint4)(value.x, value.y, value_2.x, value_2.y);
    uint2 value_3 = sums.at.v[2];
    uint2 value_4 = sums.at.v[3];
    ((__global uint4*)as_ulong(to))[row / 2u + 1u] = (uint4)(value_3.x, value_3.y, value_4.x, value_4.y);
}

#endif

#if SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct { uint2 v[(WORKGROUP + 3u) / 4u]; } uint2_xworkgroup_3u_4u;

typedef struct {
    uint2_xworkgroup_3u_4u sh_subgroup_sum;
} Shared;

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 4194303u, (a.x >> 22) | ((a.y & 4095u) << 10), a.y >> 12);
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct { uint2 v[8u]; } uint2_x8u;

typedef struct {
    uint rest_row;
    Sums rest;
    Values_x8u value;
    uint2_x8u sum_before;
} Own;

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

#endif

#if (SUM_BITS == 32 && SERIAL == 0 && SHARED == 0) || (IN_BITS == 32 && SERIAL == 0 && SHARED == 0)
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

#endif

#if SUM_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 prefix_of(const Push* push, uint tile) {
    uint2 variable;
    if (absent(push->tile_prefix)) {
        variable = (uint2)(0u);
    } else {
        variable = column64_from(push->tile_prefix, tile)[0];
    }
    return variable;
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE void write_total(const Push* push, uint tile, uint2 sum) {
    if (push->total == 1u && (tile + 1u) == push->tiles) {
        column64_from(push->sums, push->rows)[0] = sum;
    }
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64
INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0
INLINE uint2 sum_of(Values rows) {
    uint2 sum = add(widen(rows.at.v[0], (uint2)(0u)), widen(rows.at.v[1], (uint2)(0u)));
    sum = add(sum, add(widen(rows.at.v[2], sum), widen(rows.at.v[3], sum)));
    return sum;
}

#endif

#if SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
INLINE uint2 from_limbs(uint3 limb) {
    uint2 sum = add((uint2)(limb.x, 0u), (uint2)(limb.y << 22, limb.y >> 10));
    return (uint2)(sum.x, sum.y + (limb.z << 12));
}

INLINE uint2 subgroup_sum_before(uint2 a) {
    uint3 value = subgroup_exclusive_add_uint3(limbs(a));
    return from_limbs(value);
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

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
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

INLINE Sums sums_of(Own* own, uint r, uint2 before) {
    Sums sums;
    sums.at.v[0] = add(before, own->sum_before.v[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(own->value.v[r].at.v[0], before));
    sums.at.v[2] = add(sums.at.v[1], widen(own->value.v[r].at.v[1], before));
    sums.at.v[3] = add(sums.at.v[2], widen(own->value.v[r].at.v[2], before));
    return sums;
}

#endif

#if SUM_BITS == 64 && SHARED == 1
typedef struct { uint2 v[4u * WORKGROUP]; } uint2_x4u_workgroup;

typedef struct {
    uint2_x4u_workgroup sh_scanned;
} Shared;

INLINE void put_scanned(__local Shared* shared, uint at, uint2 value) {
    shared->sh_scanned.v[at] = value;
}

INLINE uint2 scanned(__local Shared* shared, uint at) {
    return shared->sh_scanned.v[at];
}

INLINE uint2 workgroup_scan(__local Shared* shared, uint2* own_, uint2* all) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, *own_);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint step = 1u;
    for (; step < WORKGROUP; step = step * 2u) {
        if (LOCAL_ID_X >= step) {
            *own_ = add(scanned(shared, side + LOCAL_ID_X - step), *own_);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, *own_);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) {
        return (uint2)(0u);
    }
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

INLINE uint2 scan_portion(__local Shared* shared, uint2 before, uint2_x4u* held) {
    uint2 sum = (uint2)(0u);
    uint r = 0u;
    UNROLL
    for (; r < 4u; r = r + 1) {
        put_scanned(shared, r * WORKGROUP + LOCAL_ID_X, (*held).v[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = 0u;
    uint2_x4u own_;
    UNROLL
    for (; k < 4u; k = k + 1) {
        own_.v[k] = scanned(shared, 4u * LOCAL_ID_X + k);
        sum = add(sum, own_.v[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 param_6 = sum;
    uint2 param_7;
    uint2 value = workgroup_scan(shared, &param_6, &param_7);
    uint2 all = param_7;
    uint2 at = value;
    at = add(before, at);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < 4u; k_2 = k_2 + 1) {
        put_scanned(shared, 4u * LOCAL_ID_X + k_2, at);
        at = add(at, own_.v[k_2]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint r_2 = 0u;
    UNROLL
    for (; r_2 < 4u; r_2 = r_2 + 1) {
        (*held).v[r_2] = scanned(shared, r_2 * WORKGROUP + LOCAL_ID_X);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return add(before, all);
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint* from = column32_from(push->values, begin);
    __global uint2* to = column64_from(push->sums, begin);
    uint2 sum = prefix_of(push, tile);
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint2 value = widen(from[i], (uint2)(0u));
        to[i] = sum;
        sum = add(sum, value);
    }
    write_total(push, tile, sum);
}

#endif

#if IN_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[2u]; } uint2_x2u;

typedef struct { uint2_x2u at; } Sums;

typedef struct { uint2_x2u at; } Values;

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

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    uint2 value = sums.at.v[0];
    uint2 value_2 = sums.at.v[1];
    ((__global uint4*)as_ulong(to))[row / 2u] = (uint4)(value.x, value.y, value_2.x, value_2.y);
}

#endif

#if (SUM_BITS == 32 && SERIAL == 0 && SHARED == 0) || (IN_BITS == 64 && SERIAL == 0 && SHARED == 0)
INLINE void store_all_sums(uint2 to, uint row, Sums sums) {
    store_sums(to, row, sums);
}

#endif

#if SHARED == 1
typedef struct { Values v[4u]; } Values_x4u;

typedef struct {
    uint rest_row;
    Sums rest;
    Values_x4u value;
} Own;

typedef struct { Sums v[4u]; } Sums_x4u;

#endif

#if (SUM_BITS == 32 && SERIAL == 0) || (IN_BITS == 32 && SERIAL == 0)
INLINE void store_rows(Own* own, uint2 to, uint row, uint count, Sums sums) {
    if ((count - row) < 4u) {
        own->rest = sums;
        own->rest_row = row;
    } else {
        store_sums(to, row, sums);
    }
}

#endif

#if SUM_BITS == 32 && SERIAL == 0
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

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
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
    uint prefix = prefix_of(push, tile);
    load_tile(own, as_uint2((ulong)column32_from(push->values, begin)), count);
    uint value = scan_rounds(own);
    uint param_10;
    uint value_2 = workgroup_sum(shared, value, &param_10);
    uint all = param_10;
    uint before = value_2;
    store_tile(own, as_uint2((ulong)column32_from(push->sums, begin)), count, add(prefix, before));
    if (LOCAL_ID_X == 0u) {
        write_total(push, tile, add(prefix, all));
    }
}

#endif

#if SUM_BITS == 32 && SHARED == 1
INLINE Sums sums_of(Own* own, uint r, uint* before) {
    uint k = 0u;
    Sums sums;
    UNROLL
    for (; k < 4u; k = k + 1) {
        sums.at.v[k] = *before;
        *before = add(*before, widen(own->value.v[r].at.v[k], *before));
    }
    return sums;
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0
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

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
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
    uint2 prefix = prefix_of(push, tile);
    load_tile(own, as_uint2((ulong)column32_from(push->values, begin)), count);
    uint2 value = scan_rounds(own);
    uint2 param_10;
    uint2 value_2 = workgroup_sum(shared, value, &param_10);
    uint2 all = param_10;
    uint2 before = value_2;
    store_tile(own, as_uint2((ulong)column64_from(push->sums, begin)), count, add(prefix, before));
    if (LOCAL_ID_X == 0u) {
        write_total(push, tile, add(prefix, all));
    }
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SHARED == 1
INLINE Sums sums_of(Own* own, uint r, uint2* before) {
    uint k = 0u;
    Sums sums;
    UNROLL
    for (; k < 4u; k = k + 1) {
        sums.at.v[k] = *before;
        *before = add(*before, widen(own->value.v[r].at.v[k], *before));
    }
    return sums;
}

#endif

#if IN_BITS == 64 && SERIAL == 0 && SHARED == 0
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

#endif

#if IN_BITS == 64
INLINE uint2 widen(uint2 a, uint2 like) {
    return a;
}

#endif

#if IN_BITS == 64 && SERIAL == 0
INLINE uint2 sum_of(Values rows) {
    uint2 sum = add(widen(rows.at.v[0], (uint2)(0u)), widen(rows.at.v[1], (uint2)(0u)));
    return sum;
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

#if IN_BITS == 64 && SERIAL == 0 && SHARED == 0
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

INLINE Sums sums_of(Own* own, uint r, uint2 before) {
    Sums sums;
    sums.at.v[0] = add(before, own->sum_before.v[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(own->value.v[r].at.v[0], before));
    return sums;
}

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
    uint2 prefix = prefix_of(push, tile);
    load_tile(own, as_uint2((ulong)column64_from(push->values, begin)), count);
    uint2 value = scan_rounds(own);
    uint2 param_10;
    uint2 value_2 = workgroup_sum(shared, value, &param_10);
    uint2 all = param_10;
    uint2 before = value_2;
    store_tile(own, as_uint2((ulong)column64_from(push->sums, begin)), count, add(prefix, before));
    if (LOCAL_ID_X == 0u) {
        write_total(push, tile, add(prefix, all));
    }
}

#endif

#if IN_BITS == 64 && SHARED == 1
INLINE uint row_of(uint round) {
    return (round * WORKGROUP + LOCAL_ID_X) * 2u;
}

INLINE Sums sums_of(Own* own, uint r, uint2* before) {
    uint k = 0u;
    Sums sums;
    UNROLL
    for (; k < 2u; k = k + 1) {
        sums.at.v[k] = *before;
        *before = add(*before, widen(own->value.v[r].at.v[k], *before));
    }
    return sums;
}

#endif

#if SHARED == 1
INLINE bool full(uint first, uint count) {
    return (row_of(first + 4u) - row_of(0u)) <= count;
}

INLINE void store_portion(Own* own, uint2 to, uint first, uint count, Sums_x4u sums) {
    uint r = 0u;
    UNROLL
    for (; r < 4u; r = r + 1) {
        if (row_of(first + r) < count) {
            store_rows(own, to, row_of(first + r), count, sums.v[r]);
        }
    }
}

#endif

#if (SUM_BITS == 32 && SHARED == 1) || (IN_BITS == 32 && SHARED == 1)
INLINE void load_portion(Own* own, uint2 from, uint first, uint count) {
    if (full(first, count)) {
        uint r = 0u;
        UNROLL
        for (; r < 4u; r = r + 1) {
            own->value.v[r] = load_values(from, row_of(first + r) / 4u);
        }
    } else {
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 4u; r_2 = r_2 + 1) {
            own->value.v[r_2] = load_rows(from, row_of(first + r_2), count);
        }
    }
}

#endif

#if SUM_BITS == 32 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->rest_row = 4294967295u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column32_from(push->values, begin));
    uint2 to = as_uint2((ulong)column32_from(push->sums, begin));
    uint sum = prefix_of(push, tile);
    uint first = 0u;
    uint_x4u before;
    Sums_x4u row;
    for (; first < ((ITEMS + 4u - 1u) / 4u); first = first + 4u) {
        load_portion(own, from, first, count);
        uint r = 0u;
        UNROLL
        for (; r < 4u; r = r + 1) {
            before.v[r] = sum_of(own->value.v[r]);
        }
        uint_x4u param_14 = before;
        uint value = scan_portion(shared, sum, &param_14);
        before = param_14;
        sum = value;
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 4u; r_2 = r_2 + 1) {
            uint param_16 = before.v[r_2];
            Sums value_2 = sums_of(own, r_2, &param_16);
            row.v[r_2] = value_2;
        }
        store_portion(own, to, first, count, row);
    }
    store_rest(own, to, count);
    if (LOCAL_ID_X == 0u) {
        write_total(push, tile, sum);
    }
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->rest_row = 4294967295u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column32_from(push->values, begin));
    uint2 to = as_uint2((ulong)column64_from(push->sums, begin));
    uint2 sum = prefix_of(push, tile);
    uint first = 0u;
    uint2_x4u before;
    Sums_x4u row;
    for (; first < ((ITEMS + 4u - 1u) / 4u); first = first + 4u) {
        load_portion(own, from, first, count);
        uint r = 0u;
        UNROLL
        for (; r < 4u; r = r + 1) {
            before.v[r] = sum_of(own->value.v[r]);
        }
        uint2_x4u param_14 = before;
        uint2 value = scan_portion(shared, sum, &param_14);
        before = param_14;
        sum = value;
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 4u; r_2 = r_2 + 1) {
            uint2 param_16 = before.v[r_2];
            Sums value_2 = sums_of(own, r_2, &param_16);
            row.v[r_2] = value_2;
        }
        store_portion(own, to, first, count, row);
    }
    store_rest(own, to, count);
    if (LOCAL_ID_X == 0u) {
        write_total(push, tile, sum);
    }
}

#endif

#if IN_BITS == 64 && SHARED == 1
INLINE void load_portion(Own* own, uint2 from, uint first, uint count) {
    if (full(first, count)) {
        uint r = 0u;
        UNROLL
        for (; r < 4u; r = r + 1) {
            own->value.v[r] = load_values(from, row_of(first + r) / 2u);
        }
    } else {
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 4u; r_2 = r_2 + 1) {
            own->value.v[r_2] = load_rows(from, row_of(first + r_2), count);
        }
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->rest_row = 4294967295u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column64_from(push->values, begin));
    uint2 to = as_uint2((ulong)column64_from(push->sums, begin));
    uint2 sum = prefix_of(push, tile);
    uint first = 0u;
    uint2_x4u before;
    Sums_x4u row;
    for (; first < ((ITEMS + 2u - 1u) / 2u); first = first + 4u) {
        load_portion(own, from, first, count);
        uint r = 0u;
        UNROLL
        for (; r < 4u; r = r + 1) {
            before.v[r] = sum_of(own->value.v[r]);
        }
        uint2_x4u param_14 = before;
        uint2 value = scan_portion(shared, sum, &param_14);
        before = param_14;
        sum = value;
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 4u; r_2 = r_2 + 1) {
            uint2 param_16 = before.v[r_2];
            Sums value_2 = sums_of(own, r_2, &param_16);
            row.v[r_2] = value_2;
        }
        store_portion(own, to, first, count, row);
    }
    store_rest(own, to, count);
    if (LOCAL_ID_X == 0u) {
        write_total(push, tile, sum);
    }
}

#endif

#if SERIAL == 0
typedef struct {
    ulong values;
    ulong tile_prefix;
    ulong sums;
    uint rows;
    uint tiles;
    uint total;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void scan_tiles(__global uchar* values, __global uchar* tile_prefix, __global uchar* sums, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)tile_prefix + words.tile_prefix),
        as_uint2((ulong)sums + words.sums),
        words.rows,
        words.tiles,
        words.total,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

#endif

#if IN_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint2* from = column64_from(push->values, begin);
    __global uint2* to = column64_from(push->sums, begin);
    uint2 sum = prefix_of(push, tile);
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint2 value = widen(from[i], (uint2)(0u));
        to[i] = sum;
        sum = add(sum, value);
    }
    write_total(push, tile, sum);
}

#endif

#if SERIAL == 1
typedef struct {
    ulong values;
    ulong tile_prefix;
    ulong sums;
    uint rows;
    uint tiles;
    uint total;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void scan_tiles(__global uchar* values, __global uchar* tile_prefix, __global uchar* sums, const Words words) {
    const Push addresses = {
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)tile_prefix + words.tile_prefix),
        as_uint2((ulong)sums + words.sums),
        words.rows,
        words.tiles,
        words.total,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

#endif
