// Kernel forms in OpenCL C 1.2, translated from shaders/forms.comp by make generate; do not edit.
// Variants:
//   bits=32 form=0
//   bits=32 form=1
//   bits=32 form=2
//   bits=64 form=0
//   bits=64 form=1
//   bits=64 form=2

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
    ulong results;
    uint rows;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 values;
    uint2 results;
    uint rows;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint mixed(uint a) {
    return a ^ 5u;
}

#if BITS == 32
INLINE uint widened(uint a) {
    return a;
}
#endif

#if FORM == 2
INLINE uint third(uint a) {
    return a + 3u;
}
#endif

#if BITS == 64
INLINE uint widened(uint a) {
    return a * 2u;
}
#endif

#if FORM <= 1
INLINE void kernel_main(const Arguments* args) {
    uint a = mixed(widened(((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 0u]));
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            0u] = a;
}
#endif

#if FORM == 2
INLINE void kernel_main(const Arguments* args) {
    uint a = mixed(widened(((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 0u]));
    a = third(a);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            0u] = a;
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void forms(
    __global uchar* values,
    __global uchar* results,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)results + scalars.results),
        scalars.rows,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

