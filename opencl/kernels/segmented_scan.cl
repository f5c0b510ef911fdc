// Kernel segmented_scan in OpenCL C 1.2, translated from shaders/segmented_scan.comp by make generate; do not edit.
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
#error "segmented_scan: this variant needs subgroups"
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

INLINE Values no_values(void) {
    return (Values){(uint_array){{0u, 0u, 0u, 0u}}};
}

INLINE Values load_values(uint2 address, uint load) {
    uint4 words = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint_array){{words.x, words.y, words.z, words.w}}};
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
    ulong heads;
    ulong tile_carries;
    ulong sums;
    ulong tile_sums;
    ulong tile_heads;
    uint rows;
    uint tiles;
    uint carries;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 values;
    uint2 heads;
    uint2 tile_carries;
    uint2 sums;
    uint2 tile_sums;
    uint2 tile_heads;
    uint rows;
    uint tiles;
    uint carries;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint sh_sum[(WORKGROUP + 3u) / 4u];
    uint sh_start[(WORKGROUP + 3u) / 4u];
    uint sh_started[(WORKGROUP + 3u) / 4u];
} Shared;

typedef struct {
    uint rest_row;
    Sums rest;
    Values value[8];
    uint head[8];
    uint sum_before[8];
    bool started[8];
    uint start[8];
} Globals;

INLINE uint subgroup_sum_before(uint a) {
    return subgroup_exclusive_add(a);
}

INLINE uint subgroup_sum(uint a) {
    return subgroup_add(a);
}

INLINE uint subtract(uint a, uint b) {
    return a - b;
}
#endif

#if (SUM_BITS == 32 && SERIAL == 0 && SHARED == 0) || (IN_BITS == 32 && SERIAL == 0 && SHARED == 0)
#define ROUNDS ((ITEMS + 4u - 1u) / 4u)

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ROUNDS + round) * invocations + subgroup_local_id()) * 4u;
}

INLINE uint heads_of(const Arguments* args, uint begin, uint row, uint count) {
    if (row >= count) return 0u;
    uint here = min(4u, count - row);
    if (args->carries == 0u) {
        uint bit = begin % 32u + row;
        return (column32_from(args->heads, begin / 32u)[bit / 32u] >> (bit % 32u)) & ((1u << here) - 1u);
    }
    __global uint* from = column32_from(args->heads, begin);
    uint found = from[row];
    if (here > 1u) {
        found |= from[row + 1u] << 1u;
    }
    if (here > 2u) {
        found |= from[row + 2u] << 2u;
    }
    if (here > 3u) {
        found |= from[row + 3u] << 3u;
    }
    return found;
}
#endif

