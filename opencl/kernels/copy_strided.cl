// Kernel copy_strided in OpenCL C 1.2, translated from shaders/copy_strided.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 source; uint2 destination; uint rows; uint source_first; uint source_stride; uint destination_first; uint destination_stride; uint first_group; uint end_group; } Push;

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

typedef struct { uint m0; uint m1; } ResType;

INLINE ResType multiply_extended(uint a, uint b) {
    return (ResType){a * b, mul_hi(a, b)};
}

INLINE ResType add_carry(uint a, uint b) {
    uint sum = a + b;
    return (ResType){sum, sum < a ? 1u : 0u};
}

INLINE uint2 strided(uint2 base, uint at, uint stride) {
    ResType value = multiply_extended(at, 8u * stride);
    uint low = value.m0;
    uint high = value.m1;
    ResType value_2 = add_carry(base.x, low);
    uint carry = value_2.m1;
    low = value_2.m0;
    return (uint2)(low, base.y + high + carry);
}

typedef struct { uint2 v[8u]; } uint2_x8u;

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint from_stride = push->source_stride;
    uint to_stride = push->destination_stride;
    uint2 from = strided(element_address(push->source, push->source_first, 3u), begin, from_stride);
    uint2 to = strided(element_address(push->destination, push->destination_first, 3u), begin, to_stride);
    uint i = LOCAL_ID_X;
    uint2_x8u word;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            word.v[k] = ((__global uint2*)as_ulong(from))[min(i + k * WORKGROUP, count - 1u) * from_stride];
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < count) {
                ((__global uint2*)as_ulong(to))[(i + k_2 * WORKGROUP) * to_stride] = word.v[k_2];
            }
        }
    }
}

typedef struct {
    ulong source;
    ulong destination;
    uint rows;
    uint source_first;
    uint source_stride;
    uint destination_first;
    uint destination_stride;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void copy_strided(__global uchar* source, __global uchar* destination, const Words words) {
    const Push addresses = {
        as_uint2((ulong)source + words.source),
        as_uint2((ulong)destination + words.destination),
        words.rows,
        words.source_first,
        words.source_stride,
        words.destination_first,
        words.destination_stride,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

