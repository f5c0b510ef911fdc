// Kernel parameters in OpenCL C 1.2, translated from shaders/parameters.comp by make generate; do not edit.
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

typedef struct {
    uint kept_total;
} Globals;

INLINE uint both(uint* a, uint* b) {
    ++*a;
    *b *= 3u;
    return *a ^ *b;
}

INLINE uint in_and_out(uint a, uint* b) {
    *b = a + 1u;
    return a * *b;
}

INLINE uint twice(uint* a) {
    *a = *a * 2u + 1u;
    return *a;
}

INLINE uint own_copy(uint a) {
    a ^= a >> 3u;
    a += 5u;
    return a;
}

INLINE void maybe(bool set, uint2* a) {
    if (set) {
        a->y = 17u;
    } else {
        --a->x;
    }
}

INLINE uint note(Globals* globals, uint a) {
    globals->kept_total += a;
    return globals->kept_total;
}

INLINE void through(Globals* globals, uint* a) {
    twice(a);
    globals->kept_total ^= *a;
}

INLINE void kernel_main(const Arguments* args, Globals* globals) {
    uint x = ((__global uint*)as_ulong(args->values))[4u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP +
            LOCAL_ID_X) + 0u];
    uint y = ((__global uint*)as_ulong(args->values))[4u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP +
            LOCAL_ID_X) + 1u];
    globals->kept_total = 1u;
    uint value = both(&x, &y);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            0u] = value + x + y;
    uint b = x;
    uint value_2 = both(&x, &b);
    x = b;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            1u] = value_2;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            2u] = x;
    uint value_3 = in_and_out(x, &x);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            3u] = value_3 + x;
    x = twice(&x);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            4u] = x + own_copy(x) + x;
    uint value_4 = twice(&y);
    uint y_2 = y;
    uint z = value_4 + y_2 * twice(&y);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            5u] = z ^ y;
    uint a[3];
    a[0] = x;
    a[1] = y;
    a[2] = z;
    uint at = ((__global uint*)as_ulong(args->values))[4u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP +
            LOCAL_ID_X) + 2u] % 3u;
    uint a_2 = a[at];
    uint value_5 = twice(&a_2);
    a[at] = a_2;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            6u] = value_5 + a[0] + 3u * a[1] + 5u * a[2];
    uint2 v = (uint2)(x, y);
    maybe(((__global uint*)as_ulong(args->values))[4u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP +
            LOCAL_ID_X) + 3u] > 7u, &v);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            7u] = v.x ^ (v.y << 4u);
    uint a_3 = v.x;
    twice(&a_3);
    v.x = a_3;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            8u] = v.x;
    uint value_6 = note(globals, x) * 2u;
    uint value_7 = value_6 + note(globals, y);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            9u] = value_7 - globals->kept_total;
    through(globals, &y);
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            10u] = y + globals->kept_total;
    uint i = 0u;
    uint i_2 = i;
    ++i;
    a[i_2] = i;
    uint i_3 = i;
    uint value_8 = twice(&i);
    a[i_3] = value_8 + i;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            11u] = a[0] + a[1] * 3u + i * 7u;
    uint p = 3u;
    uint p_2 = p;
    ++p;
    --p;
    uint q = p_2 * 2u + p;
    ((__global uint*)as_ulong(args->results))[16u * ((args->first_group + WORKGROUP_ID_X) * WORKGROUP + LOCAL_ID_X) +
            12u] = p * 16u + q;
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void parameters(
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
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, globals);
}

