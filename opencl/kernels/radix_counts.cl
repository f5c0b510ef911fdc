// Kernel radix_counts in OpenCL C 1.2, translated from shaders/radix_counts.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 counts; uint2 high; uint2 offsets; uint rows; uint passes; uint shifts_0; uint shifts_1; uint bits_0; uint bits_1; uint seed; uint first_group; uint end_group; } Push;

typedef struct { uint v[COUNTERS]; } uint_xcounters;

typedef struct {
    uint_xcounters sh_count;
} Shared;

INLINE uint byte_of(uint low, uint high, uint pass) {
    return ((pass < 4u ? low : high) >> (pass % 4u * 8u)) & 255u;
}

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

typedef struct { uint shift; uint mask; } Digit;

INLINE void report(uint2 high, uint differing) {
    if (differing != 0u) {
        atomic_or(&((__global uint*)as_ulong(high))[1], differing);
    }
}

#if KEY_BITS == 32
INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint digit_of(uint key, Digit digit) {
    return (key >> digit.shift) & digit.mask;
}

typedef struct { Digit v[4u]; } Digit_x4u;

typedef struct { uint v[8u]; } uint_x8u;

INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint i = LOCAL_ID_X;
    for (; i < COUNTERS; i = i + WORKGROUP) {
        shared->sh_count.v[i] = 0u;
    }
    uint log2_copies = as_uint(min(31 - (int)clz(COUNTERS / 256u / push->passes), 5));
    uint copy = LOCAL_ID_X & ((1u << log2_copies) - 1u);
    uint p = 0u;
    Digit_x4u place;
    UNROLL
    for (; p < 4u; p = p + 1) {
        place.v[p] = (Digit){byte_of(push->shifts_0, push->shifts_1, p), (1u << byte_of(push->bits_0, push->bits_1, p)) - 1u};
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->keys, begin << NARROW);
    uint variable;
    if (NARROW == 1u) {
        variable = ((__global uint*)as_ulong(push->high))[0];
    } else {
        variable = 0u;
    }
    uint expected = variable;
    uint differing = 0u;
    uint i_2 = LOCAL_ID_X;
    uint_x8u key;
    uint variable_2;
    for (; i_2 < count; i_2 = i_2 + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i_2 + k * WORKGROUP) < count) {
                key.v[k] = from[(i_2 + k * WORKGROUP) << NARROW];
                if (NARROW == 1u) {
                    variable_2 = ((__global uint*)as_ulong(as_uint2((ulong)from)))[2u * (i_2 + k * WORKGROUP) + 1u] ^ expected;
                } else {
                    variable_2 = 0u;
                }
                differing = differing | variable_2;
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i_2 + k_2 * WORKGROUP) < count) {
                if (MIXED == 1u) {
                    uint param_12 = key.v[k_2];
                    uint value = mix_of(&param_12, push->seed);
                    key.v[k_2] = value;
                }
                uint p_2 = 0u;
                UNROLL
                for (; p_2 < 4u; p_2 = p_2 + 1) {
                    if (p_2 < push->passes) {
                        uint digit = digit_of(key.v[k_2], place.v[p_2]);
                        atomic_add(&shared->sh_count.v[((p_2 * 256u + digit) << log2_copies) + copy], 1u);
                    }
                }
            }
        }
    }
    report(push->high, differing);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global volatile uint* all = (__global volatile uint*)as_ulong(push->counts);
    uint values = push->passes * 256u;
    uint i_3 = LOCAL_ID_X;
    for (; i_3 < values; i_3 = i_3 + WORKGROUP) {
        uint sum = 0u;
        uint c = 0u;
        for (; c < (1u << log2_copies); c = c + 1) {
            sum = sum + shared->sh_count.v[(i_3 << log2_copies) + ((c + i_3) & ((1u << log2_copies) - 1u))];
        }
        if (sum > 0u) {
            atomic_add(&all[i_3], sum);
        }
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LOCAL_ID_X == 0u) {
        uint value_2 = atomic_add(&all[values], 1u);
        shared->sh_count.v[0] = value_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool last = shared->sh_count.v[0] == ((push->rows - 1u) / (WORKGROUP * ITEMS));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!last) {
        return;
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    uint r = LOCAL_ID_X;
    for (; r < (values / 16u); r = r + WORKGROUP) {
        uint sum_2 = 0u;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < 16u; k_3 = k_3 + 1) {
            uint value_3 = all[r * 16u + k_3];
            sum_2 = sum_2 + value_3;
            shared->sh_count.v[r * 16u + k_3] = sum_2;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i_4 = LOCAL_ID_X;
    uint variable_3;
    for (; i_4 < values; i_4 = i_4 + WORKGROUP) {
        if ((i_4 % 16u) == 0u) {
            variable_3 = 0u;
        } else {
            variable_3 = shared->sh_count.v[i_4 - 1u];
        }
        uint before = variable_3;
        uint r_2 = i_4 / 256u * 16u;
        for (; r_2 < (i_4 / 16u); r_2 = r_2 + 1) {
            before = before + shared->sh_count.v[r_2 * 16u + 16u - 1u];
        }
        column32_from(push->offsets, i_4)[0] = before;
    }
}

#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint mix_of_u1_u1(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint2 mix_of_vu2_u1(uint2* key, uint seed) {
    uint param = (*key).y;
    uint value = mix_of_u1_u1(&param, seed);
    (*key).x = (*key).x ^ value;
    uint param_3 = (*key).x;
    uint value_2 = mix_of_u1_u1(&param_3, ~seed);
    (*key).y = (*key).y ^ value_2;
    uint param_5 = (*key).y;
    uint value_3 = mix_of_u1_u1(&param_5, seed + 1u);
    (*key).x = (*key).x ^ value_3;
    return *key;
}

