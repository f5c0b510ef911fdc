// Kernel scatter in OpenCL C 1.2, translated from shaders/scatter.comp by make generate; do not edit.
// Variants:
//   value_bits=32
//   value_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 values; uint2 ids; uint2 scattered; uint rows; uint first_group; uint end_group; } Push;

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

typedef struct { uint v[8u]; } uint_x8u;

#if VALUE_BITS == 32
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* places = column32_from(push->ids, begin);
    __global uint* from = column32_from(push->values, begin);
    uint2 to = push->scattered;
    uint i = LOCAL_ID_X;
    uint_x8u id;
    uint_x8u value;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            uint at = min(i + k * WORKGROUP, count - 1u);
            id.v[k] = places[at];
            value.v[k] = from[at];
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < count) {
                column32_from(to, id.v[k_2])[0] = value.v[k_2];
            }
        }
    }
}

#endif

#if VALUE_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

typedef struct { uint2 v[8u]; } uint2_x8u;

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* places = column32_from(push->ids, begin);
    __global uint2* from = column64_from(push->values, begin);
    uint2 to = push->scattered;
    uint i = LOCAL_ID_X;
    uint_x8u id;
    uint2_x8u value;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            uint at = min(i + k * WORKGROUP, count - 1u);
            id.v[k] = places[at];
            value.v[k] = from[at];
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < count) {
                column64_from(to, id.v[k_2])[0] = value.v[k_2];
            }
        }
    }
}

#endif

typedef struct {
    ulong values;
    ulong ids;
    ulong scattered;
    uint rows;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void scatter(__global uchar* values, __global uchar* ids, __global uchar* scattered, const Words words) {
    const Push addresses = {
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)ids + words.ids),
        as_uint2((ulong)scattered + words.scattered),
        words.rows,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

