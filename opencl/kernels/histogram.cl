// Kernel histogram in OpenCL C 1.2, translated from shaders/histogram.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

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
    ulong keys;
    ulong counts;
    uint rows;
    uint shift;
    uint bits;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keys;
    uint2 counts;
    uint rows;
    uint shift;
    uint bits;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    uint sh_count[4096];
} Shared;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#if KEY_BITS == 32
typedef struct {
    uint v[4];
} uint_array;

typedef struct {
    uint_array at;
} Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint_array){{words.x, words.y, words.z, words.w}}};
}

INLINE uint digit_of(const Arguments* args, uint key) {
    return (key >> args->shift) & ((1u << args->bits) - 1u);
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint digits = 1u << args->bits;
    uint copies = min(32u, 0x1000u >> args->bits);
    uint copy = LOCAL_ID_X % copies;
    for (uint i = LOCAL_ID_X; i < digits * copies; i += WORKGROUP) {
        shared->sh_count[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->keys, begin);
    uint loads = count / 4u;
    uint digit = 0u;
    uint run = 0u;
    Values key[8];
    for (uint i = LOCAL_ID_X; i < loads; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            key[k] = load_values(as_uint2((ulong)from), min(i + k * WORKGROUP, loads - 1u));
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < loads) {
                UNROLL
                for (uint j = 0u; j < 4u; ++j) {
                    uint next = digit_of(args, key[k].at.v[j]);
                    if (next != digit) {
                        atomic_add(&shared->sh_count[digit * copies + copy], run);
                        digit = next;
                        run = 0u;
                    }
                    ++run;
                }
            }
        }
    }
    if (run > 0u) {
        atomic_add(&shared->sh_count[digit * copies + copy], run);
    }
    for (uint last = loads * 4u + LOCAL_ID_X; last < count; last += WORKGROUP) {
        atomic_add(&shared->sh_count[digit_of(args, from[last]) * copies + copy], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to = column32_from(args->counts, 0u);
    for (uint d = LOCAL_ID_X; d < digits; d += WORKGROUP) {
        uint sum = 0u;
        for (uint c = 0u; c < copies; ++c) {
            sum += shared->sh_count[d * copies + c];
        }
        if (sum > 0u) {
            atomic_add(&to[2u * d], sum);
        }
    }
}
#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

typedef struct {
    uint2 v[2];
} uint2_array;

typedef struct {
    uint2_array at;
} Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint2_array){{words.xy, words.zw}}};
}

INLINE uint digit_of(const Arguments* args, uint2 key) {
    uint low = args->shift == 0u ? key.x : args->shift < 32u ? (key.x >> args->shift) | (key.y << (32u - args->shift))
            : key.y >> (args->shift - 32u);
    return low & ((1u << args->bits) - 1u);
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint digits = 1u << args->bits;
    uint copies = min(32u, 0x1000u >> args->bits);
    uint copy = LOCAL_ID_X % copies;
    for (uint i = LOCAL_ID_X; i < digits * copies; i += WORKGROUP) {
        shared->sh_count[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(args->keys, begin);
    uint loads = count / 2u;
    uint digit = 0u;
    uint run = 0u;
    Values key[8];
    for (uint i = LOCAL_ID_X; i < loads; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            key[k] = load_values(as_uint2((ulong)from), min(i + k * WORKGROUP, loads - 1u));
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < loads) {
                UNROLL
                for (uint j = 0u; j < 2u; ++j) {
                    uint next = digit_of(args, key[k].at.v[j]);
                    if (next != digit) {
                        atomic_add(&shared->sh_count[digit * copies + copy], run);
                        digit = next;
                        run = 0u;
                    }
                    ++run;
                }
            }
        }
    }
    if (run > 0u) {
        atomic_add(&shared->sh_count[digit * copies + copy], run);
    }
    for (uint last = loads * 2u + LOCAL_ID_X; last < count; last += WORKGROUP) {
        atomic_add(&shared->sh_count[digit_of(args, from[last]) * copies + copy], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to = column32_from(args->counts, 0u);
    for (uint d = LOCAL_ID_X; d < digits; d += WORKGROUP) {
        uint sum = 0u;
        for (uint c = 0u; c < copies; ++c) {
            sum += shared->sh_count[d * copies + c];
        }
        if (sum > 0u) {
            atomic_add(&to[2u * d], sum);
        }
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void histogram(
    __global uchar* keys,
    __global uchar* counts,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)counts + scalars.counts),
        scalars.rows,
        scalars.shift,
        scalars.bits,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

