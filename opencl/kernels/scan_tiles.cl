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
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

#if (SUM_BITS == 32 && SERIAL == 0) || (IN_BITS == 32 && SERIAL == 0)
typedef struct {
    uint v[4];
} uint_array;

typedef struct {
    uint_array at;
} Values;

#define ROUNDS ((ITEMS + 4u - 1u) / 4u)

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

#if SUM_BITS == 32 && SERIAL == 0
typedef struct {
    uint_array at;
} Sums;

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    ((__global uint4*)as_ulong(to))[row / 4u] = (uint4)(sums.at.v[0], sums.at.v[1], sums.at.v[2], sums.at.v[3]);
}
#endif

typedef struct {
    ulong values;
    ulong tile_prefix;
    ulong sums;
    uint rows;
    uint tiles;
    uint total;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 values;
    uint2 tile_prefix;
    uint2 sums;
    uint rows;
    uint tiles;
    uint total;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
} Shared;

typedef struct {
    uint rest_row;
    Sums rest;
    Values value[8];
    uint sum_before[8];
} Globals;

INLINE uint subgroup_sum_before(uint a) {
    return subgroup_exclusive_add(a);
}

INLINE uint subgroup_sum(uint a) {
    return subgroup_add(a);
}
#endif

#if SUM_BITS == 32 || IN_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}
#endif

#if SUM_BITS == 32
INLINE uint prefix_of(const Arguments* args, uint tile) {
    return absent(args->tile_prefix) ? 0u : column32_from(args->tile_prefix, tile)[0];
}

INLINE uint widen(uint a, uint like) {
    return a;
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

INLINE void write_total(const Arguments* args, uint tile, uint sum) {
    if (args->total == 1u && tile + 1u == args->tiles) {
        column32_from(args->sums, args->rows)[0] = sum;
    }
}
#endif

#if (SUM_BITS == 32 && SERIAL == 0 && SHARED == 0) || (IN_BITS == 32 && SERIAL == 0 && SHARED == 0)
INLINE bool full(uint count) {
    return count == WORKGROUP * ROUNDS * 4u;
}

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ROUNDS + round) * invocations + subgroup_local_id()) * 4u;
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

INLINE Sums sums_of(Globals* globals, uint r, uint before) {
    Sums sums;
    sums.at.v[0] = add(before, globals->sum_before[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(globals->value[r].at.v[0], before));
    sums.at.v[2] = add(sums.at.v[1], widen(globals->value[r].at.v[1], before));
    sums.at.v[3] = add(sums.at.v[2], widen(globals->value[r].at.v[2], before));
    return sums;
}
#endif

#if SUM_BITS == 32 && SHARED == 1
typedef struct {
    uint sh_scanned[4u * WORKGROUP];
} Shared;

INLINE void put_scanned(__local Shared* shared, uint at, uint value) {
    shared->sh_scanned[at] = value;
}

INLINE uint scanned(__local Shared* shared, uint at) {
    return shared->sh_scanned[at];
}

INLINE uint workgroup_scan(__local Shared* shared, uint own, uint* all_) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < WORKGROUP; step *= 2u) {
        if (LOCAL_ID_X >= step) {
            own = add(scanned(shared, side + LOCAL_ID_X - step), own);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, own);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all_ = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) return 0u;
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

