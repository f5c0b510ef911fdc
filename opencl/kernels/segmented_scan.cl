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
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 values; uint2 heads; uint2 tile_carries; uint2 sums; uint2 tile_sums; uint2 tile_heads; uint rows; uint tiles; uint carries; uint first_group; uint end_group; } Push;

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

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

#if (SUM_BITS == 32 && SERIAL == 0) || (IN_BITS == 32 && SERIAL == 0) || SHARED == 1
typedef struct { uint v[4u]; } uint_x4u;

#endif

#if SUM_BITS == 32 && SERIAL == 0
typedef struct { uint_x4u at; } Sums;

INLINE void store_sums(uint2 to, uint row, Sums sums) {
    ((__global uint4*)as_ulong(to))[row / 4u] = (uint4)(sums.at.v[0], sums.at.v[1], sums.at.v[2], sums.at.v[3]);
}

#endif

#if (SUM_BITS == 32 && SERIAL == 0) || (IN_BITS == 32 && SERIAL == 0)
typedef struct { uint_x4u at; } Values;

INLINE Values no_values() {
    return (Values){(uint_x4u){{0u, 0u, 0u, 0u}}};
}

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint_x4u){{words_.x, words_.y, words_.z, words_.w}}};
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

#if (SUM_BITS == 32 && SERIAL == 0 && SHARED == 0) || (IN_BITS == 32 && SERIAL == 0 && SHARED == 0)
typedef struct { Values v[8u]; } Values_x8u;

typedef struct { uint v[8u]; } uint_x8u;

typedef struct { bool v[8u]; } bool_x8u;

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ((ITEMS + 4u - 1u) / 4u) + round) * invocations + subgroup_local_id()) * 4u;
}

INLINE uint heads_of(const Push* push, uint begin, uint row, uint count) {
    if (row >= count) {
        return 0u;
    }
    uint here = min(4u, count - row);
    if (push->carries == 0u) {
        uint bit = begin % 32u + row;
        return (column32_from(push->heads, begin / 32u)[bit / 32u] >> (bit % 32u)) & ((1u << here) - 1u);
    }
    __global uint* from = column32_from(push->heads, begin);
    uint found = from[row];
    if (here > 1u) {
        found = found | (from[row + 1u] << 1);
    }
    if (here > 2u) {
        found = found | (from[row + 2u] << 2);
    }
    if (here > 3u) {
        found = found | (from[row + 3u] << 3);
    }
    return found;
}

#endif

#if SERIAL == 0 && SHARED == 0
typedef struct { uint v[(WORKGROUP + 3u) / 4u]; } uint_xworkgroup_3u_4u;

#endif

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint_xworkgroup_3u_4u sh_sum;
    uint_xworkgroup_3u_4u sh_start;
    uint_xworkgroup_3u_4u sh_started;
} Shared;

typedef struct {
    uint rest_row;
    Sums rest;
    Values_x8u value;
    uint_x8u head;
    uint_x8u sum_before;
    bool_x8u started;
    uint_x8u start;
} Own;

INLINE uint subgroup_sum_before(uint a) {
    uint value = subgroup_exclusive_add(a);
    return value;
}

INLINE uint subgroup_sum(uint a) {
    uint value = subgroup_add(a);
    return value;
}

INLINE uint subtract(uint a, uint b) {
    return a - b;
}

#endif

