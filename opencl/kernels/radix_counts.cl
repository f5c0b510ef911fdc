// Kernel radix_counts in OpenCL C 1.2, translated from shaders/radix_counts.comp by make generate; do not edit.
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
} Scalars;

typedef struct {
    uint2 keys;
    uint2 counts;
    uint2 high;
    uint2 offsets;
    uint rows;
    uint passes;
    uint shifts_0;
    uint shifts_1;
    uint bits_0;
    uint bits_1;
    uint seed;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    uint sh_count[COUNTERS];
} Shared;

INLINE uint byte_of(uint low, uint high, uint pass) {
    return ((pass < 4u ? low : high) >> (pass % 4u * 8u)) & 255u;
}

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

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    for (uint i = LOCAL_ID_X; i < COUNTERS; i += WORKGROUP) {
        shared->sh_count[i] = 0u;
    }
    uint log2_copies = as_uint(min(as_int(31u - clz(COUNTERS / 256u / args->passes)), 5));
    uint copy = LOCAL_ID_X & ((1u << log2_copies) - 1u);
    Digit place[4];
    UNROLL
    for (uint p = 0u; p < 4u; ++p) {
        place[p] = (Digit){byte_of(args->shifts_0, args->shifts_1, p),
                (1u << byte_of(args->bits_0, args->bits_1, p)) - 1u};
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
                if (MIXED == 1u) {
                    key[k] = mix_of(key[k], args->seed);
                }
                UNROLL
                for (uint p = 0u; p < 4u; ++p) {
                    if (p < args->passes) {
                        uint digit = digit_of(key[k], place[p]);
                        atomic_add(&shared->sh_count[((p * 256u + digit) << log2_copies) + copy], 1u);
                    }
                }
            }
        }
    }
    report(args->high, differing);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global volatile uint* all_ = (__global volatile uint*)as_ulong(args->counts);
    uint values = args->passes * 256u;
    for (uint i = LOCAL_ID_X; i < values; i += WORKGROUP) {
        uint sum = 0u;
        for (uint c = 0u; c < 1u << log2_copies; ++c) {
            sum += shared->sh_count[(i << log2_copies) + ((c + i) & ((1u << log2_copies) - 1u))];
        }
        if (sum > 0u) {
            atomic_add(&all_[i], sum);
        }
    }
    DEVICE_FENCE();
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LOCAL_ID_X == 0u) {
        uint value = atomic_add(&all_[values], 1u);
        shared->sh_count[0] = value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool last = shared->sh_count[0] == (args->rows - 1u) / (WORKGROUP * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!last) return;
    DEVICE_FENCE();
    for (uint r = LOCAL_ID_X; r < values / 16u; r += WORKGROUP) {
        uint sum = 0u;
        UNROLL
        for (uint k = 0u; k < 16u; ++k) {
            uint value = all_[r * 16u + k];
            sum += value;
            shared->sh_count[r * 16u + k] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = LOCAL_ID_X; i < values; i += WORKGROUP) {
        uint before = i % 16u == 0u ? 0u : shared->sh_count[i - 1u];
        for (uint r = i / 256u * 16u; r < i / 16u; ++r) {
            before += shared->sh_count[r * 16u + 16u - 1u];
        }
        column32_from(args->offsets, i)[0] = before;
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

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    for (uint i = LOCAL_ID_X; i < COUNTERS; i += WORKGROUP) {
        shared->sh_count[i] = 0u;
    }
    uint log2_copies = as_uint(min(as_int(31u - clz(COUNTERS / 256u / args->passes)), 5));
    uint copy = LOCAL_ID_X & ((1u << log2_copies) - 1u);
    Digit place[8];
    UNROLL
    for (uint p = 0u; p < 8u; ++p) {
        place[p] = (Digit){byte_of(args->shifts_0, args->shifts_1, p),
                (1u << byte_of(args->bits_0, args->bits_1, p)) - 1u};
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
                if (MIXED == 1u) {
                    key[k] = mix_of_uint2_uint(key[k], args->seed);
                }
                UNROLL
                for (uint p = 0u; p < 8u; ++p) {
                    if (p < args->passes) {
                        uint digit = digit_of(key[k], place[p]);
                        atomic_add(&shared->sh_count[((p * 256u + digit) << log2_copies) + copy], 1u);
                    }
                }
            }
        }
    }
    report(args->high, differing);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global volatile uint* all_ = (__global volatile uint*)as_ulong(args->counts);
    uint values = args->passes * 256u;
    for (uint i = LOCAL_ID_X; i < values; i += WORKGROUP) {
        uint sum = 0u;
        for (uint c = 0u; c < 1u << log2_copies; ++c) {
            sum += shared->sh_count[(i << log2_copies) + ((c + i) & ((1u << log2_copies) - 1u))];
        }
        if (sum > 0u) {
            atomic_add(&all_[i], sum);
        }
    }
    DEVICE_FENCE();
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LOCAL_ID_X == 0u) {
        uint value = atomic_add(&all_[values], 1u);
        shared->sh_count[0] = value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool last = shared->sh_count[0] == (args->rows - 1u) / (WORKGROUP * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!last) return;
    DEVICE_FENCE();
    for (uint r = LOCAL_ID_X; r < values / 16u; r += WORKGROUP) {
        uint sum = 0u;
        UNROLL
        for (uint k = 0u; k < 16u; ++k) {
            uint value = all_[r * 16u + k];
            sum += value;
            shared->sh_count[r * 16u + k] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = LOCAL_ID_X; i < values; i += WORKGROUP) {
        uint before = i % 16u == 0u ? 0u : shared->sh_count[i - 1u];
        for (uint r = i / 256u * 16u; r < i / 16u; ++r) {
            before += shared->sh_count[r * 16u + 16u - 1u];
        }
        column32_from(args->offsets, i)[0] = before;
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void radix_counts(
    __global uchar* keys,
    __global uchar* counts,
    __global uchar* high,
    __global uchar* offsets,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)counts + scalars.counts),
        as_uint2((ulong)high + scalars.high),
        as_uint2((ulong)offsets + scalars.offsets),
        scalars.rows,
        scalars.passes,
        scalars.shifts_0,
        scalars.shifts_1,
        scalars.bits_0,
        scalars.bits_1,
        scalars.seed,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