#if SUM_BITS == 32
INLINE uint widen(uint a, uint like) {
    return a;
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

INLINE uint carry_into(const Arguments* args, uint tile) {
    return absent(args->tile_carries) ? 0u : column32_from(args->tile_carries, tile)[0];
}

INLINE void write_tile(const Arguments* args, uint tile, uint sum, bool head) {
    if (absent(args->tile_sums)) return;
    column32_from(args->tile_sums, tile)[0] = sum;
    column32_from(args->tile_heads, tile)[0] = head ? 1u : 0u;
}
#endif

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
INLINE uint sum_of(Values rows) {
    uint sum = add(widen(rows.at.v[0], 0u), widen(rows.at.v[1], 0u));
    sum = add(sum, add(widen(rows.at.v[2], sum), widen(rows.at.v[3], sum)));
    return sum;
}

INLINE uint start_of(uint head, Values rows, uint sum) {
    if (head > 1u) {
        sum = add(sum, widen(rows.at.v[0], sum));
    }
    if (head > 3u) {
        sum = add(sum, widen(rows.at.v[1], sum));
    }
    if (head > 7u) {
        sum = add(sum, widen(rows.at.v[2], sum));
    }
    return sum;
}

INLINE uint next_sum(const Arguments* args, uint head, uint value, uint* sum, uint* start) {
    uint before = head == 1u && args->carries == 0u ? 0u : subtract(*sum, *start);
    if (head == 1u) {
        *start = *sum;
    }
    *sum = add(*sum, widen(value, *sum));
    return before;
}
#endif

#if SUM_BITS == 32 && SHARED == 1
typedef struct {
    uint sh_sum[4u * WORKGROUP];
    uint sh_head[4u * WORKGROUP];
} Shared;

typedef struct {
    uint sum;
    bool head;
} Held;

INLINE Held nothing(void) {
    return (Held){0u, false};
}

INLINE Held combine(Held a, Held b) {
    uint both = add(a.sum, b.sum);
    return (Held){b.head ? b.sum : both, a.head || b.head};
}

INLINE uint next_sum(uint head, uint zero, uint row, Held* held) {
    uint before = (head & zero) == 1u ? 0u : held->sum;
    *held = combine(*held, (Held){widen(row, 0u), head == 1u});
    return before;
}
#endif

#if (SUM_BITS == 32 && SHARED == 1) || (IN_BITS == 32 && SHARED == 1)
INLINE uint row_of(uint round) {
    return (round * WORKGROUP + LOCAL_ID_X) * 4u;
}

INLINE uint heads_of(const Arguments* args, uint begin, uint row, uint count) {
    uint here = min(4u, count - min(row, count));
    uint last = count - 1u;
    uint found;
    if (args->carries == 0u) {
        uint bit = begin % 32u + min(row, last);
        found = column32_from(args->heads, begin / 32u)[bit / 32u] >> (bit % 32u);
    } else {
        __global uint* from = column32_from(args->heads, begin);
        found = 0u;
        UNROLL
        for (uint k = 0u; k < 4u; ++k) {
            found |= from[min(row + k, last)] << k;
        }
    }
    return found & ((1u << here) - 1u);
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
    bool writes = !absent(args->sums);
    bool behind = args->carries == 1u;
    bool any_head = false;
    uint per_word = behind ? 0u : 5u;
    uint within = (1u << per_word) - 1u;
    uint2 bits = args->heads;
    uint sum = carry_into(args, tile);
    uint word = 0u;
    for (uint i = 0u; i < count; ++i) {
        uint row = begin + i;
        if (i == 0u || (row & within) == 0u) {
            word = column32_from(bits, row >> per_word)[0];
        }
        bool head = ((word >> (row & within)) & 1u) == 1u;
        uint value = widen(from[i], sum);
        if (writes) {
            to[i] = head && !behind ? 0u : sum;
        }
        sum = head ? value : add(sum, value);
        any_head = any_head || head;
    }
    write_tile(args, tile, sum, any_head);
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
    uint2 sh_sum[(WORKGROUP + 3u) / 4u];
    uint2 sh_start[(WORKGROUP + 3u) / 4u];
    uint sh_started[(WORKGROUP + 3u) / 4u];
} Shared;

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 0x3fffffu, (a.x >> 22u) | ((a.y & 0xfffu) << 10u), a.y >> 12u);
}

INLINE uint2 subtract(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) - as_ulong(b));
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint rest_row;
    Sums rest;
    Values value[8];
    uint head[8];
    uint2 sum_before[8];
    bool started[8];
    uint2 start[8];
} Globals;
#endif

#if IN_BITS == 32 && SUM_BITS == 64
INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}
#endif

#if SUM_BITS == 64
INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 carry_into(const Arguments* args, uint tile) {
    return absent(args->tile_carries) ? (uint2)(0u) : column64_from(args->tile_carries, tile)[0];
}