#if SUM_BITS == 32
INLINE uint widen(uint a, uint like) {
    return a;
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

INLINE uint carry_into(const Push* push, uint tile) {
    uint variable;
    if (absent(push->tile_carries)) {
        variable = 0u;
    } else {
        variable = column32_from(push->tile_carries, tile)[0];
    }
    return variable;
}

INLINE void write_tile(const Push* push, uint tile, uint sum, bool head) {
    if (absent(push->tile_sums)) {
        return;
    }
    column32_from(push->tile_sums, tile)[0] = sum;
    column32_from(push->tile_heads, tile)[0] = head ? 1u : 0u;
}

#endif

#if SUM_BITS == 32 && SERIAL == 0 && SHARED == 0
INLINE uint sum_of(Values rows) {
    uint sum = add(widen(rows.at.v[0], 0u), widen(rows.at.v[1], 0u));
    sum = add(sum, add(widen(rows.at.v[2], sum), widen(rows.at.v[3], sum)));
    return sum;
}

INLINE uint start_of(uint head, Values rows, uint* sum) {
    if (head > 1u) {
        *sum = add(*sum, widen(rows.at.v[0], *sum));
    }
    if (head > 3u) {
        *sum = add(*sum, widen(rows.at.v[1], *sum));
    }
    if (head > 7u) {
        *sum = add(*sum, widen(rows.at.v[2], *sum));
    }
    return *sum;
}

INLINE uint next_sum(const Push* push, uint head, uint value, uint* sum, uint* start) {
    uint variable;
    if (head == 1u && push->carries == 0u) {
        variable = 0u;
    } else {
        variable = subtract(*sum, *start);
    }
    uint before = variable;
    if (head == 1u) {
        *start = *sum;
    }
    *sum = add(*sum, widen(value, *sum));
    return before;
}

#endif

#if SHARED == 1
typedef struct { uint v[4u * WORKGROUP]; } uint_x4u_workgroup;

#endif

#if SUM_BITS == 32 && SHARED == 1
typedef struct {
    uint_x4u_workgroup sh_sum;
    uint_x4u_workgroup sh_head;
} Shared;

typedef struct { uint sum; bool head; } Held;

INLINE Held nothing() {
    return (Held){0u, false};
}

INLINE Held combine(Held a, Held b) {
    uint both = add(a.sum, b.sum);
    uint variable;
    if (b.head) {
        variable = b.sum;
    } else {
        variable = both;
    }
    return (Held){variable, a.head || b.head};
}

INLINE uint next_sum(uint head, uint zero, uint row, Held* held) {
    uint variable;
    if ((head & zero) == 1u) {
        variable = 0u;
    } else {
        variable = (*held).sum;
    }
    uint before = variable;
    *held = combine(*held, (Held){widen(row, 0u), head == 1u});
    return before;
}

#endif

#if (SUM_BITS == 32 && SHARED == 1) || (IN_BITS == 32 && SHARED == 1)
INLINE uint row_of(uint round) {
    return (round * WORKGROUP + LOCAL_ID_X) * 4u;
}

INLINE uint heads_of(const Push* push, uint begin, uint row, uint count) {
    uint here = min(4u, count - min(row, count));
    uint last = count - 1u;
    uint found;
    if (push->carries == 0u) {
        uint bit = begin % 32u + min(row, last);
        found = column32_from(push->heads, begin / 32u)[bit / 32u] >> (bit % 32u);
    } else {
        __global uint* from = column32_from(push->heads, begin);
        found = 0u;
        uint k = 0u;
        UNROLL
        for (; k < 4u; k = k + 1) {
            found = found | (from[min(row + k, last)] << k);
        }
    }
    return found & ((1u << here) - 1u);
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
    bool writes = !absent(push->sums);
    bool behind = push->carries == 1u;
    bool any_head = false;
    uint per_word = behind ? 0u : 5u;
    uint within = (1u << per_word) - 1u;
    uint2 bits = push->heads;
    uint sum = carry_into(push, tile);
    uint word = 0u;
    uint i = 0u;
    uint variable;
    for (; i < count; i = i + 1) {
        uint row = begin + i;
        if ((i == 0u) || (row & within) == 0u) {
            word = column32_from(bits, row >> per_word)[0];
        }
        bool head = ((word >> (row & within)) & 1u) == 1u;
        uint value = widen(from[i], sum);
        if (writes) {
            to[i] = head && (!behind) ? 0u : sum;
        }
        if (head) {
            variable = value;
        } else {
            variable = add(sum, value);
        }
        sum = variable;
        any_head = any_head || head;
    }
    write_tile(push, tile, sum, any_head);
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[4u]; } uint2_x4u;

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

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct { uint2 v[8u]; } uint2_x8u;

typedef struct {
    uint rest_row;
    Sums rest;
    Values_x8u value;
    uint_x8u head;
    uint2_x8u sum_before;
    bool_x8u started;
    uint2_x8u start;
} Own;

#endif

#if SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct { uint2 v[(WORKGROUP + 3u) / 4u]; } uint2_xworkgroup_3u_4u;

typedef struct {
    uint2_xworkgroup_3u_4u sh_sum;
    uint2_xworkgroup_3u_4u sh_start;
    uint_xworkgroup_3u_4u sh_started;
} Shared;

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 4194303u, (a.x >> 22) | ((a.y & 4095u) << 10), a.y >> 12);
}

INLINE uint2 subtract(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) - as_ulong(b));
}

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

INLINE uint2 carry_into(const Push* push, uint tile) {
    uint2 variable;
    if (absent(push->tile_carries)) {
        variable = (uint2)(0u);
    } else {
        variable = column64_from(push->tile_carries, tile)[0];
    }
    return variable;
}

