// Kernel cascade_place in OpenCL C 1.2, translated from shaders/cascade_place.comp by make generate; do not edit.
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
    ulong slots;
    ulong ends;
    ulong directory;
    ulong payload;
    uint first_block;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 slots;
    uint2 ends;
    uint2 directory;
    uint2 payload;
    uint first_block;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = column32_from(args->ends, group)[0];
    uint end = column32_from(args->ends, group + 1u)[0];
    uint base = column32_from(args->directory, args->first_block)[0];
    uint count = end - begin;
    __global uint* from = column32_from(args->slots, group * (VALUE_BITS == 64u ? 2052u : 1028u));
    __global uint* to = column32_from(args->payload, base + begin);
    uint word[ITEMS];
    for (uint i = LOCAL_ID_X; i < count; i += ITEMS * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            word[k] = from[min(i + k * WORKGROUP, count - 1u)];
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (i + k * WORKGROUP < count) {
                to[i + k * WORKGROUP] = word[k];
            }
        }
    }
    if (LOCAL_ID_X == 0u) {
        column32_from(args->directory, args->first_block + 1u + group)[0] = base + end;
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void cascade_place(
    __global uchar* slots,
    __global uchar* ends,
    __global uchar* directory,
    __global uchar* payload,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)slots + scalars.slots),
        as_uint2((ulong)ends + scalars.ends),
        as_uint2((ulong)directory + scalars.directory),
        as_uint2((ulong)payload + scalars.payload),
        scalars.first_block,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