INLINE void write_tile(const Arguments* args, uint tile, uint2 sum, bool head) {
    if (absent(args->tile_sums)) return;
    column64_from(args->tile_sums, tile)[0] = sum;
    column32_from(args->tile_heads, tile)[0] = head ? 1u : 0u;
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
INLINE uint2 sum_of(Values rows) {
    uint2 sum = add(widen(rows.at.v[0], (uint2)(0u)), widen(rows.at.v[1], (uint2)(0u)));
    sum = add(sum, add(widen(rows.at.v[2], sum), widen(rows.at.v[3], sum)));
    return sum;
}

INLINE uint2 start_of(uint head, Values rows, uint2 sum) {
    if (head > 1u) {
        sum = add(sum, widen(rows.at.v[0], sum));
    }
    if (head > 3u) {
        sum = add(sum, widen(rows.at.v[1], sum));
    }
    if (head > 7u) {
        sum = add(sum, widen(rows.at.v[2], sum));
    }
    return sum;
}

INLINE uint2 next_sum(const Arguments* args, uint head, uint value, uint2* sum, uint2* start) {
    uint2 before = head == 1u && args->carries == 0u ? (uint2)(0u) : subtract(*sum, *start);
    if (head == 1u) {
        *start = *sum;
    }
    *sum = add(*sum, widen(value, *sum));
    return before;
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
#endif

#if SUM_BITS == 64 && SHARED == 1
typedef struct {
    uint2 sh_sum[4u * WORKGROUP];
    uint sh_head[4u * WORKGROUP];
} Shared;

typedef struct {
    uint2 sum;
    bool head;
} Held;

INLINE Held nothing(void) {
    return (Held){(uint2)(0u), false};
}

INLINE Held combine(Held a, Held b) {
    uint2 both = add(a.sum, b.sum);
    return (Held){b.head ? b.sum : both, a.head || b.head};
}
#endif

#if SHARED == 1
INLINE void put_scanned(__local Shared* shared, uint at, Held held) {
    shared->sh_sum[at] = held.sum;
    shared->sh_head[at] = held.head ? 1u : 0u;
}

INLINE Held scanned(__local Shared* shared, uint at) {
    return (Held){shared->sh_sum[at], shared->sh_head[at] == 1u};
}

INLINE Held workgroup_scan(__local Shared* shared, Held own, Held* all_) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < WORKGROUP; step *= 2u) {
        if (LOCAL_ID_X >= step) {
            own = combine(scanned(shared, side + LOCAL_ID_X - step), own);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, own);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all_ = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) return nothing();
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

INLINE Held scan_portion(__local Shared* shared, Held before, Held held[4]) {
    Held sum = nothing();
    UNROLL
    for (uint r = 0u; r < 4u; ++r) {
        put_scanned(shared, r * WORKGROUP + LOCAL_ID_X, held[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    Held own[4];
    UNROLL
    for (uint k = 0u; k < 4u; ++k) {
        own[k] = scanned(shared, 4u * LOCAL_ID_X + k);
        sum = combine(sum, own[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    Held all_;
    Held at = workgroup_scan(shared, sum, &all_);
    at = combine(before, at);
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < 4u; ++k) {
        put_scanned(shared, 4u * LOCAL_ID_X + k, at);
        at = combine(at, own[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint r = 0u; r < 4u; ++r) {
        held[r] = scanned(shared, r * WORKGROUP + LOCAL_ID_X);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return combine(before, all_);
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SHARED == 1
INLINE uint2 next_sum(uint head, uint zero, uint row, Held* held) {
    uint2 before = (head & zero) == 1u ? (uint2)(0u) : held->sum;
    *held = combine(*held, (Held){widen(row, (uint2)(0u)), head == 1u});
    return before;
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
    bool writes = !absent(args->sums);
    bool behind = args->carries == 1u;
    bool any_head = false;
    uint per_word = behind ? 0u : 5u;
    uint within = (1u << per_word) - 1u;
    uint2 bits = args->heads;
    uint2 sum = carry_into(args, tile);
    uint word = 0u;
    for (uint i = 0u; i < count; ++i) {
        uint row = begin + i;
        if (i == 0u || (row & within) == 0u) {
            word = column32_from(bits, row >> per_word)[0];
        }
        bool head = ((word >> (row & within)) & 1u) == 1u;
        uint2 value = widen(from[i], sum);
        if (writes) {
            to[i] = head && !behind ? (uint2)(0u) : sum;
        }
        sum = head ? value : add(sum, value);
        any_head = any_head || head;
    }
    write_tile(args, tile, sum, any_head);
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

INLINE Values no_values(void) {
    return (Values){(uint2_array){{(uint2)(0u), (uint2)(0u)}}};
}

INLINE Values load_values(uint2 address, uint load) {
    uint4 words = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint2_array){{words.xy, words.zw}}};
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
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->rest_row = 0xffffffffu;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column32_from(args->values, begin));
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS) {
            globals->value[r] = load_rows(from, row_of(r), count);
            globals->head[r] = heads_of(args, begin, row_of(r), count);
        }
    }
    uint sum = 0u;
    uint last_start = 0u;
    bool any_head = false;
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS) {
            uint own = sum_of(globals->value[r]);
            uint value = add(sum, subgroup_sum_before(own));
            globals->sum_before[r] = value;
            uint own_start = start_of(globals->head[r], globals->value[r], globals->sum_before[r]);
            uint4 with_head = subgroup_ballot(globals->head[r] != 0u);
            uint4 earlier = with_head & subgroup_lt_mask();
            bool has_earlier = any(earlier != (uint4)(0u));
            bool has_any = any(with_head != (uint4)(0u));
            uint earlier_start = subgroup_shuffle(own_start,
                    has_earlier ? subgroup_ballot_find_msb(earlier) : subgroup_local_id());
            uint round_start = subgroup_shuffle(own_start,
                    has_any ? subgroup_ballot_find_msb(with_head) : subgroup_local_id());
            globals->started[r] = any_head || has_earlier;
            globals->start[r] = has_earlier ? earlier_start : last_start;
            if (has_any) {
                last_start = round_start;
            }
            any_head = any_head || has_any;
            sum = add(sum, subgroup_sum(own));
        }
    }
    if (subgroup_elect()) {
        shared->sh_sum[subgroup_id()] = sum;
        shared->sh_start[subgroup_id()] = last_start;
        shared->sh_started[subgroup_id()] = any_head ? 1u : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    uint all_ = 0u;
    uint enters = 0u;
    uint leaves = subtract(0u, carry_into(args, tile));
    any_head = false;
    for (uint s = 0u; s < subgroup_count(); ++s) {
        if (s == subgroup_id()) {
            before = all_;
            enters = leaves;
        }
        if (shared->sh_started[s] == 1u) {
            leaves = add(all_, shared->sh_start[s]);
            any_head = true;
        }
        all_ = add(all_, shared->sh_sum[s]);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(args, tile, subtract(all_, leaves), any_head);
    }
    if (absent(args->sums)) return;
    uint2 to = as_uint2((ulong)column32_from(args->sums, begin));
    Sums row;
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS && row_of(r) < count) {
            uint at = add(before, globals->sum_before[r]);
            uint from_start = globals->started[r] ? add(before, globals->start[r]) : enters;
            uint value = next_sum(args, globals->head[r] & 1u, globals->value[r].at.v[0], &at, &from_start);
            row.at.v[0] = value;
            uint value_2 = next_sum(args, (globals->head[r] >> 1u) & 1u, globals->value[r].at.v[1], &at, &from_start);
            row.at.v[1] = value_2;
            uint value_3 = next_sum(args, (globals->head[r] >> 2u) & 1u, globals->value[r].at.v[2], &at, &from_start);
            row.at.v[2] = value_3;
            uint value_4 = next_sum(args, (globals->head[r] >> 3u) & 1u, globals->value[r].at.v[3], &at, &from_start);
            row.at.v[3] = value_4;
            store_rows(globals, to, row_of(r), count, row);
        }
    }
    store_rest(globals, to, count);
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
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->rest_row = 0xffffffffu;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column32_from(args->values, begin));
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS) {
            globals->value[r] = load_rows(from, row_of(r), count);
            globals->head[r] = heads_of(args, begin, row_of(r), count);
        }
    }
    uint2 sum = (uint2)(0u);
    uint2 last_start = (uint2)(0u);
    bool any_head = false;
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS) {
            uint2 own = sum_of(globals->value[r]);
            uint2 value = add(sum, subgroup_sum_before(own));
            globals->sum_before[r] = value;
            uint2 own_start = start_of(globals->head[r], globals->value[r], globals->sum_before[r]);
            uint4 with_head = subgroup_ballot(globals->head[r] != 0u);
            uint4 earlier = with_head & subgroup_lt_mask();
            bool has_earlier = any(earlier != (uint4)(0u));
            bool has_any = any(with_head != (uint4)(0u));
            uint2 earlier_start = subgroup_shuffle_uint2(own_start,
                    has_earlier ? subgroup_ballot_find_msb(earlier) : subgroup_local_id());
            uint2 round_start = subgroup_shuffle_uint2(own_start,
                    has_any ? subgroup_ballot_find_msb(with_head) : subgroup_local_id());
            globals->started[r] = any_head || has_earlier;
            globals->start[r] = has_earlier ? earlier_start : last_start;
            if (has_any) {
                last_start = round_start;
            }
            any_head = any_head || has_any;
            sum = add(sum, subgroup_sum(own));
        }
    }
    if (subgroup_elect()) {
        shared->sh_sum[subgroup_id()] = sum;
        shared->sh_start[subgroup_id()] = last_start;
        shared->sh_started[subgroup_id()] = any_head ? 1u : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 before = (uint2)(0u);
    uint2 all_ = (uint2)(0u);
    uint2 enters = (uint2)(0u);
    uint2 leaves = subtract((uint2)(0u), carry_into(args, tile));
    any_head = false;
    for (uint s = 0u; s < subgroup_count(); ++s) {
        if (s == subgroup_id()) {
            before = all_;
            enters = leaves;
        }
        if (shared->sh_started[s] == 1u) {
            leaves = add(all_, shared->sh_start[s]);
            any_head = true;
        }
        all_ = add(all_, shared->sh_sum[s]);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(args, tile, subtract(all_, leaves), any_head);
    }
    if (absent(args->sums)) return;
    uint2 to = as_uint2((ulong)column64_from(args->sums, begin));
    Sums row;
    UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        if (r < ROUNDS && row_of(r) < count) {
            uint2 at = add(before, globals->sum_before[r]);
            uint2 from_start = globals->started[r] ? add(before, globals->start[r]) : enters;
            uint2 value = next_sum(args, globals->head[r] & 1u, globals->value[r].at.v[0], &at, &from_start);
            row.at[0] = value;
            uint2 value_2 = next_sum(args, (globals->head[r] >> 1u) & 1u, globals->value[r].at.v[1], &at, &from_start);
            row.at[1] = value_2;
            uint2 value_3 = next_sum(args, (globals->head[r] >> 2u) & 1u, globals->value[r].at.v[2], &at, &from_start);
            row.at[2] = value_3;
            uint2 value_4 = next_sum(args, (globals->head[r] >> 3u) & 1u, globals->value[r].at.v[3], &at, &from_start);
            row.at[3] = value_4;
            store_rows(globals, to, row_of(r), count, row);
        }
    }
    store_rest(globals, to, count);
}
#endif

