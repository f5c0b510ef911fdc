// Kernel partition_starts in OpenCL C 1.2, translated from shaders/partition_starts.comp by make generate; do not edit.
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
    ulong starts;
    uint digits;
    uint rows;
    uint shift;
    uint bits;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keys;
    uint2 starts;
    uint digits;
    uint rows;
    uint shift;
    uint bits;
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

#if KEY_BITS == 32
INLINE uint digit_of(uint key, Digit digit) {
    return (key >> digit.shift) & digit.mask;
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->digits, begin, WORKGROUP * ITEMS);
    Digit place = (Digit){args->shift, args->bits == 32u ? 0xffffffffu : (1u << args->bits) - 1u};
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint low = 0u;
        uint high = args->rows;
        while (low < high) {
            uint middle = low + (high - low) / 2u;
            if (digit_of(column32_from(args->keys, middle)[0], place) < begin + i) {
                low = middle + 1u;
            } else {
                high = middle;
            }
        }
        column32_from(args->starts, begin + i)[0] = low;
    }
}
#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint digit_of(uint2 key, Digit digit) {
    return ((digit.shift < 32u ? key.x : key.y) >> (digit.shift & 31u)) & digit.mask;
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->digits, begin, WORKGROUP * ITEMS);
    Digit place = (Digit){args->shift, args->bits == 32u ? 0xffffffffu : (1u << args->bits) - 1u};
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        uint low = 0u;
        uint high = args->rows;
        while (low < high) {
            uint middle = low + (high - low) / 2u;
            if (digit_of(column64_from(args->keys, middle)[0], place) < begin + i) {
                low = middle + 1u;
            } else {
                high = middle;
            }
        }
        column32_from(args->starts, begin + i)[0] = low;
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_starts(
    __global uchar* keys,
    __global uchar* starts,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)starts + scalars.starts),
        scalars.digits,
        scalars.rows,
        scalars.shift,
        scalars.bits,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

