// Kernel partition_starts in OpenCL C 1.2, translated from shaders/partition_starts.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 starts; uint digits; uint rows; uint shift; uint bits; uint first_group; uint end_group; } Push;

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

#if KEY_BITS == 32
INLINE uint digit_of(uint key, Digit digit) {
    return (key >> digit.shift) & digit.mask;
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->digits, begin, WORKGROUP * ITEMS);
    uint value = push->shift;
    uint variable;
    if (push->bits == 32u) {
        variable = 4294967295u;
    } else {
        variable = (1u << push->bits) - 1u;
    }
    Digit place = (Digit){value, variable};
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint low = 0u;
        uint high = push->rows;
        while (low < high) {
            uint middle = low + (high - low) / 2u;
            if (digit_of(column32_from(push->keys, middle)[0], place) < (begin + i)) {
                low = middle + 1u;
            } else {
                high = middle;
            }
        }
        column32_from(push->starts, begin + i)[0] = low;
    }
}

#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
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

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->digits, begin, WORKGROUP * ITEMS);
    uint value = push->shift;
    uint variable;
    if (push->bits == 32u) {
        variable = 4294967295u;
    } else {
        variable = (1u << push->bits) - 1u;
    }
    Digit place = (Digit){value, variable};
    uint i = LOCAL_ID_X;
    for (; i < count; i = i + WORKGROUP) {
        uint low = 0u;
        uint high = push->rows;
        while (low < high) {
            uint middle = low + (high - low) / 2u;
            if (digit_of(column64_from(push->keys, middle)[0], place) < (begin + i)) {
                low = middle + 1u;
            } else {
                high = middle;
            }
        }
        column32_from(push->starts, begin + i)[0] = low;
    }
}

#endif

typedef struct {
    ulong keys;
    ulong starts;
    uint digits;
    uint rows;
    uint shift;
    uint bits;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_starts(__global uchar* keys, __global uchar* starts, const Words words) {
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)starts + words.starts),
        words.digits,
        words.rows,
        words.shift,
        words.bits,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