#if IN_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint rest_row;
    Sums rest;
    Values value[16];
    uint head[16];
    uint2 sum_before[16];
    bool started[16];
    uint2 start[16];
} Globals;

#define ROUNDS ((ITEMS + 2u - 1u) / 2u)

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ROUNDS + round) * invocations + subgroup_local_id()) * 2u;
}

INLINE uint heads_of(const Arguments* args, uint begin, uint row, uint count) {
    if (row >= count) return 0u;
    uint here = min(2u, count - row);
    if (args->carries == 0u) {
        uint bit = begin % 32u + row;
        return (column32_from(args->heads, begin / 32u)[bit / 32u] >> (bit % 32u)) & ((1u << here) - 1u);
    }
    __global uint* from = column32_from(args->heads, begin);
    uint found = from[row];
    if (here > 1u) {
        found |= from[row + 1u] << 1u;
    }
    if (here > 2u) {
        found |= from[row + 2u] << 2u;
    }
    if (here > 3u) {
        found |= from[row + 3u] << 3u;
    }
    return found;
}
#endif

#if IN_BITS == 64
INLINE uint2 widen(uint2 a, uint2 like) {
    return a;
}
#endif

#if IN_BITS == 64 && SERIAL == 0 && SHARED == 0
INLINE uint2 sum_of(Values rows) {
    uint2 sum = add(widen(rows.at.v[0], (uint2)(0u)), widen(rows.at.v[1], (uint2)(0u)));
    return sum;
}

