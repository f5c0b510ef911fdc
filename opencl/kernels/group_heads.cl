// Kernel group_heads in OpenCL C 1.2, translated from shaders/group_heads.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 heads; uint2 groups; uint rows; uint cut; uint first_group; uint end_group; } Push;

typedef struct { uint v[WORKGROUP * ITEMS / 32u]; } uint_xworkgroup_items_32u;

typedef struct {
    uint_xworkgroup_items_32u sh_words;
    uint sh_groups;
} Shared;

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

#if KEY_BITS == 32
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->keys, begin);
    __global uint* before = column32_from(push->keys, max(begin, 1u) - 1u);
    uint cuts = push->cut - 1u;
    uint at_start = begin == 0u ? 1u : 0u;
    uint i = LOCAL_ID_X;
    for (; i < (WORKGROUP * ITEMS / 32u); i = i + WORKGROUP) {
        shared->sh_words.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_groups = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint found = 0u;
    uint i_2 = LOCAL_ID_X;
    for (; i_2 < count; i_2 = i_2 + WORKGROUP) {
        bool first = (begin + i_2) == 0u;
        bool differs = first || from[i_2] != before[max(i_2, at_start) - at_start];
        found = found + (differs ? 1u : 0u);
        if (differs || ((begin + i_2) & cuts) == 0u) {
            atomic_or(&shared->sh_words.v[i_2 / 32u], 1u << (i_2 % 32u));
        }
    }
    atomic_add(&shared->sh_groups, found);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to = column32_from(push->heads, begin / 32u);
    uint i_3 = LOCAL_ID_X;
    for (; i_3 < ((count + 31u) / 32u); i_3 = i_3 + WORKGROUP) {
        to[i_3] = shared->sh_words.v[i_3];
    }
    if (LOCAL_ID_X == 0u) {
        atomic_add(&((__global uint*)as_ulong(push->groups))[0], shared->sh_groups);
    }
}

#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(push->keys, begin);
    __global uint2* before = column64_from(push->keys, max(begin, 1u) - 1u);
    uint cuts = push->cut - 1u;
    uint at_start = begin == 0u ? 1u : 0u;
    uint i = LOCAL_ID_X;
    for (; i < (WORKGROUP * ITEMS / 32u); i = i + WORKGROUP) {
        shared->sh_words.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_groups = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint found = 0u;
    uint i_2 = LOCAL_ID_X;
    for (; i_2 < count; i_2 = i_2 + WORKGROUP) {
        bool first = (begin + i_2) == 0u;
        bool differs = first || any(from[i_2] != before[max(i_2, at_start) - at_start]);
        found = found + (differs ? 1u : 0u);
        if (differs || ((begin + i_2) & cuts) == 0u) {
            atomic_or(&shared->sh_words.v[i_2 / 32u], 1u << (i_2 % 32u));
        }
    }
    atomic_add(&shared->sh_groups, found);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to = column32_from(push->heads, begin / 32u);
    uint i_3 = LOCAL_ID_X;
    for (; i_3 < ((count + 31u) / 32u); i_3 = i_3 + WORKGROUP) {
        to[i_3] = shared->sh_words.v[i_3];
    }
    if (LOCAL_ID_X == 0u) {
        atomic_add(&((__global uint*)as_ulong(push->groups))[0], shared->sh_groups);
    }
}

#endif

typedef struct {
    ulong keys;
    ulong heads;
    ulong groups;
    uint rows;
    uint cut;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_heads(__global uchar* keys, __global uchar* heads, __global uchar* groups, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)heads + words.heads),
        as_uint2((ulong)groups + words.groups),
        words.rows,
        words.cut,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