INLINE uint digit_of(uint2 key, Digit digit) {
    uint variable;
    if (digit.shift < 32u) {
        variable = key.x;
    } else {
        variable = key.y;
    }
    return (variable >> (digit.shift & 31u)) & digit.mask;
}

typedef struct { Digit v[8u]; } Digit_x8u;

typedef struct { uint2 v[8u]; } uint2_x8u;

INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint i = LOCAL_ID_X;
    for (; i < COUNTERS; i = i + WORKGROUP) {
        shared->sh_count.v[i] = 0u;
    }
    uint log2_copies = as_uint(min(31 - (int)clz(COUNTERS / 256u / push->passes), 5));
    uint copy = LOCAL_ID_X & ((1u << log2_copies) - 1u);
    uint p = 0u;
    Digit_x8u place;
    UNROLL
    for (; p < 8u; p = p + 1) {
        place.v[p] = (Digit){byte_of(push->shifts_0, push->shifts_1, p), (1u << byte_of(push->bits_0, push->bits_1, p)) - 1u};
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(push->keys, begin << NARROW);
    uint variable;
    if (NARROW == 1u) {
        variable = ((__global uint*)as_ulong(push->high))[0];
    } else {
        variable = 0u;
    }
    uint expected = variable;
    uint differing = 0u;
    uint i_2 = LOCAL_ID_X;
    uint2_x8u key;
    uint variable_2;
    for (; i_2 < count; i_2 = i_2 + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i_2 + k * WORKGROUP) < count) {
                key.v[k] = from[(i_2 + k * WORKGROUP) << NARROW];
                if (NARROW == 1u) {
                    variable_2 = ((__global uint*)as_ulong(as_uint2((ulong)from)))[2u * (i_2 + k * WORKGROUP) + 1u] ^ expected;
                } else {
                    variable_2 = 0u;
                }
                differing = differing | variable_2;
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i_2 + k_2 * WORKGROUP) < count) {
                if (MIXED == 1u) {
                    uint2 param_12 = key.v[k_2];
                    uint2 value = mix_of_vu2_u1(&param_12, push->seed);
                    key.v[k_2] = value;
                }
                uint p_2 = 0u;
                UNROLL
                for (; p_2 < 8u; p_2 = p_2 + 1) {
                    if (p_2 < push->passes) {
                        uint digit = digit_of(key.v[k_2], place.v[p_2]);
                        atomic_add(&shared->sh_count.v[((p_2 * 256u + digit) << log2_copies) + copy], 1u);
                    }
                }
            }
        }
    }
    report(push->high, differing);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global volatile uint* all = (__global volatile uint*)as_ulong(push->counts);
    uint values = push->passes * 256u;
    uint i_3 = LOCAL_ID_X;
    for (; i_3 < values; i_3 = i_3 + WORKGROUP) {
        uint sum = 0u;
        uint c = 0u;
        for (; c < (1u << log2_copies); c = c + 1) {
            sum = sum + shared->sh_count.v[(i_3 << log2_copies) + ((c + i_3) & ((1u << log2_copies) - 1u))];
        }
        if (sum > 0u) {
            atomic_add(&all[i_3], sum);
        }
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LOCAL_ID_X == 0u) {
        uint value_2 = atomic_add(&all[values], 1u);
        shared->sh_count.v[0] = value_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool last = shared->sh_count.v[0] == ((push->rows - 1u) / (WORKGROUP * ITEMS));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!last) {
        return;
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    uint r = LOCAL_ID_X;
    for (; r < (values / 16u); r = r + WORKGROUP) {
        uint sum_2 = 0u;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < 16u; k_3 = k_3 + 1) {
            uint value_3 = all[r * 16u + k_3];
            sum_2 = sum_2 + value_3;
            shared->sh_count.v[r * 16u + k_3] = sum_2;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i_4 = LOCAL_ID_X;
    uint variable_3;
    for (; i_4 < values; i_4 = i_4 + WORKGROUP) {
        if ((i_4 % 16u) == 0u) {
            variable_3 = 0u;
        } else {
            variable_3 = shared->sh_count.v[i_4 - 1u];
        }
        uint before = variable_3;
        uint r_2 = i_4 / 256u * 16u;
        for (; r_2 < (i_4 / 16u); r_2 = r_2 + 1) {
            before = before + shared->sh_count.v[r_2 * 16u + 16u - 1u];
        }
        column32_from(push->offsets, i_4)[0] = before;
    }
}

#endif

typedef struct {
    ulong keys;
    ulong counts;
    ulong high;
    ulong offsets;
    uint rows;
    uint passes;
    uint shifts_0;
    uint shifts_1;
    uint bits_0;
    uint bits_1;
    uint seed;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void radix_counts(__global uchar* keys, __global uchar* counts, __global uchar* high, __global uchar* offsets, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)counts + words.counts),
        as_uint2((ulong)high + words.high),
        as_uint2((ulong)offsets + words.offsets),
        words.rows,
        words.passes,
        words.shifts_0,
        words.shifts_1,
        words.bits_0,
        words.bits_1,
        words.seed,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