INLINE uint2 start_of(uint head, Values rows, uint2 sum) {
    if (head > 1u) {
        sum = add(sum, widen(rows.at.v[0], sum));
    }
    return sum;
}

INLINE uint2 next_sum(const Arguments* args, uint head, uint2 value, uint2* sum, uint2* start) {
    uint2 before = head == 1u && args->carries == 0u ? (uint2)(0u) : subtract(*sum, *start);
    if (head == 1u) {
        *start = *sum;
    }
    *sum = add(*sum, widen(value, *sum));
    return before;
}
#endif

#if IN_BITS == 64 && SERIAL == 0
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
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->rest_row = 0xffffffffu;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column64_from(args->values, begin));
    UNROLL
    for (uint r = 0u; r < 16u; ++r) {
        if (r < ROUNDS) {
            globals->value[r] = load_rows(from, row_of(r), count);
            globals->head[r] = heads_of(args, begin, row_of(r), count);
        }
    }
    uint2 sum = (uint2)(0u);
    uint2 last_start = (uint2)(0u);
    bool any_head = false;
    UNROLL
    for (uint r = 0u; r < 16u; ++r) {
        if (r < ROUNDS) {
            uint2 own = sum_of(globals->value[r]);
            uint2 value = add(sum, subgroup_sum_before(own));
            globals->sum_before[r] = value;
            uint2 own_start = start_of(globals->head[r], globals->value[r], globals->sum_before[r]);
            uint4 with_head = subgroup_ballot(globals->head[r] != 0u);
            uint4 earlier = with_head & subgroup_lt_mask();
            bool has_earlier = any(earlier != (uint4)(0u));
            bool has_any = any(with_head != (uint4)(0u));
            uint2 earlier_start = subgroup_shuffle_uint2(own_start,
                    has_earlier ? subgroup_ballot_find_msb(earlier) : subgroup_local_id());
            uint2 round_start = subgroup_shuffle_uint2(own_start,
                    has_any ? subgroup_ballot_find_msb(with_head) : subgroup_local_id());
            globals->started[r] = any_head || has_earlier;
            globals->start[r] = has_earlier ? earlier_start : last_start;
            if (has_any) {
                last_start = round_start;
            }
            any_head = any_head || has_any;
            sum = add(sum, subgroup_sum(own));
        }
    }
    if (subgroup_elect()) {
        shared->sh_sum[subgroup_id()] = sum;
        shared->sh_start[subgroup_id()] = last_start;
        shared->sh_started[subgroup_id()] = any_head ? 1u : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 before = (uint2)(0u);
    uint2 all_ = (uint2)(0u);
    uint2 enters = (uint2)(0u);
    uint2 leaves = subtract((uint2)(0u), carry_into(args, tile));
    any_head = false;
    for (uint s = 0u; s < subgroup_count(); ++s) {
        if (s == subgroup_id()) {
            before = all_;
            enters = leaves;
        }
        if (shared->sh_started[s] == 1u) {
            leaves = add(all_, shared->sh_start[s]);
            any_head = true;
        }
        all_ = add(all_, shared->sh_sum[s]);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(args, tile, subtract(all_, leaves), any_head);
    }
    if (absent(args->sums)) return;
    uint2 to = as_uint2((ulong)column64_from(args->sums, begin));
    Sums row;
    UNROLL
    for (uint r = 0u; r < 16u; ++r) {
        if (r < ROUNDS && row_of(r) < count) {
            uint2 at = add(before, globals->sum_before[r]);
            uint2 from_start = globals->started[r] ? add(before, globals->start[r]) : enters;
            uint2 value = next_sum(args, globals->head[r] & 1u, globals->value[r].at.v[0], &at, &from_start);
            row.at.v[0] = value;
            uint2 value_2 = next_sum(args, (globals->head[r] >> 1u) & 1u, globals->value[r].at.v[1], &at, &from_start);
            row.at.v[1] = value_2;
            store_rows(globals, to, row_of(r), count, row);
        }
    }
    store_rest(globals, to, count);
}
#endif

