// Kernel group_heads in OpenCL C 1.2, translated from shaders/group_heads.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

#define WORDS (WORKGROUP * ITEMS / 32u)

typedef struct {
    ulong keys;
    ulong heads;
    ulong groups;
    uint rows;
    uint cut;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keys;
    uint2 heads;
    uint2 groups;
    uint rows;
    uint cut;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    uint sh_words[WORDS];
    uint sh_groups;
} Shared;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#if KEY_BITS == 32
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->keys, begin);
    __global uint* before = column32_from(args->keys, max(begin, 1u) - 1u);
    uint cuts = args->cut - 1u;
    uint at_start = begin == 0u ? 1u : 0u;
    for (uint i = LOCAL_ID_X; i < WORDS; i += WORKGROUP) {
        shared->sh_words[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_groups = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint found = 0u;
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        bool first = begin + i == 0u;
        bool differs = first || from[i] != before[max(i, at_start) - at_start];
        found += differs ? 1u : 0u;
        if (differs || ((begin + i) & cuts) == 0u) {
            atomic_or(&shared->sh_words[i / 32u], 1u << (i % 32u));
        }
    }
    atomic_add(&shared->sh_groups, found);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to = column32_from(args->heads, begin / 32u);
    for (uint i = LOCAL_ID_X; i < (count + 31u) / 32u; i += WORKGROUP) {
        to[i] = shared->sh_words[i];
    }
    if (LOCAL_ID_X == 0u) {
        atomic_add(&((__global uint*)as_ulong(args->groups))[0], shared->sh_groups);
    }
}
#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(args->keys, begin);
    __global uint2* before = column64_from(args->keys, max(begin, 1u) - 1u);
    uint cuts = args->cut - 1u;
    uint at_start = begin == 0u ? 1u : 0u;
    for (uint i = LOCAL_ID_X; i < WORDS; i += WORKGROUP) {
        shared->sh_words[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_groups = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint found = 0u;
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        bool first = begin + i == 0u;
        bool differs = first || any(from[i] != before[max(i, at_start) - at_start]);
        found += differs ? 1u : 0u;
        if (differs || ((begin + i) & cuts) == 0u) {
            atomic_or(&shared->sh_words[i / 32u], 1u << (i % 32u));
        }
    }
    atomic_add(&shared->sh_groups, found);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to = column32_from(args->heads, begin / 32u);
    for (uint i = LOCAL_ID_X; i < (count + 31u) / 32u; i += WORKGROUP) {
        to[i] = shared->sh_words[i];
    }
    if (LOCAL_ID_X == 0u) {
        atomic_add(&((__global uint*)as_ulong(args->groups))[0], shared->sh_groups);
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_heads(
    __global uchar* keys,
    __global uchar* heads,
    __global uchar* groups,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)heads + scalars.heads),
        as_uint2((ulong)groups + scalars.groups),
        scalars.rows,
        scalars.cut,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

