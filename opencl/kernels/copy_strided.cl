// Kernel copy_strided in OpenCL C 1.2, translated from shaders/copy_strided.comp by make generate; do not edit.
// Variants:
//   the only one

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
    ulong source;
    ulong destination;
    uint rows;
    uint source_first;
    uint source_stride;
    uint destination_first;
    uint destination_stride;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 source;
    uint2 destination;
    uint rows;
    uint source_first;
    uint source_stride;
    uint destination_first;
    uint destination_stride;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

typedef struct {
    uint low;
    uint high;
} uint_pair;

INLINE uint_pair multiply_extended(uint a, uint b) {
    return (uint_pair){a * b, mul_hi(a, b)};
}

INLINE uint_pair add_carry(uint a, uint b) {
    uint sum = a + b;
    return (uint_pair){sum, sum < a ? 1u : 0u};
}

INLINE uint2 strided(uint2 base, uint at, uint stride) {
    uint_pair value = multiply_extended(at, 8u * stride);
    uint low = value.low;
    uint high = value.high;
    uint carry = add_carry(base.x, low).high;
    low = add_carry(base.x, low).low;
    return (uint2)(low, base.y + high + carry);
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint from_stride = args->source_stride;
    uint to_stride = args->destination_stride;
    uint2 from = strided(element_address(args->source, args->source_first, 3u), begin, from_stride);
    uint2 to = strided(element_address(args->destination, args->destination_first, 3u), begin, to_stride);
    uint2 word[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            word[k] = ((__global uint2*)as_ulong(from))[min(i + k * WORKGROUP, count - 1u) * from_stride];
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                ((__global uint2*)as_ulong(to))[(i + k * WORKGROUP) * to_stride] = word[k];
            }
        }
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void copy_strided(
    __global uchar* source,
    __global uchar* destination,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)source + scalars.source),
        as_uint2((ulong)destination + scalars.destination),
        scalars.rows,
        scalars.source_first,
        scalars.source_stride,
        scalars.destination_first,
        scalars.destination_stride,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