#if IN_BITS == 64 && SHARED == 1
INLINE uint row_of(uint round) {
    return (round * WORKGROUP + LOCAL_ID_X) * 2u;
}

INLINE uint heads_of(const Arguments* args, uint begin, uint row, uint count) {
    uint here = min(2u, count - min(row, count));
    uint last = count - 1u;
    uint found;
    if (args->carries == 0u) {
        uint bit = begin % 32u + min(row, last);
        found = column32_from(args->heads, begin / 32u)[bit / 32u] >> (bit % 32u);
    } else {
        __global uint* from = column32_from(args->heads, begin);
        found = 0u;
        UNROLL
        for (uint k = 0u; k < 2u; ++k) {
            found |= from[min(row + k, last)] << k;
        }
    }
    return found & ((1u << here) - 1u);
}

INLINE uint2 next_sum(uint head, uint zero, uint2 row, Held* held) {
    uint2 before = (head & zero) == 1u ? (uint2)(0u) : held->sum;
    *held = combine(*held, (Held){widen(row, (uint2)(0u)), head == 1u});
    return before;
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
    bool writes = !absent(args->sums);
    uint zero = 1u - args->carries;
    Held all_ = (Held){carry_into(args, tile), false};
    uint_array head;
    Held before[4];
    Sums row[4];
    for (uint first = 0u; first * WORKGROUP * 4u < count; first += 4u) {
        load_portion(globals, from, first, count);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            head.v[r] = heads_of(args, begin, row_of(first + r), count);
        }
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            before[r] = nothing();
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                Held held = before[r];
                next_sum((head.v[r] >> k) & 1u, zero, globals->value[r].at.v[k], &held);
                before[r] = held;
            }
        }
        all_ = scan_portion(shared, all_, before);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                Held held = before[r];
                uint value = next_sum((head.v[r] >> k) & 1u, zero, globals->value[r].at.v[k], &held);
                before[r] = held;
                row[r].at.v[k] = value;
            }
        }
        if (writes) {
            store_portion(globals, to, first, count, row);
        }
    }
    if (writes) {
        store_rest(globals, to, count);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(args, tile, all_.sum, all_.head);
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
    bool writes = !absent(args->sums);
    uint zero = 1u - args->carries;
    Held all_ = (Held){carry_into(args, tile), false};
    uint_array head;
    Held before[4];
    Sums row[4];
    for (uint first = 0u; first * WORKGROUP * 4u < count; first += 4u) {
        load_portion(globals, from, first, count);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            head.v[r] = heads_of(args, begin, row_of(first + r), count);
        }
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            before[r] = nothing();
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                Held held = before[r];
                next_sum((head.v[r] >> k) & 1u, zero, globals->value[r].at.v[k], &held);
                before[r] = held;
            }
        }
        all_ = scan_portion(shared, all_, before);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                Held held = before[r];
                uint2 value = next_sum((head.v[r] >> k) & 1u, zero, globals->value[r].at.v[k], &held);
                before[r] = held;
                row[r].at[k] = value;
            }
        }
        if (writes) {
            store_portion(globals, to, first, count, row);
        }
    }
    if (writes) {
        store_rest(globals, to, count);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(args, tile, all_.sum, all_.head);
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
    bool writes = !absent(args->sums);
    uint zero = 1u - args->carries;
    Held all_ = (Held){carry_into(args, tile), false};
    uint head[4];
    Held before[4];
    Sums row[4];
    for (uint first = 0u; first * WORKGROUP * 2u < count; first += 4u) {
        load_portion(globals, from, first, count);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            head[r] = heads_of(args, begin, row_of(first + r), count);
        }
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            before[r] = nothing();
            UNROLL
            for (uint k = 0u; k < 2u; ++k) {
                Held held = before[r];
                next_sum((head[r] >> k) & 1u, zero, globals->value[r].at.v[k], &held);
                before[r] = held;
            }
        }
        all_ = scan_portion(shared, all_, before);
        UNROLL
        for (uint r = 0u; r < 4u; ++r) {
            UNROLL
            for (uint k = 0u; k < 2u; ++k) {
                Held held = before[r];
                uint2 value = next_sum((head[r] >> k) & 1u, zero, globals->value[r].at.v[k], &held);
                before[r] = held;
                row[r].at.v[k] = value;
            }
        }
        if (writes) {
            store_portion(globals, to, first, count, row);
        }
    }
    if (writes) {
        store_rest(globals, to, count);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(args, tile, all_.sum, all_.head);
    }
}
#endif

