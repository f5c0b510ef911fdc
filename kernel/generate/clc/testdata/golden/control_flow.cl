// Kernel control_flow in OpenCL C 1.2, translated from shaders/control_flow.comp by make generate; do not edit.
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

INLINE uint collatz(uint n) {
    uint steps = 0u;
    while (n > 1u) {
        if (steps > 40u) return 1000u;
        n = (n & 1u) == 0u ? n / 2u : 3u * n + 1u;
        ++steps;
    }
    return steps;
}

INLINE uint nested(uint a, uint b) {
    uint sum = 0u;
    for (uint i = 0u; i < 7u; ++i) {
        if (i == (a & 3u)) continue;
        for (uint j = i;; j += 2u) {
            if (j > 9u) break;
            if ((j ^ b) % 3u == 1u) continue;
            uint k = 0u;
            for (uint m = 5u; k < m; ++k, --m) {
                if (k == (b & 7u)) break;
                sum += i * 100u + j * 10u + k;
            }
        }
        if (sum > 5000u) break;
    }
    return sum;
}

INLINE uint last_test(uint a) {
    uint n = 0u;
    uint x = a;
    do {
        ++n;
        if ((x & 1u) != 0u) {
            x >>= 1u;
            continue;
        }
        x ^= 85u;
        if (n == 9u) break;
    } while (x > 3u && n < 20u);
    return n * 256u + (x & 255u);
}

INLINE uint kind(uint a) {
    if (a < 10u) {
        if (a == 3u) return 33u;
    } else if (a < 100u) {
        return 2u;
    } else if (a == 0x80000000u) {
        return 4u;
    } else {
        uint b = a & 15u;
        if (b > 7u) return b;
    }
    return 5u;
}

INLINE uint kept(uint a) {
    uint changes = 0u;
    uint previous;
    for (uint i = 0u; i < 16u; ++i) {
        uint bit = (a >> i) & 1u;
        if (i > 0u && bit != previous) {
            ++changes;
        }
        previous = bit;
    }
    return changes;
}

INLINE uint endless(uint a) {
    uint n = 0u;
    for (;;) {
        if (n * n > (a & 0xffffu)) return n;
        ++n;
    }
}

INLINE void kernel_main(const Arguments* args) {
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            0u] = collatz(((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 0u] & 63u);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            1u] = nested(((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 0u],
            ((__global uint*)as_ulong(args->values))[4u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP +
            LOCAL_ID_X) + 1u]);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            2u] = last_test(((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 1u]);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            3u] = kind(((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 2u]);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            4u] = kept(((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 3u]);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            5u] = endless(((__global uint*)as_ulong(args->values))[4u * ((args->first_group +
            WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) + 0u]);
    if (((__global uint*)as_ulong(args->values))[4u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            0u] > ((__global uint*)as_ulong(args->values))[4u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP +
            LOCAL_ID_X) + 1u]) {
        return;
    }
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            6u] = 7u;
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void control_flow(
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

