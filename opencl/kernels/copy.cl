// Kernel copy in OpenCL C 1.2, translated from shaders/copy.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 source; uint2 destination; uint rows; uint source_first; uint destination_first; uint first_group; uint end_group; } Push;

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

typedef struct { uint4 v[8u]; } uint4_x8u;

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint2 from = element_address(push->source, push->source_first + begin, 2u);
    uint2 to = element_address(push->destination, push->destination_first + begin, 2u);
    uint variable;
    if (((from.x | to.x) & 15u) == 0u) {
        variable = count / 4u;
    } else {
        variable = 0u;
    }
    uint vectors = variable;
    uint i = LOCAL_ID_X;
    uint4_x8u value;
    for (; i < vectors; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i + k * WORKGROUP) < vectors) {
                value.v[k] = ((__global uint4*)as_ulong(from))[i + k * WORKGROUP];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < vectors) {
                ((__global uint4*)as_ulong(to))[i + k_2 * WORKGROUP] = value.v[k_2];
            }
        }
    }
    uint i_2 = 4u * vectors + LOCAL_ID_X;
    for (; i_2 < count; i_2 = i_2 + WORKGROUP) {
        ((__global uint*)as_ulong(to))[i_2] = ((__global uint*)as_ulong(from))[i_2];
    }
}

typedef struct {
    ulong source;
    ulong destination;
    uint rows;
    uint source_first;
    uint destination_first;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void copy(__global uchar* source, __global uchar* destination, const Words words) {
    const Push addresses = {
        as_uint2((ulong)source + words.source),
        as_uint2((ulong)destination + words.destination),
        words.rows,
        words.source_first,
        words.destination_first,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

