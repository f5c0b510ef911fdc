// Kernel gather in OpenCL C 1.2, translated from shaders/gather.comp by make generate; do not edit.
// Variants:
//   value_bits=32
//   value_bits=64

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
    ulong values;
    ulong ids;
    ulong gathered;
    uint rows;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 values;
    uint2 ids;
    uint2 gathered;
    uint rows;
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

#if VALUE_BITS == 32
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->ids, begin);
    uint2 source = args->values;
    __global uint* to = column32_from(args->gathered, begin);
    uint id[8];
    uint value[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            id[k] = from[min(i + k * WORKGROUP, count - 1u)];
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            value[k] = column32_from(source, id[k])[0];
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                to[i + k * WORKGROUP] = value[k];
            }
        }
    }
}
#endif

#if VALUE_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->ids, begin);
    uint2 source = args->values;
    __global uint2* to = column64_from(args->gathered, begin);
    uint id[8];
    uint2 value[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            id[k] = from[min(i + k * WORKGROUP, count - 1u)];
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            value[k] = column64_from(source, id[k])[0];
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                to[i + k * WORKGROUP] = value[k];
            }
        }
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void gather(
    __global uchar* values,
    __global uchar* ids,
    __global uchar* gathered,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)ids + scalars.ids),
        as_uint2((ulong)gathered + scalars.gathered),
        scalars.rows,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