#if SERIAL == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void segmented_scan(
    __global uchar* values,
    __global uchar* heads,
    __global uchar* tile_carries,
    __global uchar* sums,
    __global uchar* tile_sums,
    __global uchar* tile_heads,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)heads + scalars.heads),
        as_uint2((ulong)tile_carries + scalars.tile_carries),
        as_uint2((ulong)sums + scalars.sums),
        as_uint2((ulong)tile_sums + scalars.tile_sums),
        as_uint2((ulong)tile_heads + scalars.tile_heads),
        scalars.rows,
        scalars.tiles,
        scalars.carries,
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
    bool writes = !absent(args->sums);
    bool behind = args->carries == 1u;
    bool any_head = false;
    uint per_word = behind ? 0u : 5u;
    uint within = (1u << per_word) - 1u;
    uint2 bits = args->heads;
    uint2 sum = carry_into(args, tile);
    uint word = 0u;
    for (uint i = 0u; i < count; ++i) {
        uint row = begin + i;
        if (i == 0u || (row & within) == 0u) {
            word = column32_from(bits, row >> per_word)[0];
        }
        bool head = ((word >> (row & within)) & 1u) == 1u;
        uint2 value = widen(from[i], sum);
        if (writes) {
            to[i] = head && !behind ? (uint2)(0u) : sum;
        }
        sum = head ? value : add(sum, value);
        any_head = any_head || head;
    }
    write_tile(args, tile, sum, any_head);
}
#endif

#if SERIAL == 1
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void segmented_scan(
    __global uchar* values,
    __global uchar* heads,
    __global uchar* tile_carries,
    __global uchar* sums,
    __global uchar* tile_sums,
    __global uchar* tile_heads,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)heads + scalars.heads),
        as_uint2((ulong)tile_carries + scalars.tile_carries),
        as_uint2((ulong)sums + scalars.sums),
        as_uint2((ulong)tile_sums + scalars.tile_sums),
        as_uint2((ulong)tile_heads + scalars.tile_heads),
        scalars.rows,
        scalars.tiles,
        scalars.carries,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}
#endif
