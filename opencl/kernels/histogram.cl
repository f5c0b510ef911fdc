// Kernel histogram in OpenCL C 1.2, translated from shaders/histogram.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 counts; uint rows; uint shift; uint bits; uint first_group; uint end_group; } Push;

typedef struct { uint v[4096u]; } uint_x4096u;

typedef struct {
    uint_x4096u sh_count;
} Shared;

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

#if KEY_BITS == 32
typedef struct { uint v[4u]; } uint_x4u;

typedef struct { uint_x4u at; } Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint_x4u){{words_.x, words_.y, words_.z, words_.w}}};
}

INLINE uint digit_of(const Push* push, uint key) {
    return (key >> push->shift) & ((1u << push->bits) - 1u);
}

#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

typedef struct { uint2 v[2u]; } uint2_x2u;

typedef struct { uint2_x2u at; } Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    uint4 value = words_;
    uint4 value_2 = words_;
    return (Values){(uint2_x2u){{value.xy, value_2.zw}}};
}

INLINE uint digit_of(const Push* push, uint2 key) {
    uint variable;
    if (push->shift == 0u) {
        variable = key.x;
    } else {
        uint variable_2;
        if (push->shift < 32u) {
            variable_2 = (key.x >> push->shift) | (key.y << (32u - push->shift));
        } else {
            variable_2 = key.y >> (push->shift - 32u);
        }
        variable = variable_2;
    }
    uint low = variable;
    return low & ((1u << push->bits) - 1u);
}

#endif

typedef struct { Values v[8u]; } Values_x8u;

#if KEY_BITS == 32
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint digits = 1u << push->bits;
    uint copies = min(32u, 4096u >> push->bits);
    uint copy = LOCAL_ID_X % copies;
    uint i = LOCAL_ID_X;
    for (; i < (digits * copies); i = i + WORKGROUP) {
        shared->sh_count.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->keys, begin);
    uint loads = count / 4u;
    uint digit = 0u;
    uint run_2 = 0u;
    uint i_2 = LOCAL_ID_X;
    Values_x8u key;
    for (; i_2 < loads; i_2 = i_2 + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            key.v[k] = load_values(as_uint2((ulong)from), min(i_2 + k * WORKGROUP, loads - 1u));
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i_2 + k_2 * WORKGROUP) < loads) {
                uint j = 0u;
                UNROLL
                for (; j < 4u; j = j + 1) {
                    uint next = digit_of(push, key.v[k_2].at.v[j]);
                    if (next != digit) {
                        atomic_add(&shared->sh_count.v[digit * copies + copy], run_2);
                        digit = next;
                        run_2 = 0u;
                    }
                    run_2 = run_2 + 1;
                }
            }
        }
    }
    if (run_2 > 0u) {
        atomic_add(&shared->sh_count.v[digit * copies + copy], run_2);
    }
    uint last = loads * 4u + LOCAL_ID_X;
    if (last < count) {
        atomic_add(&shared->sh_count.v[digit_of(push, from[last]) * copies + copy], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to = column32_from(push->counts, 0u);
    uint d = LOCAL_ID_X;
    for (; d < digits; d = d + WORKGROUP) {
        uint sum = 0u;
        uint c = 0u;
        for (; c < copies; c = c + 1) {
            sum = sum + shared->sh_count.v[d * copies + c];
        }
        if (sum > 0u) {
            atomic_add(&to[2u * d], sum);
        }
    }
}

#endif

#if KEY_BITS == 64
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint digits = 1u << push->bits;
    uint copies = min(32u, 4096u >> push->bits);
    uint copy = LOCAL_ID_X % copies;
    uint i = LOCAL_ID_X;
    for (; i < (digits * copies); i = i + WORKGROUP) {
        shared->sh_count.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(push->keys, begin);
    uint loads = count / 2u;
    uint digit = 0u;
    uint run_2 = 0u;
    uint i_2 = LOCAL_ID_X;
    Values_x8u key;
    for (; i_2 < loads; i_2 = i_2 + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            key.v[k] = load_values(as_uint2((ulong)from), min(i_2 + k * WORKGROUP, loads - 1u));
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i_2 + k_2 * WORKGROUP) < loads) {
                uint j = 0u;
                UNROLL
                for (; j < 2u; j = j + 1) {
                    uint next = digit_of(push, key.v[k_2].at.v[j]);
                    if (next != digit) {
                        atomic_add(&shared->sh_count.v[digit * copies + copy], run_2);
                        digit = next;
                        run_2 = 0u;
                    }
                    run_2 = run_2 + 1;
                }
            }
        }
    }
    if (run_2 > 0u) {
        atomic_add(&shared->sh_count.v[digit * copies + copy], run_2);
    }
    uint last = loads * 2u + LOCAL_ID_X;
    if (last < count) {
        atomic_add(&shared->sh_count.v[digit_of(push, from[last]) * copies + copy], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to = column32_from(push->counts, 0u);
    uint d = LOCAL_ID_X;
    for (; d < digits; d = d + WORKGROUP) {
        uint sum = 0u;
        uint c = 0u;
        for (; c < copies; c = c + 1) {
            sum = sum + shared->sh_count.v[d * copies + c];
        }
        if (sum > 0u) {
            atomic_add(&to[2u * d], sum);
        }
    }
}

#endif

typedef struct {
    ulong keys;
    ulong counts;
    uint rows;
    uint shift;
    uint bits;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void histogram(__global uchar* keys, __global uchar* counts, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)counts + words.counts),
        words.rows,
        words.shift,
        words.bits,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

