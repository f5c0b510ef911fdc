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
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
    ulong bits;
    ulong counts;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 bits;
    uint2 counts;
    uint rows;
    uint tiles;
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

INLINE uint bits_below(uint bit) {
    return bit < 32u ? (1u << bit) - 1u : 0xffffffffu;
}

INLINE uint bits_between(uint first, uint end, uint word) {
    uint begin = word * 32u;
    return (end > begin ? bits_below(end - begin) : 0u) & ~(word == 0u ? bits_below(first) : 0u);
}

#define FLIP (INVERTED == 1u ? 0xffffffffu : 0u)

#if SERIAL == 0 && SHARED == 0
typedef struct {
    uint sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
} Shared;

INLINE uint subgroup_sum(uint a) {
    return subgroup_add(a);
}

INLINE uint add(uint a, uint b) {
    return a + b;
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

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->bits, begin / 32u);
    uint sum = 0u;
    for (uint word = LOCAL_ID_X; word * 32u < count; word += WORKGROUP) {
        sum += popcount((from[word] ^ FLIP) & bits_between(0u, count, word));
    }
    uint all_;
    workgroup_sum(shared, subgroup_sum(sum), &all_);
    if (LOCAL_ID_X == 0u) {
        column32_from(args->counts, tile)[0] = all_;
    }
}
#endif

#if SHARED == 1
typedef struct {
    uint sh_total[2];
} Shared;

typedef struct {
    uint low;
    uint high;
} uint_pair;

INLINE uint_pair add_carry(uint a, uint b) {
    uint sum = a + b;
    return (uint_pair){sum, sum < a ? 1u : 0u};
}

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

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->bits, begin / 32u);
    uint sum = 0u;
    for (uint word = LOCAL_ID_X; word * 32u < count; word += WORKGROUP) {
        sum += popcount((from[word] ^ FLIP) & bits_between(0u, count, word));
    }
    uint all_ = workgroup_total(shared, (uint2)(sum, 0u)).x;
    if (LOCAL_ID_X == 0u) {
        column32_from(args->counts, tile)[0] = all_;
    }
}
#endif

#if SERIAL == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compact_count(
    __global uchar* bits,
    __global uchar* counts,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)bits + scalars.bits),
        as_uint2((ulong)counts + scalars.counts),
        scalars.rows,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}
#endif

#if SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    uint first = begin % 32u;
    __global uint* from = column32_from(args->bits, begin / 32u);
    uint sum = 0u;
    for (uint word = 0u; word * 32u < first + count; ++word) {
        sum += popcount((from[word] ^ FLIP) & bits_between(first, first + count, word));
    }
    column32_from(args->counts, tile)[0] = sum;
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compact_count(
    __global uchar* bits,
    __global uchar* counts,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)bits + scalars.bits),
        as_uint2((ulong)counts + scalars.counts),
        scalars.rows,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}
#endif
