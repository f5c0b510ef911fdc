// Kernel radix_histogram in OpenCL C 1.2, translated from shaders/radix_histogram.comp by make generate; do not edit.
// Variants:
//   key_bits=32 serial=0
//   key_bits=32 serial=1
//   key_bits=64 serial=0
//   key_bits=64 serial=1

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 counts; uint2 high; uint rows; uint tiles; uint shift; uint bits; uint seed; uint first_group; uint end_group; } Push;

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

#if SERIAL == 0
typedef struct { uint v[1024u]; } uint_x1024u;

typedef struct {
    uint_x1024u sh_count;
} Shared;

#endif

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

INLINE uint digit_at(uint key, uint own_seed, Digit place) {
    uint variable;
    if (MIXED == 0u) {
        variable = key;
    } else {
        uint param = key;
        variable = mix_of(&param, own_seed);
    }
    return digit_of(variable, place);
}

#endif

#if KEY_BITS == 32 && SERIAL == 0
typedef struct { uint v[8u]; } uint_x8u;

INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint digits = 1u << push->bits;
    uint copy = LOCAL_ID_X % 4u;
    Digit place = (Digit){push->shift, digits - 1u};
    uint i = LOCAL_ID_X;
    for (; i < (digits * 4u); i = i + WORKGROUP) {
        shared->sh_count.v[i] = 0u;
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
                uint value = digit_at(key.v[k_2], push->seed, place);
                atomic_add(&shared->sh_count.v[value * 4u + copy], 1u);
            }
        }
    }
    report(push->high, differing);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint digit = LOCAL_ID_X;
    for (; digit < digits; digit = digit + WORKGROUP) {
        uint sum = 0u;
        uint c = 0u;
        UNROLL
        for (; c < 4u; c = c + 1) {
            sum = sum + shared->sh_count.v[digit * 4u + c];
        }
        column32_from(push->counts, digit * push->tiles + tile)[0] = sum;
    }
}

#endif

#if SERIAL == 1
typedef struct { uint v[DIGITS * WORKGROUP]; } uint_xdigits_workgroup;

typedef struct {
    uint_xdigits_workgroup sh_count;
} Shared;

#endif

#if KEY_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint digits = 1u << push->bits;
    Digit place = (Digit){push->shift, digits - 1u};
    uint digit = 0u;
    for (; digit < digits; digit = digit + 1) {
        shared->sh_count.v[digit * WORKGROUP + LOCAL_ID_X] = 0u;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    uint own_seed = push->seed;
    __global uint* from = column32_from(push->keys, begin << NARROW);
    uint variable;
    if (NARROW == 1u) {
        variable = ((__global uint*)as_ulong(push->high))[0];
    } else {
        variable = 0u;
    }
    uint expected = variable;
    uint differing = 0u;
    uint i = 0u;
    uint variable_2;
    for (; i < count; i = i + 1) {
        if (NARROW == 1u) {
            variable_2 = ((__global uint*)as_ulong(as_uint2((ulong)from)))[2u * i + 1u] ^ expected;
        } else {
            variable_2 = 0u;
        }
        differing = differing | variable_2;
        uint value = digit_at(from[i << NARROW], own_seed, place);
        shared->sh_count.v[value * WORKGROUP + LOCAL_ID_X] = shared->sh_count.v[value * WORKGROUP + LOCAL_ID_X] + 1;
    }
    report(push->high, differing);
    uint digit_2 = 0u;
    for (; digit_2 < digits; digit_2 = digit_2 + 1) {
        column32_from(push->counts, digit_2 * push->tiles + tile)[0] = shared->sh_count.v[digit_2 * WORKGROUP + LOCAL_ID_X];
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

INLINE uint digit_at(uint2 key, uint own_seed, Digit place) {
    uint2 variable;
    if (MIXED == 0u) {
        variable = key;
    } else {
        uint2 param = key;
        variable = mix_of_vu2_u1(&param, own_seed);
    }
    return digit_of(variable, place);
}

#endif

#if KEY_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[8u]; } uint2_x8u;

INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint digits = 1u << push->bits;
    uint copy = LOCAL_ID_X % 4u;
    Digit place = (Digit){push->shift, digits - 1u};
    uint i = LOCAL_ID_X;
    for (; i < (digits * 4u); i = i + WORKGROUP) {
        shared->sh_count.v[i] = 0u;
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
                uint value = digit_at(key.v[k_2], push->seed, place);
                atomic_add(&shared->sh_count.v[value * 4u + copy], 1u);
            }
        }
    }
    report(push->high, differing);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint digit = LOCAL_ID_X;
    for (; digit < digits; digit = digit + WORKGROUP) {
        uint sum = 0u;
        uint c = 0u;
        UNROLL
        for (; c < 4u; c = c + 1) {
            sum = sum + shared->sh_count.v[digit * 4u + c];
        }
        column32_from(push->counts, digit * push->tiles + tile)[0] = sum;
    }
}

#endif

#if KEY_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint digits = 1u << push->bits;
    Digit place = (Digit){push->shift, digits - 1u};
    uint digit = 0u;
    for (; digit < digits; digit = digit + 1) {
        shared->sh_count.v[digit * WORKGROUP + LOCAL_ID_X] = 0u;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    uint own_seed = push->seed;
    __global uint2* from = column64_from(push->keys, begin << NARROW);
    uint variable;
    if (NARROW == 1u) {
        variable = ((__global uint*)as_ulong(push->high))[0];
    } else {
        variable = 0u;
    }
    uint expected = variable;
    uint differing = 0u;
    uint i = 0u;
    uint variable_2;
    for (; i < count; i = i + 1) {
        if (NARROW == 1u) {
            variable_2 = ((__global uint*)as_ulong(as_uint2((ulong)from)))[2u * i + 1u] ^ expected;
        } else {
            variable_2 = 0u;
        }
        differing = differing | variable_2;
        uint value = digit_at(from[i << NARROW], own_seed, place);
        shared->sh_count.v[value * WORKGROUP + LOCAL_ID_X] = shared->sh_count.v[value * WORKGROUP + LOCAL_ID_X] + 1;
    }
    report(push->high, differing);
    uint digit_2 = 0u;
    for (; digit_2 < digits; digit_2 = digit_2 + 1) {
        column32_from(push->counts, digit_2 * push->tiles + tile)[0] = shared->sh_count.v[digit_2 * WORKGROUP + LOCAL_ID_X];
    }
}

#endif

typedef struct {
    ulong keys;
    ulong counts;
    ulong high;
    uint rows;
    uint tiles;
    uint shift;
    uint bits;
    uint seed;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void radix_histogram(__global uchar* keys, __global uchar* counts, __global uchar* high, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)counts + words.counts),
        as_uint2((ulong)high + words.high),
        words.rows,
        words.tiles,
        words.shift,
        words.bits,
        words.seed,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