INLINE uint scan_portion(__local Shared* shared, uint before, uint_array* held) {
    uint sum = 0u;
    UNROLL
    for (uint r = 0u; r < 4u; ++r) {
        put_scanned(shared, r * WORKGROUP + LOCAL_ID_X, held->v[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint_array own;
    UNROLL
    for (uint k = 0u; k < 4u; ++k) {
        own.v[k] = scanned(shared, 4u * LOCAL_ID_X + k);
        sum = add(sum, own.v[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint all_;
    uint at = workgroup_scan(shared, sum, &all_);
    at = add(before, at);
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < 4u; ++k) {
        put_scanned(shared, 4u * LOCAL_ID_X + k, at);
        at = add(at, own.v[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint r = 0u; r < 4u; ++r) {
        held->v[r] = scanned(shared, r * WORKGROUP + LOCAL_ID_X);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return add(before, all_);
}
#endif

#if (SUM_BITS == 32 && SHARED == 1) || (IN_BITS == 32 && SHARED == 1)
INLINE uint row_of(uint round) {
    return (round * WORKGROUP + LOCAL_ID_X) * 4u;
}
#endif

#if SUM_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint* from = column32_from(args->values, begin);
    __global uint* to = column32_from(args->sums, begin);
    uint sum = prefix_of(args, tile);
    for (uint i = 0u; i < count; ++i) {
        uint value = widen(from[i], 0u);
        to[i] = sum;
        sum = add(sum, value);
    }
    write_total(args, tile, sum);
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0
typedef struct {
    uint2 at[4];
} Sums;

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    ((__global uint4*)as_ulong(to))[row / 2u] = (uint4)(sums.at[0].x, sums.at[0].y, sums.at[1].x, sums.at[1].y);
    ((__global uint4*)as_ulong(to))[row / 2u + 1u] = (uint4)(sums.at[2].x, sums.at[2].y, sums.at[3].x, sums.at[3].y);
}
#endif

#if SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint2 sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
} Shared;

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 0x3fffffu, (a.x >> 22u) | ((a.y & 0xfffu) << 10u), a.y >> 12u);
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint rest_row;
    Sums rest;
    Values value[8];
    uint2 sum_before[8];
} Globals;

INLINE void store_all_sums(uint2 to, uint row, Sums sums) {
    bool odd = (subgroup_local_id() & 1u) == 1u;
    uint4 low = (uint4)(sums.at[0].x, sums.at[0].y, sums.at[1].x, sums.at[1].y);
    uint4 high = (uint4)(sums.at[2].x, sums.at[2].y, sums.at[3].x, sums.at[3].y);
    uint4 other = subgroup_shuffle_xor_uint4(odd ? low : high, 1u);
    ((__global uint4*)as_ulong(to))[odd ? row / 2u - 1u : row / 2u] = odd ? other : low;
    ((__global uint4*)as_ulong(to))[odd ? row / 2u + 1u : row / 2u + 2u] = odd ? high : other;
}
#endif

#if (SUM_BITS == 32 && SERIAL == 0 && SHARED == 0) || (IN_BITS == 32 && SERIAL == 0 && SHARED == 0)
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
#endif

#if SUM_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 prefix_of(const Arguments* args, uint tile) {
    return absent(args->tile_prefix) ? (uint2)(0u) : column64_from(args->tile_prefix, tile)[0];
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE void write_total(const Arguments* args, uint tile, uint2 sum) {
    if (args->total == 1u && tile + 1u == args->tiles) {
        column64_from(args->sums, args->rows)[0] = sum;
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
    uint2 sum = add((uint2)(limb.x, 0u), (uint2)(limb.y << 22u, limb.y >> 10u));
    return (uint2)(sum.x, sum.y + (limb.z << 12u));
}

INLINE uint2 subgroup_sum_before(uint2 a) {
    return from_limbs(subgroup_exclusive_add_uint3(limbs(a)));
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
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
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

INLINE Sums sums_of(Globals* globals, uint r, uint2 before) {
    Sums sums;
    sums.at[0] = add(before, globals->sum_before[r]);
    sums.at[1] = add(sums.at[0], widen(globals->value[r].at.v[0], before));
    sums.at[2] = add(sums.at[1], widen(globals->value[r].at.v[1], before));
    sums.at[3] = add(sums.at[2], widen(globals->value[r].at.v[2], before));
    return sums;
}
#endif

#if SUM_BITS == 64 && SHARED == 1
typedef struct {
    uint2 sh_scanned[4u * WORKGROUP];
} Shared;

INLINE void put_scanned(__local Shared* shared, uint at, uint2 value) {
    shared->sh_scanned[at] = value;
}

INLINE uint2 scanned(__local Shared* shared, uint at) {
    return shared->sh_scanned[at];
}

INLINE uint2 workgroup_scan(__local Shared* shared, uint2 own, uint2* all_) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < WORKGROUP; step *= 2u) {
        if (LOCAL_ID_X >= step) {
            own = add(scanned(shared, side + LOCAL_ID_X - step), own);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, own);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all_ = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) return (uint2)(0u);
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

INLINE uint2 scan_portion(__local Shared* shared, uint2 before, uint2 held[4]) {
    uint2 sum = (uint2)(0u);
    UNROLL
    for (uint r = 0u; r < 4u; ++r) {
        put_scanned(shared, r * WORKGROUP + LOCAL_ID_X, held[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 own[4];
    UNROLL
    for (uint k = 0u; k < 4u; ++k) {
        own[k] = scanned(shared, 4u * LOCAL_ID_X + k);
        sum = add(sum, own[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 all_;
    uint2 at = workgroup_scan(shared, sum, &all_);
    at = add(before, at);
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < 4u; ++k) {
        put_scanned(shared, 4u * LOCAL_ID_X + k, at);
        at = add(at, own[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint r = 0u; r < 4u; ++r) {
        held[r] = scanned(shared, r * WORKGROUP + LOCAL_ID_X);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return add(before, all_);
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint* from = column32_from(args->values, begin);
    __global uint2* to = column64_from(args->sums, begin);
    uint2 sum = prefix_of(args, tile);
    for (uint i = 0u; i < count; ++i) {
        uint2 value = widen(from[i], (uint2)(0u));
        to[i] = sum;
        sum = add(sum, value);
    }
    write_total(args, tile, sum);
}
#endif

#if IN_BITS == 64 && SERIAL == 0
typedef struct {
    uint2 v[2];
} uint2_array;

typedef struct {
    uint2_array at;
} Sums;

typedef struct {
    uint2_array at;
} Values;

#define ROUNDS ((ITEMS + 2u - 1u) / 2u)

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

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    ((__global uint4*)as_ulong(to))[row / 2u] = (uint4)(sums.at.v[0].x, sums.at.v[0].y, sums.at.v[1].x, sums.at.v[1].y);
}
#endif

#if (SUM_BITS == 32 && SERIAL == 0 && SHARED == 0) || (IN_BITS == 64 && SERIAL == 0 && SHARED == 0)
INLINE void store_all_sums(uint2 to, uint row, Sums sums) {
    store_sums(to, row, sums);
}
#endif

#if SHARED == 1
typedef struct {
    uint rest_row;
    Sums rest;
    Values value[4];
} Globals;
#endif

#if (SUM_BITS == 32 && SERIAL == 0) || (IN_BITS == 32 && SERIAL == 0)
INLINE void store_rows(Globals* globals, uint2 to, uint row, uint count, Sums sums) {
    if (count - row < 4u) {
        globals->rest = sums;
        globals->rest_row = row;
    } else {
        store_sums(to, row, sums);
    }
}
#endif

#if SUM_BITS == 32 && SERIAL == 0
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

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
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
    uint prefix = prefix_of(args, tile);
    load_tile(globals, as_uint2((ulong)column32_from(args->values, begin)), count);
    uint all_;
    uint before = workgroup_sum(shared, scan_rounds(globals), &all_);
    store_tile(globals, as_uint2((ulong)column32_from(args->sums, begin)), count, add(prefix, before));
    if (LOCAL_ID_X == 0u) {
        write_total(args, tile, add(prefix, all_));
    }
}
#endif

#if SUM_BITS == 32 && SHARED == 1
INLINE Sums sums_of(Globals* globals, uint r, uint before) {
    Sums sums;
    UNROLL
    for (uint k = 0u; k < 4u; ++k) {
        sums.at.v[k] = before;
        before = add(before, widen(globals->value[r].at.v[k], before));
    }
    return sums;
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0
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

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
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
    uint2 prefix = prefix_of(args, tile);
    load_tile(globals, as_uint2((ulong)column32_from(args->values, begin)), count);
    uint2 all_;
    uint2 before = workgroup_sum(shared, scan_rounds(globals), &all_);
    store_tile(globals, as_uint2((ulong)column64_from(args->sums, begin)), count, add(prefix, before));
    if (LOCAL_ID_X == 0u) {
        write_total(args, tile, add(prefix, all_));
    }
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SHARED == 1
INLINE Sums sums_of(Globals* globals, uint r, uint2 before) {
    Sums sums;
    UNROLL
    for (uint k = 0u; k < 4u; ++k) {
        sums.at[k] = before;
        before = add(before, widen(globals->value[r].at.v[k], before));
    }
    return sums;
}
#endif

#if IN_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint rest_row;
    Sums rest;
    Values value[16];
    uint2 sum_before[16];
} Globals;

INLINE bool full(uint count) {
    return count == WORKGROUP * ROUNDS * 2u;
}

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ROUNDS + round) * invocations + subgroup_local_id()) * 2u;
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

#if IN_BITS == 64 && SERIAL == 0 && SHARED == 0
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

INLINE Sums sums_of(Globals* globals, uint r, uint2 before) {
    Sums sums;
    sums.at.v[0] = add(before, globals->sum_before[r]);
    sums.at.v[1] = add(sums.at.v[0], widen(globals->value[r].at.v[0], before));
    return sums;
}

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
    uint2 prefix = prefix_of(args, tile);
    load_tile(globals, as_uint2((ulong)column64_from(args->values, begin)), count);
    uint2 all_;
    uint2 before = workgroup_sum(shared, scan_rounds(globals), &all_);
    store_tile(globals, as_uint2((ulong)column64_from(args->sums, begin)), count, add(prefix, before));
    if (LOCAL_ID_X == 0u) {
        write_total(args, tile, add(prefix, all_));
    }
}
#endif

#if IN_BITS == 64 && SHARED == 1
INLINE uint row_of(uint round) {
    return (round * WORKGROUP + LOCAL_ID_X) * 2u;
}

INLINE Sums sums_of(Globals* globals, uint r, uint2 before) {
    Sums sums;
    UNROLL
    for (uint k = 0u; k < 2u; ++k) {
        sums.at.v[k] = before;
        before = add(before, widen(globals->value[r].at.v[k], before));
    }
    return sums;
}
#endif

#if SHARED == 1
INLINE bool full(uint first, uint count) {
    return row_of(first + 4u) - row_of(0u) <= count;
}

INLINE void store_portion(Globals* globals, uint2 to, uint first, uint count, const Sums sums[4]) {
    UNROLL
    for (uint r = 0u; r < 4u; ++r) {
        if (row_of(first + r) < count) {
            store_rows(globals, to, row_of(first + r), count, sums[r]);
        }
    }
}
#endif

#if (SUM_BITS == 32 && SHARED == 1) || (IN_BITS == 32 && SHARED == 1)
INLINE void load_portion(Globals* globals, uint2 from, uint first, uint count) {
    if (full(first, count)) {
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            globals->value[r] = load_values(from, row_of(first + r) / 4u);
        }
    } else {
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            globals->value[r] = load_rows(from, row_of(first + r), count);
        }
    }
}
#endif

#if SUM_BITS == 32 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->rest_row = 0xffffffffu;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column32_from(args->values, begin));
    uint2 to = as_uint2((ulong)column32_from(args->sums, begin));
    uint sum = prefix_of(args, tile);
    uint_array before;
    Sums row[4];
    for (uint first = 0u; first < ROUNDS; first += 4u) {
        load_portion(globals, from, first, count);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            before.v[r] = sum_of(globals->value[r]);
        }
        sum = scan_portion(shared, sum, &before);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            row[r] = sums_of(globals, r, before.v[r]);
        }
        store_portion(globals, to, first, count, row);
    }
    store_rest(globals, to, count);
    if (LOCAL_ID_X == 0u) {
        write_total(args, tile, sum);
    }
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->rest_row = 0xffffffffu;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column32_from(args->values, begin));
    uint2 to = as_uint2((ulong)column64_from(args->sums, begin));
    uint2 sum = prefix_of(args, tile);
    uint2 before[4];
    Sums row[4];
    for (uint first = 0u; first < ROUNDS; first += 4u) {
        load_portion(globals, from, first, count);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            before[r] = sum_of(globals->value[r]);
        }
        sum = scan_portion(shared, sum, before);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            row[r] = sums_of(globals, r, before[r]);
        }
        store_portion(globals, to, first, count, row);
    }
    store_rest(globals, to, count);
    if (LOCAL_ID_X == 0u) {
        write_total(args, tile, sum);
    }
}
#endif

