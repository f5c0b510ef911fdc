// Kernel reduce in OpenCL C 1.2, translated from shaders/reduce.comp by make generate; do not edit.
// Variants:
//   in_bits=32 sum_bits=32 serial=0
//   in_bits=32 sum_bits=32 serial=1
//   in_bits=32 sum_bits=64 serial=0
//   in_bits=32 sum_bits=64 serial=1
//   in_bits=64 sum_bits=64 serial=0
//   in_bits=64 sum_bits=64 serial=1

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
    ulong tile_results;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 values;
    uint2 tile_results;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

#if SUM_BITS == 32 && SERIAL == 0
typedef struct {
    uint sh_partial[WORKGROUP];
} Shared;
#endif

#if SUM_BITS == 32 || IN_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}
#endif

#if SUM_BITS == 32
INLINE uint nothing(void) {
    return OP == 1u || OP == 3u ? 0xffffffffu : 0u;
}

INLINE uint widen(uint a, uint like) {
    return a;
}

INLINE bool less(uint a, uint b) {
    return a < b;
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

INLINE uint combine(uint a, uint b) {
    if (OP == 1u) return less(b, a) ? b : a;
    if (OP == 2u) return less(a, b) ? b : a;
    return OP == 3u ? a & b : OP == 4u ? a | b : add(a, b);
}
#endif

#if (SUM_BITS == 32 && SERIAL == 0) || (IN_BITS == 32 && SERIAL == 0)
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
#endif

#if SUM_BITS == 32 && SERIAL == 0
INLINE uint workgroup_reduce(__local Shared* shared, uint own) {
    shared->sh_partial[LOCAL_ID_X] = own;
    uint left = WORKGROUP;
    while (left > 1u) {
        uint kept = (left + 1u) / 2u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LOCAL_ID_X + kept < left) {
            own = combine(own, shared->sh_partial[LOCAL_ID_X + kept]);
            shared->sh_partial[LOCAL_ID_X] = own;
        }
        left = kept;
    }
    return own;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->values, begin);
    uint loads = count / 4u;
    uint result = nothing();
    Values value[8];
    for (uint i = LOCAL_ID_X; i < loads; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < loads) {
                value[k] = load_values(as_uint2((ulong)from), i + k * WORKGROUP);
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < loads) {
                UNROLL
                for (uint j = 0u; j < 4u; ++j) {
                    result = combine(result, widen(value[k].at.v[j], result));
                }
            }
        }
    }
    for (uint last = loads * 4u + LOCAL_ID_X; last < count; last += WORKGROUP) {
        result = combine(result, widen(from[last], result));
    }
    result = workgroup_reduce(shared, result);
    if (LOCAL_ID_X == 0u) {
        column32_from(args->tile_results, tile)[0] = result;
    }
}
#endif

#if SUM_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint* from = column32_from(args->values, begin);
    uint result = nothing();
    for (uint i = 0u; i < count; ++i) {
        result = combine(result, widen(from[i], result));
    }
    column32_from(args->tile_results, tile)[0] = result;
}
#endif

#if SUM_BITS == 64 && SERIAL == 0
typedef struct {
    uint2 sh_partial[WORKGROUP];
} Shared;
#endif

#if SUM_BITS == 64
INLINE uint2 nothing(void) {
    return (uint2)(OP == 1u || OP == 3u ? 0xffffffffu : 0u);
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE uint2 combine(uint2 a, uint2 b) {
    if (OP == 1u) return less(b, a) ? b : a;
    if (OP == 2u) return less(a, b) ? b : a;
    return OP == 3u ? a & b : OP == 4u ? a | b : add(a, b);
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64
INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}
#endif

#if SUM_BITS == 64 && SERIAL == 0
INLINE uint2 workgroup_reduce(__local Shared* shared, uint2 own) {
    shared->sh_partial[LOCAL_ID_X] = own;
    uint left = WORKGROUP;
    while (left > 1u) {
        uint kept = (left + 1u) / 2u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LOCAL_ID_X + kept < left) {
            own = combine(own, shared->sh_partial[LOCAL_ID_X + kept]);
            shared->sh_partial[LOCAL_ID_X] = own;
        }
        left = kept;
    }
    return own;
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->values, begin);
    uint loads = count / 4u;
    uint2 result = nothing();
    Values value[8];
    for (uint i = LOCAL_ID_X; i < loads; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < loads) {
                value[k] = load_values(as_uint2((ulong)from), i + k * WORKGROUP);
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < loads) {
                UNROLL
                for (uint j = 0u; j < 4u; ++j) {
                    result = combine(result, widen(value[k].at.v[j], result));
                }
            }
        }
    }
    for (uint last = loads * 4u + LOCAL_ID_X; last < count; last += WORKGROUP) {
        result = combine(result, widen(from[last], result));
    }
    result = workgroup_reduce(shared, result);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->tile_results, tile)[0] = result;
    }
}
#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint* from = column32_from(args->values, begin);
    uint2 result = nothing();
    for (uint i = 0u; i < count; ++i) {
        result = combine(result, widen(from[i], result));
    }
    column64_from(args->tile_results, tile)[0] = result;
}
#endif

#if IN_BITS == 64 && SERIAL == 0
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
#endif

#if IN_BITS == 64
INLINE uint2 widen(uint2 a, uint2 like) {
    return a;
}
#endif

#if IN_BITS == 64 && SERIAL == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(args->values, begin);
    uint loads = count / 2u;
    uint2 result = nothing();
    Values value[8];
    for (uint i = LOCAL_ID_X; i < loads; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < loads) {
                value[k] = load_values(as_uint2((ulong)from), i + k * WORKGROUP);
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < loads) {
                UNROLL
                for (uint j = 0u; j < 2u; ++j) {
                    result = combine(result, widen(value[k].at.v[j], result));
                }
            }
        }
    }
    for (uint last = loads * 2u + LOCAL_ID_X; last < count; last += WORKGROUP) {
        result = combine(result, widen(from[last], result));
    }
    result = workgroup_reduce(shared, result);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->tile_results, tile)[0] = result;
    }
}
#endif

#if SERIAL == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void reduce(
    __global uchar* values,
    __global uchar* tile_results,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)tile_results + scalars.tile_results),
        scalars.rows,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}
#endif

#if IN_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint2* from = column64_from(args->values, begin);
    uint2 result = nothing();
    for (uint i = 0u; i < count; ++i) {
        result = combine(result, widen(from[i], result));
    }
    column64_from(args->tile_results, tile)[0] = result;
}
#endif

#if SERIAL == 1
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void reduce(
    __global uchar* values,
    __global uchar* tile_results,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)tile_results + scalars.tile_results),
        scalars.rows,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}
#endif
