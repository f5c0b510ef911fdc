// Kernel shared_memory in OpenCL C 1.2, translated from shaders/shared_memory.comp by make generate; do not edit.
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

#define SIZE (WORKGROUP * 2u)

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

typedef struct {
    uint sh_sum[SIZE];
    uint sh_most;
    uint sh_count[ITEMS];
    uint2 sh_pair[WORKGROUP];
} Shared;

INLINE uint scanned(__local Shared* shared, uint own) {
    uint side = 0u;
    shared->sh_sum[LOCAL_ID_X] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < WORKGROUP; step *= 2u) {
        if (LOCAL_ID_X >= step) {
            own += shared->sh_sum[side + LOCAL_ID_X - step];
        }
        side = WORKGROUP - side;
        shared->sh_sum[side + LOCAL_ID_X] = own;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return own;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    if (LOCAL_ID_X == 0u) {
        shared->sh_most = 0u;
    }
    for (uint i = LOCAL_ID_X; i < ITEMS; i += WORKGROUP) {
        shared->sh_count[i] = 0u;
    }
    shared->sh_pair[LOCAL_ID_X] = (uint2)(((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 0u], LOCAL_ID_X);
    uint own = scanned(shared, ((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 1u]);
    atomic_max(&shared->sh_most, ((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 0u]);
    atomic_add(&shared->sh_count[((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 2u] % ITEMS], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            0u] = own;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            1u] = shared->sh_most;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            2u] = shared->sh_pair[WORKGROUP - 1u - LOCAL_ID_X].x;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            3u] = shared->sh_count[LOCAL_ID_X % ITEMS];
    barrier(CLK_LOCAL_MEM_FENCE);
    shared->sh_pair[LOCAL_ID_X].y += shared->sh_pair[LOCAL_ID_X].x;
    uint value = ((__global uint*)as_ulong(args->values))[4u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP +
            LOCAL_ID_X) + 3u] & 1u;
    ((__local uint*)&shared->sh_pair[LOCAL_ID_X])[value] ^= 21u;
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            4u] = shared->sh_pair[LOCAL_ID_X ^ 1u].y + shared->sh_pair[(LOCAL_ID_X + 3u) % WORKGROUP].x;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            5u] = SIZE;
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void shared_memory(
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
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

