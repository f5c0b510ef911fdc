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
#pragma OPENCL FP_CONTRACT OFF

#if SUM_BITS == 32 && SERIAL == 0
typedef struct { uint v[WORKGROUP]; } uint_xworkgroup;

typedef struct {
    uint_xworkgroup sh_partial;
} Shared;

#endif

typedef struct { uint2 values; uint2 tile_results; uint rows; uint tiles; uint first_group; uint end_group; } Push;

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

#if SUM_BITS == 32 || IN_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#endif

#if SUM_BITS == 32
INLINE uint nothing() {
    return (OP == 1u) || (OP == 3u) ? 4294967295u : 0u;
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
    if (OP == 1u) {
        return less(b, a) ? b : a;
    }
    if (OP == 2u) {
        return less(a, b) ? b : a;
    }
    uint variable;
    if (OP == 3u) {
        variable = a & b;
    } else {
        uint variable_2;
        if (OP == 4u) {
            variable_2 = a | b;
        } else {
            variable_2 = add(a, b);
        }
        variable = variable_2;
    }
    return variable;
}

#endif

#if (SUM_BITS == 32 && SERIAL == 0) || (IN_BITS == 32 && SERIAL == 0)
typedef struct { uint v[4u]; } uint_x4u;

typedef struct { uint_x4u at; } Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint_x4u){{words_.x, words_.y, words_.z, words_.w}}};
}

#endif

#if SUM_BITS == 32 && SERIAL == 0
INLINE uint workgroup_reduce(__local Shared* shared, uint* own_) {
    shared->sh_partial.v[LOCAL_ID_X] = *own_;
    uint left = WORKGROUP;
    while (left > 1u) {
        uint kept = (left + 1u) / 2u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((LOCAL_ID_X + kept) < left) {
            *own_ = combine(*own_, shared->sh_partial.v[LOCAL_ID_X + kept]);
            shared->sh_partial.v[LOCAL_ID_X] = *own_;
        }
        left = kept;
    }
    return *own_;
}

#endif

#if SUM_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint* from = column32_from(push->values, begin);
    uint result = nothing();
    uint i = 0u;
    for (; i < count; i = i + 1) {
        result = combine(result, widen(from[i], result));
    }
    column32_from(push->tile_results, tile)[0] = result;
}

#endif

#if SUM_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[WORKGROUP]; } uint2_xworkgroup;

typedef struct {
    uint2_xworkgroup sh_partial;
} Shared;

#endif

#if SUM_BITS == 64
INLINE uint2 nothing() {
    return (uint2)((OP == 1u) || (OP == 3u) ? 4294967295u : 0u);
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE uint2 combine(uint2 a, uint2 b) {
    if (OP == 1u) {
        return less(b, a) ? b : a;
    }
    if (OP == 2u) {
        return less(a, b) ? b : a;
    }
    uint2 variable;
    if (OP == 3u) {
        variable = a & b;
    } else {
        uint2 variable_2;
        if (OP == 4u) {
            variable_2 = a | b;
        } else {
            variable_2 = add(a, b);
        }
        variable = variable_2;
    }
    return variable;
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
INLINE uint2 workgroup_reduce(__local Shared* shared, uint2* own_) {
    shared->sh_partial.v[LOCAL_ID_X] = *own_;
    uint left = WORKGROUP;
    while (left > 1u) {
        uint kept = (left + 1u) / 2u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((LOCAL_ID_X + kept) < left) {
            *own_ = combine(*own_, shared->sh_partial.v[LOCAL_ID_X + kept]);
            shared->sh_partial.v[LOCAL_ID_X] = *own_;
        }
        left = kept;
    }
    return *own_;
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint* from = column32_from(push->values, begin);
    uint2 result = nothing();
    uint i = 0u;
    for (; i < count; i = i + 1) {
        result = combine(result, widen(from[i], result));
    }
    column64_from(push->tile_results, tile)[0] = result;
}

#endif

#if IN_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[2u]; } uint2_x2u;

typedef struct { uint2_x2u at; } Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    uint4 value = words_;
    uint4 value_2 = words_;
    return (Values){(uint2_x2u){{value.xy, value_2.zw}}};
}

#endif

#if SERIAL == 0
typedef struct { Values v[8u]; } Values_x8u;

#endif

#if SUM_BITS == 32 && SERIAL == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->values, begin);
    uint loads = count / 4u;
    uint result = nothing();
    uint i = LOCAL_ID_X;
    Values_x8u value;
    for (; i < loads; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i + k * WORKGROUP) < loads) {
                value.v[k] = load_values(as_uint2((ulong)from), i + k * WORKGROUP);
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < loads) {
                uint j = 0u;
                UNROLL
                for (; j < 4u; j = j + 1) {
                    result = combine(result, widen(value.v[k_2].at.v[j], result));
                }
            }
        }
    }
    uint last = loads * 4u + LOCAL_ID_X;
    if (last < count) {
        result = combine(result, widen(from[last], result));
    }
    uint param_16 = result;
    result = workgroup_reduce(shared, &param_16);
    if (LOCAL_ID_X == 0u) {
        column32_from(push->tile_results, tile)[0] = result;
    }
}

