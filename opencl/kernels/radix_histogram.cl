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
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

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
} Scalars;

typedef struct {
    uint2 keys;
    uint2 counts;
    uint2 high;
    uint rows;
    uint tiles;
    uint shift;
    uint bits;
    uint seed;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

typedef struct {
    uint shift;
    uint mask;
} Digit;

INLINE void report(uint2 high, uint differing) {
    if (differing != 0u) {
        atomic_or(&((__global uint*)as_ulong(high))[1], differing);
    }
}

#if SERIAL == 0
typedef struct {
    uint sh_count[1024];
} Shared;
#endif

#if KEY_BITS == 32
INLINE uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint digit_of(uint key, Digit digit) {
    return (key >> digit.shift) & digit.mask;
}

INLINE uint digit_at(uint key, uint own_seed, Digit place) {
    return digit_of(MIXED == 0u ? key : mix_of(key, own_seed), place);
}
#endif

#if KEY_BITS == 32 && SERIAL == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint digits = 1u << args->bits;
    uint copy = LOCAL_ID_X % 4u;
    Digit place = (Digit){args->shift, digits - 1u};
    for (uint i = LOCAL_ID_X; i < digits * 4u; i += WORKGROUP) {
        shared->sh_count[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->keys, begin << NARROW);
    uint expected = NARROW == 1u ? ((__global uint*)as_ulong(args->high))[0] : 0u;
    uint differing = 0u;
    uint key[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                key[k] = from[(i + k * WORKGROUP) << NARROW];
                differing |= NARROW == 1u ? ((__global uint*)as_ulong(as_uint2((ulong)from)))[2u * (i +
                        k * WORKGROUP) + 1u] ^ expected : 0u;
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                atomic_add(&shared->sh_count[digit_at(key[k], args->seed, place) * 4u + copy], 1u);
            }
        }
    }
    report(args->high, differing);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint digit = LOCAL_ID_X; digit < digits; digit += WORKGROUP) {
        uint sum = 0u;
        UNROLL
        for (uint c = 0u; c < 4u; ++c) {
            sum += shared->sh_count[digit * 4u + c];
        }
        column32_from(args->counts, digit * args->tiles + tile)[0] = sum;
    }
}
#endif

#if SERIAL == 1
typedef struct {
    uint sh_count[DIGITS * WORKGROUP];
} Shared;
#endif

#if KEY_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint digits = 1u << args->bits;
    Digit place = (Digit){args->shift, digits - 1u};
    for (uint digit = 0u; digit < digits; ++digit) {
        shared->sh_count[digit * WORKGROUP + LOCAL_ID_X] = 0u;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    uint own_seed = args->seed;
    __global uint* from = column32_from(args->keys, begin << NARROW);
    uint expected = NARROW == 1u ? ((__global uint*)as_ulong(args->high))[0] : 0u;
    uint differing = 0u;
    for (uint i = 0u; i < count; ++i) {
        differing |= NARROW == 1u ? ((__global uint*)as_ulong(as_uint2((ulong)from)))[2u * i + 1u] ^ expected : 0u;
        ++shared->sh_count[digit_at(from[i << NARROW], own_seed, place) * WORKGROUP + LOCAL_ID_X];
    }
    report(args->high, differing);
    for (uint digit = 0u; digit < digits; ++digit) {
        column32_from(args->counts, digit * args->tiles + tile)[0] = shared->sh_count[digit * WORKGROUP + LOCAL_ID_X];
    }
}
#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint mix_of_uint_uint(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint2 mix_of_uint2_uint(uint2 key, uint seed) {
    key.x ^= mix_of_uint_uint(key.y, seed);
    key.y ^= mix_of_uint_uint(key.x, ~seed);
    key.x ^= mix_of_uint_uint(key.y, seed + 1u);
    return key;
}

INLINE uint digit_of(uint2 key, Digit digit) {
    return ((digit.shift < 32u ? key.x : key.y) >> (digit.shift & 31u)) & digit.mask;
}

INLINE uint digit_at(uint2 key, uint own_seed, Digit place) {
    return digit_of(MIXED == 0u ? key : mix_of_uint2_uint(key, own_seed), place);
}
#endif

#if KEY_BITS == 64 && SERIAL == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint digits = 1u << args->bits;
    uint copy = LOCAL_ID_X % 4u;
    Digit place = (Digit){args->shift, digits - 1u};
    for (uint i = LOCAL_ID_X; i < digits * 4u; i += WORKGROUP) {
        shared->sh_count[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(args->keys, begin << NARROW);
    uint expected = NARROW == 1u ? ((__global uint*)as_ulong(args->high))[0] : 0u;
    uint differing = 0u;
    uint2 key[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                key[k] = from[(i + k * WORKGROUP) << NARROW];
                differing |= NARROW == 1u ? ((__global uint*)as_ulong(as_uint2((ulong)from)))[2u * (i +
                        k * WORKGROUP) + 1u] ^ expected : 0u;
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                atomic_add(&shared->sh_count[digit_at(key[k], args->seed, place) * 4u + copy], 1u);
            }
        }
    }
    report(args->high, differing);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint digit = LOCAL_ID_X; digit < digits; digit += WORKGROUP) {
        uint sum = 0u;
        UNROLL
        for (uint c = 0u; c < 4u; ++c) {
            sum += shared->sh_count[digit * 4u + c];
        }
        column32_from(args->counts, digit * args->tiles + tile)[0] = sum;
    }
}
#endif

#if KEY_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint digits = 1u << args->bits;
    Digit place = (Digit){args->shift, digits - 1u};
    for (uint digit = 0u; digit < digits; ++digit) {
        shared->sh_count[digit * WORKGROUP + LOCAL_ID_X] = 0u;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    uint own_seed = args->seed;
    __global uint2* from = column64_from(args->keys, begin << NARROW);
    uint expected = NARROW == 1u ? ((__global uint*)as_ulong(args->high))[0] : 0u;
    uint differing = 0u;
    for (uint i = 0u; i < count; ++i) {
        differing |= NARROW == 1u ? ((__global uint*)as_ulong(as_uint2((ulong)from)))[2u * i + 1u] ^ expected : 0u;
        ++shared->sh_count[digit_at(from[i << NARROW], own_seed, place) * WORKGROUP + LOCAL_ID_X];
    }
    report(args->high, differing);
    for (uint digit = 0u; digit < digits; ++digit) {
        column32_from(args->counts, digit * args->tiles + tile)[0] = shared->sh_count[digit * WORKGROUP + LOCAL_ID_X];
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void radix_histogram(
    __global uchar* keys,
    __global uchar* counts,
    __global uchar* high,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)counts + scalars.counts),
        as_uint2((ulong)high + scalars.high),
        scalars.rows,
        scalars.tiles,
        scalars.shift,
        scalars.bits,
        scalars.seed,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