INLINE void write_tile(const Push* push, uint tile, uint2 sum, bool head) {
    if (absent(push->tile_sums)) {
        return;
    }
    column64_from(push->tile_sums, tile)[0] = sum;
    column32_from(push->tile_heads, tile)[0] = head ? 1u : 0u;
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0 && SHARED == 0
INLINE uint2 sum_of(Values rows) {
    uint2 sum = add(widen(rows.at.v[0], (uint2)(0u)), widen(rows.at.v[1], (uint2)(0u)));
    sum = add(sum, add(widen(rows.at.v[2], sum), widen(rows.at.v[3], sum)));
    return sum;
}

INLINE uint2 start_of(uint head, Values rows, uint2* sum) {
    if (head > 1u) {
        *sum = add(*sum, widen(rows.at.v[0], *sum));
    }
    if (head > 3u) {
        *sum = add(*sum, widen(rows.at.v[1], *sum));
    }
    if (head > 7u) {
        *sum = add(*sum, widen(rows.at.v[2], *sum));
    }
    return *sum;
}

INLINE uint2 next_sum(const Push* push, uint head, uint value, uint2* sum, uint2* start) {
    uint2 variable;
    if (head == 1u && push->carries == 0u) {
        variable = (uint2)(0u);
    } else {
        variable = subtract(*sum, *start);
    }
    uint2 before = variable;
    if (head == 1u) {
        *start = *sum;
    }
    *sum = add(*sum, widen(value, *sum));
    return before;
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

#endif

#if SUM_BITS == 64 && SHARED == 1
typedef struct { uint2 v[4u * WORKGROUP]; } uint2_x4u_workgroup;

typedef struct {
    uint2_x4u_workgroup sh_sum;
    uint_x4u_workgroup sh_head;
} Shared;

typedef struct { uint2 sum; bool head; } Held;

INLINE Held nothing() {
    return (Held){(uint2)(0u), false};
}

INLINE Held combine(Held a, Held b) {
    uint2 both = add(a.sum, b.sum);
    uint2 variable;
    if (b.head) {
        variable = b.sum;
    } else {
        variable = both;
    }
    return (Held){variable, a.head || b.head};
}

#endif

#if SHARED == 1
INLINE void put_scanned(__local Shared* shared, uint at, Held held) {
    shared->sh_sum.v[at] = held.sum;
    shared->sh_head.v[at] = held.head ? 1u : 0u;
}

INLINE Held scanned(__local Shared* shared, uint at) {
    return (Held){shared->sh_sum.v[at], shared->sh_head.v[at] == 1u};
}

INLINE Held workgroup_scan(__local Shared* shared, Held* own_, Held* all) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, *own_);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint step = 1u;
    for (; step < WORKGROUP; step = step * 2u) {
        if (LOCAL_ID_X >= step) {
            *own_ = combine(scanned(shared, side + LOCAL_ID_X - step), *own_);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, *own_);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) {
        return nothing();
    }
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

typedef struct { Held v[4u]; } Held_x4u;

INLINE Held scan_portion(__local Shared* shared, Held before, Held_x4u* held) {
    Held sum = nothing();
    uint r = 0u;
    UNROLL
    for (; r < 4u; r = r + 1) {
        put_scanned(shared, r * WORKGROUP + LOCAL_ID_X, (*held).v[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = 0u;
    Held_x4u own_;
    UNROLL
    for (; k < 4u; k = k + 1) {
        own_.v[k] = scanned(shared, 4u * LOCAL_ID_X + k);
        sum = combine(sum, own_.v[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    Held param_6 = sum;
    Held param_7;
    Held value = workgroup_scan(shared, &param_6, &param_7);
    Held all = param_7;
    Held at = value;
    at = combine(before, at);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < 4u; k_2 = k_2 + 1) {
        put_scanned(shared, 4u * LOCAL_ID_X + k_2, at);
        at = combine(at, own_.v[k_2]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint r_2 = 0u;
    UNROLL
    for (; r_2 < 4u; r_2 = r_2 + 1) {
        (*held).v[r_2] = scanned(shared, r_2 * WORKGROUP + LOCAL_ID_X);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return combine(before, all);
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SHARED == 1
INLINE uint2 next_sum(uint head, uint zero, uint row, Held* held) {
    uint2 variable;
    if ((head & zero) == 1u) {
        variable = (uint2)(0u);
    } else {
        variable = (*held).sum;
    }
    uint2 before = variable;
    *held = combine(*held, (Held){widen(row, (uint2)(0u)), head == 1u});
    return before;
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
    bool writes = !absent(push->sums);
    bool behind = push->carries == 1u;
    bool any_head = false;
    uint per_word = behind ? 0u : 5u;
    uint within = (1u << per_word) - 1u;
    uint2 bits = push->heads;
    uint2 sum = carry_into(push, tile);
    uint word = 0u;
    uint i = 0u;
    uint2 variable;
    for (; i < count; i = i + 1) {
        uint row = begin + i;
        if ((i == 0u) || (row & within) == 0u) {
            word = column32_from(bits, row >> per_word)[0];
        }
        bool head = ((word >> (row & within)) & 1u) == 1u;
        uint2 value = widen(from[i], sum);
        if (writes) {
            to[i] = head && (!behind) ? (uint2)(0u) : sum;
        }
        if (head) {
            variable = value;
        } else {
            variable = add(sum, value);
        }
        sum = variable;
        any_head = any_head || head;
    }
    write_tile(push, tile, sum, any_head);
}

#endif

#if IN_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[2u]; } uint2_x2u;

typedef struct { uint2_x2u at; } Sums;

typedef struct { uint2_x2u at; } Values;

INLINE Values no_values() {
    return (Values){(uint2_x2u){{(uint2)(0u), (uint2)(0u)}}};
}

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    uint4 value = words_;
    uint4 value_2 = words_;
    return (Values){(uint2_x2u){{value.xy, value_2.zw}}};
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
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->rest_row = 4294967295u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column32_from(push->values, begin));
    uint r = 0u;
    UNROLL
    for (; r < 8u; r = r + 1) {
        if (r < ((ITEMS + 4u - 1u) / 4u)) {
            own->value.v[r] = load_rows(from, row_of(r), count);
            own->head.v[r] = heads_of(push, begin, row_of(r), count);
        }
    }
    uint sum = 0u;
    uint last_start = 0u;
    bool any_head = false;
    uint r_2 = 0u;
    uint variable;
    uint variable_2;
    UNROLL
    for (; r_2 < 8u; r_2 = r_2 + 1) {
        if (r_2 < ((ITEMS + 4u - 1u) / 4u)) {
            uint own_ = sum_of(own->value.v[r_2]);
            own->sum_before.v[r_2] = add(sum, subgroup_sum_before(own_));
            uint param_20 = own->sum_before.v[r_2];
            uint own_start = start_of(own->head.v[r_2], own->value.v[r_2], &param_20);
            uint4 value = subgroup_ballot(own->head.v[r_2] != 0u);
            uint4 with_head = value;
            uint4 earlier = with_head & subgroup_lt_mask();
            bool has_earlier = any(earlier != (uint4)(0u));
            bool has_any = any(with_head != (uint4)(0u));
            uint value_2 = own_start;
            if (has_earlier) {
                uint value_3 = subgroup_ballot_find_msb(earlier);
                variable = value_3;
            } else {
                variable = subgroup_local_id();
            }
            uint value_4 = subgroup_shuffle(value_2, variable);
            uint earlier_start = value_4;
            uint value_5 = own_start;
            if (has_any) {
                uint value_6 = subgroup_ballot_find_msb(with_head);
                variable_2 = value_6;
            } else {
                variable_2 = subgroup_local_id();
            }
            uint value_7 = subgroup_shuffle(value_5, variable_2);
            uint round_start = value_7;
            own->started.v[r_2] = any_head || has_earlier;
            own->start.v[r_2] = has_earlier ? earlier_start : last_start;
            if (has_any) {
                last_start = round_start;
            }
            any_head = any_head || has_any;
            sum = add(sum, subgroup_sum(own_));
        }
    }
    bool value_8 = subgroup_elect();
    if (value_8) {
        shared->sh_sum.v[subgroup_id()] = sum;
        shared->sh_start.v[subgroup_id()] = last_start;
        shared->sh_started.v[subgroup_id()] = any_head ? 1u : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    uint all = 0u;
    uint enters = 0u;
    uint leaves = subtract(0u, carry_into(push, tile));
    any_head = false;
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before = all;
            enters = leaves;
        }
        if (shared->sh_started.v[s] == 1u) {
            leaves = add(all, shared->sh_start.v[s]);
            any_head = true;
        }
        all = add(all, shared->sh_sum.v[s]);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(push, tile, subtract(all, leaves), any_head);
    }
    if (absent(push->sums)) {
        return;
    }
    uint2 to = as_uint2((ulong)column32_from(push->sums, begin));
    uint r_3 = 0u;
    uint variable_3;
    Sums row;
    UNROLL
    for (; r_3 < 8u; r_3 = r_3 + 1) {
        if (r_3 < ((ITEMS + 4u - 1u) / 4u) && row_of(r_3) < count) {
            uint at = add(before, own->sum_before.v[r_3]);
            if (own->started.v[r_3]) {
                variable_3 = add(before, own->start.v[r_3]);
            } else {
                variable_3 = enters;
            }
            uint from_start = variable_3;
            uint param_46 = at;
            uint param_47 = from_start;
            uint value_9 = next_sum(push, own->head.v[r_3] & 1u, own->value.v[r_3].at.v[0], &param_46, &param_47);
            at = param_46;
            from_start = param_47;
            row.at.v[0] = value_9;
            uint param_50 = at;
            uint param_51 = from_start;
            uint value_10 = next_sum(push, (own->head.v[r_3] >> 1) & 1u, own->value.v[r_3].at.v[1], &param_50, &param_51);
            at = param_50;
            from_start = param_51;
            row.at.v[1] = value_10;
            uint param_54 = at;
            uint param_55 = from_start;
            uint value_11 = next_sum(push, (own->head.v[r_3] >> 2) & 1u, own->value.v[r_3].at.v[2], &param_54, &param_55);
            at = param_54;
            from_start = param_55;
            row.at.v[2] = value_11;
            uint param_58 = at;
            uint param_59 = from_start;
            uint value_12 = next_sum(push, (own->head.v[r_3] >> 3) & 1u, own->value.v[r_3].at.v[3], &param_58, &param_59);
            at = param_58;
            from_start = param_59;
            row.at.v[3] = value_12;
            store_rows(own, to, row_of(r_3), count, row);
        }
    }
    store_rest(own, to, count);
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
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->rest_row = 4294967295u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column32_from(push->values, begin));
    uint r = 0u;
    UNROLL
    for (; r < 8u; r = r + 1) {
        if (r < ((ITEMS + 4u - 1u) / 4u)) {
            own->value.v[r] = load_rows(from, row_of(r), count);
            own->head.v[r] = heads_of(push, begin, row_of(r), count);
        }
    }
    uint2 sum = (uint2)(0u);
    uint2 last_start = (uint2)(0u);
    bool any_head = false;
    uint r_2 = 0u;
    uint variable;
    uint variable_2;
    UNROLL
    for (; r_2 < 8u; r_2 = r_2 + 1) {
        if (r_2 < ((ITEMS + 4u - 1u) / 4u)) {
            uint2 own_ = sum_of(own->value.v[r_2]);
            own->sum_before.v[r_2] = add(sum, subgroup_sum_before(own_));
            uint2 param_20 = own->sum_before.v[r_2];
            uint2 own_start = start_of(own->head.v[r_2], own->value.v[r_2], &param_20);
            uint4 value = subgroup_ballot(own->head.v[r_2] != 0u);
            uint4 with_head = value;
            uint4 earlier = with_head & subgroup_lt_mask();
            bool has_earlier = any(earlier != (uint4)(0u));
            bool has_any = any(with_head != (uint4)(0u));
            uint2 value_2 = own_start;
            if (has_earlier) {
                uint value_3 = subgroup_ballot_find_msb(earlier);
                variable = value_3;
            } else {
                variable = subgroup_local_id();
            }
            uint2 value_4 = subgroup_shuffle_uint2(value_2, variable);
            uint2 earlier_start = value_4;
            uint2 value_5 = own_start;
            if (has_any) {
                uint value_6 = subgroup_ballot_find_msb(with_head);
                variable_2 = value_6;
            } else {
                variable_2 = subgroup_local_id();
            }
            uint2 value_7 = subgroup_shuffle_uint2(value_5, variable_2);
            uint2 round_start = value_7;
            own->started.v[r_2] = any_head || has_earlier;
            own->start.v[r_2] = has_earlier ? earlier_start : last_start;
            if (has_any) {
                last_start = round_start;
            }
            any_head = any_head || has_any;
            sum = add(sum, subgroup_sum(own_));
        }
    }
    bool value_8 = subgroup_elect();
    if (value_8) {
        shared->sh_sum.v[subgroup_id()] = sum;
        shared->sh_start.v[subgroup_id()] = last_start;
        shared->sh_started.v[subgroup_id()] = any_head ? 1u : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 before = (uint2)(0u);
    uint2 all = (uint2)(0u);
    uint2 enters = (uint2)(0u);
    uint2 leaves = subtract((uint2)(0u), carry_into(push, tile));
    any_head = false;
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before = all;
            enters = leaves;
        }
        if (shared->sh_started.v[s] == 1u) {
            leaves = add(all, shared->sh_start.v[s]);
            any_head = true;
        }
        all = add(all, shared->sh_sum.v[s]);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(push, tile, subtract(all, leaves), any_head);
    }
    if (absent(push->sums)) {
        return;
    }
    uint2 to = as_uint2((ulong)column64_from(push->sums, begin));
    uint r_3 = 0u;
    uint2 variable_3;
    Sums row;
    UNROLL
    for (; r_3 < 8u; r_3 = r_3 + 1) {
        if (r_3 < ((ITEMS + 4u - 1u) / 4u) && row_of(r_3) < count) {
            uint2 at = add(before, own->sum_before.v[r_3]);
            if (own->started.v[r_3]) {
                variable_3 = add(before, own->start.v[r_3]);
            } else {
                variable_3 = enters;
            }
            uint2 from_start = variable_3;
            uint2 param_46 = at;
            uint2 param_47 = from_start;
            uint2 value_9 = next_sum(push, own->head.v[r_3] & 1u, own->value.v[r_3].at.v[0], &param_46, &param_47);
            at = param_46;
            from_start = param_47;
            row.at.v[0] = value_9;
            uint2 param_50 = at;
            uint2 param_51 = from_start;
            uint2 value_10 = next_sum(push, (own->head.v[r_3] >> 1) & 1u, own->value.v[r_3].at.v[1], &param_50, &param_51);
            at = param_50;
            from_start = param_51;
            row.at.v[1] = value_10;
            uint2 param_54 = at;
            uint2 param_55 = from_start;
            uint2 value_11 = next_sum(push, (own->head.v[r_3] >> 2) & 1u, own->value.v[r_3].at.v[2], &param_54, &param_55);
            at = param_54;
            from_start = param_55;
            row.at.v[2] = value_11;
            uint2 param_58 = at;
            uint2 param_59 = from_start;
            uint2 value_12 = next_sum(push, (own->head.v[r_3] >> 3) & 1u, own->value.v[r_3].at.v[3], &param_58, &param_59);
            at = param_58;
            from_start = param_59;
            row.at.v[3] = value_12;
            store_rows(own, to, row_of(r_3), count, row);
        }
    }
    store_rest(own, to, count);
}

#endif

#if IN_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct { Values v[16u]; } Values_x16u;

typedef struct { uint v[16u]; } uint_x16u;

typedef struct { uint2 v[16u]; } uint2_x16u;

typedef struct { bool v[16u]; } bool_x16u;

typedef struct {
    uint rest_row;
    Sums rest;
    Values_x16u value;
    uint_x16u head;
    uint2_x16u sum_before;
    bool_x16u started;
    uint2_x16u start;
} Own;

INLINE uint row_of(uint round) {
    uint invocations = min(subgroup_size(), WORKGROUP);
    return ((subgroup_id() * ((ITEMS + 2u - 1u) / 2u) + round) * invocations + subgroup_local_id()) * 2u;
}

INLINE uint heads_of(const Push* push, uint begin, uint row, uint count) {
    if (row >= count) {
        return 0u;
    }
    uint here = min(2u, count - row);
    if (push->carries == 0u) {
        uint bit = begin % 32u + row;
        return (column32_from(push->heads, begin / 32u)[bit / 32u] >> (bit % 32u)) & ((1u << here) - 1u);
    }
    __global uint* from = column32_from(push->heads, begin);
    uint found = from[row];
    if (here > 1u) {
        found = found | (from[row + 1u] << 1);
    }
    if (here > 2u) {
        found = found | (from[row + 2u] << 2);
    }
    if (here > 3u) {
        found = found | (from[row + 3u] << 3);
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

INLINE uint2 start_of(uint head, Values rows, uint2* sum) {
    if (head > 1u) {
        *sum = add(*sum, widen(rows.at.v[0], *sum));
    }
    return *sum;
}

INLINE uint2 next_sum(const Push* push, uint head, uint2 value, uint2* sum, uint2* start) {
    uint2 variable;
    if (head == 1u && push->carries == 0u) {
        variable = (uint2)(0u);
    } else {
        variable = subtract(*sum, *start);
    }
    uint2 before = variable;
    if (head == 1u) {
        *start = *sum;
    }
    *sum = add(*sum, widen(value, *sum));
    return before;
}

#endif

#if IN_BITS == 64 && SERIAL == 0
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
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->rest_row = 4294967295u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint2 from = as_uint2((ulong)column64_from(push->values, begin));
    uint r = 0u;
    UNROLL
    for (; r < 16u; r = r + 1) {
        if (r < ((ITEMS + 2u - 1u) / 2u)) {
            own->value.v[r] = load_rows(from, row_of(r), count);
            own->head.v[r] = heads_of(push, begin, row_of(r), count);
        }
    }
    uint2 sum = (uint2)(0u);
    uint2 last_start = (uint2)(0u);
    bool any_head = false;
    uint r_2 = 0u;
    uint variable;
    uint variable_2;
    UNROLL
    for (; r_2 < 16u; r_2 = r_2 + 1) {
        if (r_2 < ((ITEMS + 2u - 1u) / 2u)) {
            uint2 own_ = sum_of(own->value.v[r_2]);
            own->sum_before.v[r_2] = add(sum, subgroup_sum_before(own_));
            uint2 param_20 = own->sum_before.v[r_2];
            uint2 own_start = start_of(own->head.v[r_2], own->value.v[r_2], &param_20);
            uint4 value = subgroup_ballot(own->head.v[r_2] != 0u);
            uint4 with_head = value;
            uint4 earlier = with_head & subgroup_lt_mask();
            bool has_earlier = any(earlier != (uint4)(0u));
            bool has_any = any(with_head != (uint4)(0u));
            uint2 value_2 = own_start;
            if (has_earlier) {
                uint value_3 = subgroup_ballot_find_msb(earlier);
                variable = value_3;
            } else {
                variable = subgroup_local_id();
            }
            uint2 value_4 = subgroup_shuffle_uint2(value_2, variable);
            uint2 earlier_start = value_4;
            uint2 value_5 = own_start;
            if (has_any) {
                uint value_6 = subgroup_ballot_find_msb(with_head);
                variable_2 = value_6;
            } else {
                variable_2 = subgroup_local_id();
            }
            uint2 value_7 = subgroup_shuffle_uint2(value_5, variable_2);
            uint2 round_start = value_7;
            own->started.v[r_2] = any_head || has_earlier;
            own->start.v[r_2] = has_earlier ? earlier_start : last_start;
            if (has_any) {
                last_start = round_start;
            }
            any_head = any_head || has_any;
            sum = add(sum, subgroup_sum(own_));
        }
    }
    bool value_8 = subgroup_elect();
    if (value_8) {
        shared->sh_sum.v[subgroup_id()] = sum;
        shared->sh_start.v[subgroup_id()] = last_start;
        shared->sh_started.v[subgroup_id()] = any_head ? 1u : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 before = (uint2)(0u);
    uint2 all = (uint2)(0u);
    uint2 enters = (uint2)(0u);
    uint2 leaves = subtract((uint2)(0u), carry_into(push, tile));
    any_head = false;
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before = all;
            enters = leaves;
        }
        if (shared->sh_started.v[s] == 1u) {
            leaves = add(all, shared->sh_start.v[s]);
            any_head = true;
        }
        all = add(all, shared->sh_sum.v[s]);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(push, tile, subtract(all, leaves), any_head);
    }
    if (absent(push->sums)) {
        return;
    }
    uint2 to = as_uint2((ulong)column64_from(push->sums, begin));
    uint r_3 = 0u;
    uint2 variable_3;
    Sums row;
    UNROLL
    for (; r_3 < 16u; r_3 = r_3 + 1) {
        if (r_3 < ((ITEMS + 2u - 1u) / 2u) && row_of(r_3) < count) {
            uint2 at = add(before, own->sum_before.v[r_3]);
            if (own->started.v[r_3]) {
                variable_3 = add(before, own->start.v[r_3]);
            } else {
                variable_3 = enters;
            }
            uint2 from_start = variable_3;
            uint2 param_46 = at;
            uint2 param_47 = from_start;
            uint2 value_9 = next_sum(push, own->head.v[r_3] & 1u, own->value.v[r_3].at.v[0], &param_46, &param_47);
            at = param_46;
            from_start = param_47;
            row.at.v[0] = value_9;
            uint2 param_50 = at;
            uint2 param_51 = from_start;
            uint2 value_10 = next_sum(push, (own->head.v[r_3] >> 1) & 1u, own->value.v[r_3].at.v[1], &param_50, &param_51);
            at = param_50;
            from_start = param_51;
            row.at.v[1] = value_10;
            store_rows(own, to, row_of(r_3), count, row);
        }
    }
    store_rest(own, to, count);
}

#endif

#if IN_BITS == 64 && SHARED == 1
INLINE uint row_of(uint round) {
    return (round * WORKGROUP + LOCAL_ID_X) * 2u;
}

INLINE uint heads_of(const Push* push, uint begin, uint row, uint count) {
    uint here = min(2u, count - min(row, count));
    uint last = count - 1u;
    uint found;
    if (push->carries == 0u) {
        uint bit = begin % 32u + min(row, last);
        found = column32_from(push->heads, begin / 32u)[bit / 32u] >> (bit % 32u);
    } else {
        __global uint* from = column32_from(push->heads, begin);
        found = 0u;
        uint k = 0u;
        UNROLL
        for (; k < 2u; k = k + 1) {
            found = found | (from[min(row + k, last)] << k);
        }
    }
    return found & ((1u << here) - 1u);
}

INLINE uint2 next_sum(uint head, uint zero, uint2 row, Held* held) {
    uint2 variable;
    if ((head & zero) == 1u) {
        variable = (uint2)(0u);
    } else {
        variable = (*held).sum;
    }
    uint2 before = variable;
    *held = combine(*held, (Held){widen(row, (uint2)(0u)), head == 1u});
    return before;
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
    bool writes = !absent(push->sums);
    uint zero = 1u - push->carries;
    Held all = (Held){carry_into(push, tile), false};
    uint first = 0u;
    uint_x4u head;
    Held_x4u before;
    Sums_x4u row;
    for (; (first * WORKGROUP * 4u) < count; first = first + 4u) {
        load_portion(own, from, first, count);
        uint r = 0u;
        UNROLL
        for (; r < 4u; r = r + 1) {
            head.v[r] = heads_of(push, begin, row_of(first + r), count);
        }
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 4u; r_2 = r_2 + 1) {
            before.v[r_2] = nothing();
            uint k = 0u;
            UNROLL
            for (; k < 4u; k = k + 1) {
                uint value = r_2;
                Held param_20 = before.v[value];
                next_sum((head.v[r_2] >> k) & 1u, zero, own->value.v[r_2].at.v[k], &param_20);
                before.v[value] = param_20;
            }
        }
        Held_x4u param_22 = before;
        Held value_2 = scan_portion(shared, all, &param_22);
        before = param_22;
        all = value_2;
        uint r_3 = 0u;
        UNROLL
        for (; r_3 < 4u; r_3 = r_3 + 1) {
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 4u; k_2 = k_2 + 1) {
                uint value_3 = r_3;
                Held param_26 = before.v[value_3];
                uint value_4 = next_sum((head.v[r_3] >> k_2) & 1u, zero, own->value.v[r_3].at.v[k_2], &param_26);
                before.v[value_3] = param_26;
                row.v[r_3].at.v[k_2] = value_4;
            }
        }
        if (writes) {
            store_portion(own, to, first, count, row);
        }
    }
    if (writes) {
        store_rest(own, to, count);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(push, tile, all.sum, all.head);
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
    bool writes = !absent(push->sums);
    uint zero = 1u - push->carries;
    Held all = (Held){carry_into(push, tile), false};
    uint first = 0u;
    uint_x4u head;
    Held_x4u before;
    Sums_x4u row;
    for (; (first * WORKGROUP * 4u) < count; first = first + 4u) {
        load_portion(own, from, first, count);
        uint r = 0u;
        UNROLL
        for (; r < 4u; r = r + 1) {
            head.v[r] = heads_of(push, begin, row_of(first + r), count);
        }
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 4u; r_2 = r_2 + 1) {
            before.v[r_2] = nothing();
            uint k = 0u;
            UNROLL
            for (; k < 4u; k = k + 1) {
                uint value = r_2;
                Held param_20 = before.v[value];
                next_sum((head.v[r_2] >> k) & 1u, zero, own->value.v[r_2].at.v[k], &param_20);
                before.v[value] = param_20;
            }
        }
        Held_x4u param_22 = before;
        Held value_2 = scan_portion(shared, all, &param_22);
        before = param_22;
        all = value_2;
        uint r_3 = 0u;
        UNROLL
        for (; r_3 < 4u; r_3 = r_3 + 1) {
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 4u; k_2 = k_2 + 1) {
                uint value_3 = r_3;
                Held param_26 = before.v[value_3];
                uint2 value_4 = next_sum((head.v[r_3] >> k_2) & 1u, zero, own->value.v[r_3].at.v[k_2], &param_26);
                before.v[value_3] = param_26;
                row.v[r_3].at.v[k_2] = value_4;
            }
        }
        if (writes) {
            store_portion(own, to, first, count, row);
        }
    }
    if (writes) {
        store_rest(own, to, count);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(push, tile, all.sum, all.head);
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
    bool writes = !absent(push->sums);
    uint zero = 1u - push->carries;
    Held all = (Held){carry_into(push, tile), false};
    uint first = 0u;
    uint_x4u head;
    Held_x4u before;
    Sums_x4u row;
    for (; (first * WORKGROUP * 2u) < count; first = first + 4u) {
        load_portion(own, from, first, count);
        uint r = 0u;
        UNROLL
        for (; r < 4u; r = r + 1) {
            head.v[r] = heads_of(push, begin, row_of(first + r), count);
        }
        uint r_2 = 0u;
        UNROLL
        for (; r_2 < 4u; r_2 = r_2 + 1) {
            before.v[r_2] = nothing();
            uint k = 0u;
            UNROLL
            for (; k < 2u; k = k + 1) {
                uint value = r_2;
                Held param_20 = before.v[value];
                next_sum((head.v[r_2] >> k) & 1u, zero, own->value.v[r_2].at.v[k], &param_20);
                before.v[value] = param_20;
            }
        }
        Held_x4u param_22 = before;
        Held value_2 = scan_portion(shared, all, &param_22);
        before = param_22;
        all = value_2;
        uint r_3 = 0u;
        UNROLL
        for (; r_3 < 4u; r_3 = r_3 + 1) {
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 2u; k_2 = k_2 + 1) {
                uint value_3 = r_3;
                Held param_26 = before.v[value_3];
                uint2 value_4 = next_sum((head.v[r_3] >> k_2) & 1u, zero, own->value.v[r_3].at.v[k_2], &param_26);
                before.v[value_3] = param_26;
                row.v[r_3].at.v[k_2] = value_4;
            }
        }
        if (writes) {
            store_portion(own, to, first, count, row);
        }
    }
    if (writes) {
        store_rest(own, to, count);
    }
    if (LOCAL_ID_X == 0u) {
        write_tile(push, tile, all.sum, all.head);
    }
}

#endif

#if SERIAL == 0
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void segmented_scan(__global uchar* values, __global uchar* heads, __global uchar* tile_carries, __global uchar* sums, __global uchar* tile_sums, __global uchar* tile_heads, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)heads + words.heads),
        as_uint2((ulong)tile_carries + words.tile_carries),
        as_uint2((ulong)sums + words.sums),
        as_uint2((ulong)tile_sums + words.tile_sums),
        as_uint2((ulong)tile_heads + words.tile_heads),
        words.rows,
        words.tiles,
        words.carries,
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
    bool writes = !absent(push->sums);
    bool behind = push->carries == 1u;
    bool any_head = false;
    uint per_word = behind ? 0u : 5u;
    uint within = (1u << per_word) - 1u;
    uint2 bits = push->heads;
    uint2 sum = carry_into(push, tile);
    uint word = 0u;
    uint i = 0u;
    uint2 variable;
    for (; i < count; i = i + 1) {
        uint row = begin + i;
        if ((i == 0u) || (row & within) == 0u) {
            word = column32_from(bits, row >> per_word)[0];
        }
        bool head = ((word >> (row & within)) & 1u) == 1u;
        uint2 value = widen(from[i], sum);
        if (writes) {
            to[i] = head && (!behind) ? (uint2)(0u) : sum;
        }
        if (head) {
            variable = value;
        } else {
            variable = add(sum, value);
        }
        sum = variable;
        any_head = any_head || head;
    }
    write_tile(push, tile, sum, any_head);
}

#endif

#if SERIAL == 1
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void segmented_scan(__global uchar* values, __global uchar* heads, __global uchar* tile_carries, __global uchar* sums, __global uchar* tile_sums, __global uchar* tile_heads, const Words words) {
    const Push addresses = {
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)heads + words.heads),
        as_uint2((ulong)tile_carries + words.tile_carries),
        as_uint2((ulong)sums + words.sums),
        as_uint2((ulong)tile_sums + words.tile_sums),
        as_uint2((ulong)tile_heads + words.tile_heads),
        words.rows,
        words.tiles,
        words.carries,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

#endif