#if IN_BITS == 64 && SHARED == 1
INLINE void load_portion(Globals* globals, uint2 from, uint first, uint count) {
    if (full(first, count)) {
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            globals->value[r] = load_values(from, row_of(first + r) / 2u);
        }
    } else {
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            globals->value[r] = load_rows(from, row_of(first + r), count);
        }
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->rest_row = 0xffffffffu;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column64_from(args->values, begin));
    uint2 to = as_uint2((ulong)column64_from(args->sums, begin));
    uint2 sum = prefix_of(args, tile);
    uint2 before[4];
    Sums row[4];
    for (uint first = 0u; first < ROUNDS; first += 4u) {
        load_portion(globals, from, first, count);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            before[r] = sum_of(globals->value[r]);
        }
        sum = scan_portion(shared, sum, before);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            row[r] = sums_of(globals, r, before[r]);
        }
        store_portion(globals, to, first, count, row);
    }
    store_rest(globals, to, count);
    if (LOCAL_ID_X == 0u) {
        write_total(args, tile, sum);
    }
}
#endif

#if SERIAL == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void scan_tiles(
    __global uchar* values,
    __global uchar* tile_prefix,
    __global uchar* sums,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)tile_prefix + scalars.tile_prefix),
        as_uint2((ulong)sums + scalars.sums),
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
#endif

#if IN_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint2* from = column64_from(args->values, begin);
    __global uint2* to = column64_from(args->sums, begin);
    uint2 sum = prefix_of(args, tile);
    for (uint i = 0u; i < count; ++i) {
        uint2 value = widen(from[i], (uint2)(0u));
        to[i] = sum;
        sum = add(sum, value);
    }
    write_total(args, tile, sum);
}
#endif

#if SERIAL == 1
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void scan_tiles(
    __global uchar* values,
    __global uchar* tile_prefix,
    __global uchar* sums,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)tile_prefix + scalars.tile_prefix),
        as_uint2((ulong)sums + scalars.sums),
        scalars.rows,
        scalars.tiles,
        scalars.total,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}
#endif