#endif

#if IN_BITS == 32 && SUM_BITS == 64 && SERIAL == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->values, begin);
    uint loads = count / 4u;
    uint2 result = nothing();
    uint i = LOCAL_ID_X;
    Values_x8u value;
    for (; i < loads; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i + k * WORKGROUP) < loads) {
                value.v[k] = load_values(as_uint2((ulong)from), i + k * WORKGROUP);
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < loads) {
                uint j = 0u;
                UNROLL
                for (; j < 4u; j = j + 1) {
                    result = combine(result, widen(value.v[k_2].at.v[j], result));
                }
            }
        }
    }
    uint last = loads * 4u + LOCAL_ID_X;
    if (last < count) {
        result = combine(result, widen(from[last], result));
    }
    uint2 param_16 = result;
    result = workgroup_reduce(shared, &param_16);
    if (LOCAL_ID_X == 0u) {
        column64_from(push->tile_results, tile)[0] = result;
    }
}

#endif

#if IN_BITS == 64
INLINE uint2 widen(uint2 a, uint2 like) {
    return a;
}

#endif

#if IN_BITS == 64 && SERIAL == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(push->values, begin);
    uint loads = count / 2u;
    uint2 result = nothing();
    uint i = LOCAL_ID_X;
    Values_x8u value;
    for (; i < loads; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i + k * WORKGROUP) < loads) {
                value.v[k] = load_values(as_uint2((ulong)from), i + k * WORKGROUP);
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < loads) {
                uint j = 0u;
                UNROLL
                for (; j < 2u; j = j + 1) {
                    result = combine(result, widen(value.v[k_2].at.v[j], result));
                }
            }
        }
    }
    uint last = loads * 2u + LOCAL_ID_X;
    if (last < count) {
        result = combine(result, widen(from[last], result));
    }
    uint2 param_16 = result;
    result = workgroup_reduce(shared, &param_16);
    if (LOCAL_ID_X == 0u) {
        column64_from(push->tile_results, tile)[0] = result;
    }
}

#endif

#if SERIAL == 0
typedef struct {
    ulong values;
    ulong tile_results;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void reduce(__global uchar* values, __global uchar* tile_results, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)tile_results + words.tile_results),
        words.rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

#endif

#if IN_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint2* from = column64_from(push->values, begin);
    uint2 result = nothing();
    uint i = 0u;
    for (; i < count; i = i + 1) {
        result = combine(result, widen(from[i], result));
    }
    column64_from(push->tile_results, tile)[0] = result;
}

#endif

#if SERIAL == 1
typedef struct {
    ulong values;
    ulong tile_results;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void reduce(__global uchar* values, __global uchar* tile_results, const Words words) {
    const Push addresses = {
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)tile_results + words.tile_results),
        words.rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

#endif
