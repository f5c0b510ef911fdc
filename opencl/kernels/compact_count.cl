// Kernel compact_count in OpenCL C 1.2, translated from shaders/compact_count.comp by make generate; do not edit.
// Variants:
//   serial=0 shared=0
//   serial=0 shared=1
//   serial=1 shared=0

#ifndef SUBGROUPS
#if SERIAL == 0 && SHARED == 0
#error "compact_count: this variant needs subgroups"
#endif
#endif

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

#if SERIAL == 0 && SHARED == 0
typedef struct { uint v[(WORKGROUP + 3u) / 4u]; } uint_xworkgroup_3u_4u;

typedef struct {
    uint_xworkgroup_3u_4u sh_subgroup_sum;
} Shared;

INLINE uint subgroup_sum(uint a) {
    uint value = subgroup_add(a);
    return value;
}

INLINE uint add(uint a, uint b) {
    return a + b;
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

#endif

typedef struct { uint2 bits; uint2 counts; uint rows; uint tiles; uint first_group; uint end_group; } Push;

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

INLINE uint bits_below(uint bit) {
    uint variable;
    if (bit < 32u) {
        variable = (1u << bit) - 1u;
    } else {
        variable = 4294967295u;
    }
    return variable;
}

INLINE uint bits_between(uint first, uint end, uint word) {
    uint begin = word * 32u;
    uint variable;
    if (end > begin) {
        variable = bits_below(end - begin);
    } else {
        variable = 0u;
    }
    uint value = variable;
    uint variable_2;
    if (word == 0u) {
        variable_2 = bits_below(first);
    } else {
        variable_2 = 0u;
    }
    return value & (~variable_2);
}

#if SERIAL == 0 && SHARED == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->bits, begin / 32u);
    uint sum = 0u;
    uint word = LOCAL_ID_X;
    for (; (word * 32u) < count; word = word + WORKGROUP) {
        sum = sum + as_uint(popcount((from[word] ^ (INVERTED == 1u ? 4294967295u : 0u)) & bits_between(0u, count, word)));
    }
    uint param_11;
    workgroup_sum(shared, subgroup_sum(sum), &param_11);
    uint all = param_11;
    if (LOCAL_ID_X == 0u) {
        column32_from(push->counts, tile)[0] = all;
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

INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->bits, begin / 32u);
    uint sum = 0u;
    uint word = LOCAL_ID_X;
    for (; (word * 32u) < count; word = word + WORKGROUP) {
        sum = sum + as_uint(popcount((from[word] ^ (INVERTED == 1u ? 4294967295u : 0u)) & bits_between(0u, count, word)));
    }
    uint2 value = workgroup_total(shared, (uint2)(sum, 0u));
    uint all = value.x;
    if (LOCAL_ID_X == 0u) {
        column32_from(push->counts, tile)[0] = all;
    }
}

#endif

#if SERIAL == 0
typedef struct {
    ulong bits;
    ulong counts;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compact_count(__global uchar* bits, __global uchar* counts, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)bits + words.bits),
        as_uint2((ulong)counts + words.counts),
        words.rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

#endif

#if SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    uint first = begin % 32u;
    __global uint* from = column32_from(push->bits, begin / 32u);
    uint sum = 0u;
    uint word = 0u;
    for (; (word * 32u) < (first + count); word = word + 1) {
        sum = sum + as_uint(popcount((from[word] ^ (INVERTED == 1u ? 4294967295u : 0u)) & bits_between(first, first + count, word)));
    }
    column32_from(push->counts, tile)[0] = sum;
}

typedef struct {
    ulong bits;
    ulong counts;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compact_count(__global uchar* bits, __global uchar* counts, const Words words) {
    const Push addresses = {
        as_uint2((ulong)bits + words.bits),
        as_uint2((ulong)counts + words.counts),
        words.rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

#endif
