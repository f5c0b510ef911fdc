// Kernel encode_keys in OpenCL C 1.2, translated from shaders/encode_keys.comp by make generate; do not edit.
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
    ulong values;
    ulong validity;
    ulong codes;
    uint rows;
    uint first_value;
    uint first_valid;
    uint first_code;
    uint least;
    uint least_2;
    uint null;
    uint null_2;
    uint span;
    uint span_2;
    uint shift;
    uint mark;
    uint merge;
    uint value_bits;
    uint meaning;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 values;
    uint2 validity;
    uint2 codes;
    uint rows;
    uint first_value;
    uint first_valid;
    uint first_code;
    uint least;
    uint least_2;
    uint null;
    uint null_2;
    uint span;
    uint span_2;
    uint shift;
    uint mark;
    uint merge;
    uint value_bits;
    uint meaning;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

typedef struct {
    uint log2_bits;
    uint log2_rows;
    uint log2_step;
    uint mask;
    uint high;
} Layout;

INLINE Layout layout_of(uint bits) {
    uint log2_bits = 31u - clz(bits);
    uint log2_narrow = min(log2_bits, 5u);
    uint narrow_mask = (1u << (bits & 31u)) - 1u;
    uint high = bits < 64u ? 0u : 1u;
    uint mask = bits < 32u ? narrow_mask : 0xffffffffu;
    return (Layout){log2_bits, 5u - log2_narrow, max(log2_bits, 5u) - 3u, mask, high};
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE uint2 value_at(uint2 column, uint at, Layout values) {
    __global uint* from = (__global uint*)as_ulong(element_address(column, at >> values.log2_rows, values.log2_step));
    uint row = at & ((1u << values.log2_rows) - 1u);
    return (uint2)((from[0] >> ((row << values.log2_bits) & 31u)) & values.mask, from[values.high]);
}

INLINE uint2 number_code(uint2 value, uint bits, bool has_sign) {
    uint above = 32u - min(bits, 32u);
    uint extended = as_uint(as_int(value.x << above) >> above);
    uint low = has_sign ? extended : value.x;
    uint sign = has_sign ? as_uint(as_int(extended) >> 31u) : 0u;
    return (uint2)(low, bits < 64u ? sign : value.y);
}

INLINE uint subnormal_shift(uint magnitude, uint fraction_bits) {
    return fraction_bits - min(fraction_bits, 31u - clz(magnitude | 1u));
}

INLINE uint widen_half(uint m) {
    uint shift = subnormal_shift(m, 10u);
    uint normal = 112u - shift;
    uint bias = m >= 31744u ? 224u : normal;
    uint widened = (m << (shift + 13u)) + (bias << 23u);
    return m == 0u ? 0u : widened;
}

INLINE uint2 widen_single(uint m) {
    uint shift = subnormal_shift(m, 23u);
    uint normal = 896u - shift;
    uint bias = m >= 0x7f800000u ? 1792u : normal;
    uint2 widened = (uint2)(m << shift << 29u, (m << shift >> 3u) + (bias << 20u));
    return m == 0u ? (uint2)(0u) : widened;
}

INLINE uint2 subtract(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) - as_ulong(b));
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE uint2 float_code(uint2 value, uint bits, bool as_double) {
    uint top = bits < 64u ? value.x << (32u - min(bits, 32u)) : value.y;
    uint single = top & 0x7fffffffu;
    uint half_bits = widen_half((top >> 16u) & 0x7fffu);
    single = bits == 16u ? half_bits : single;
    uint2 widened = widen_single(single);
    uint2 narrow = (uint2)(single, 0u);
    uint2 own = (uint2)(value.x, single);
    uint2 magnitude = as_double ? widened : narrow;
    magnitude = bits == 64u ? own : magnitude;
    uint2 infinity = (uint2)(as_double ? 0u : 0x7f800000u, as_double ? 0x7ff00000u : 0u);
    uint2 negative = subtract((uint2)(0u), magnitude);
    uint2 nan = add(infinity, (uint2)(1u, 0u));
    uint2 rank = top >> 31u == 0u ? magnitude : negative;
    return less(infinity, magnitude) ? nan : rank;
}

#if KEY_BITS == 32
INLINE uint below(uint bit) {
    uint some = (1u << (bit & 31u)) - 1u;
    return bit < 32u ? some : 0xffffffffu;
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint shift_left(uint2 code, uint by) {
    return code.x << (by & 31u);
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint2 from = args->values;
    uint2 valid = args->validity;
    uint2 least_code = (uint2)(args->least, args->least_2);
    uint2 null_code = (uint2)(args->null, args->null_2);
    uint2 span_code = (uint2)(args->span, args->span_2);
    uint kept = below(args->mark);
    uint value = args->first_value + begin;
    uint bit = args->first_valid + begin;
    uint by = args->shift;
    uint to_mark = args->mark;
    uint bits = args->value_bits;
    uint means = args->meaning;
    bool merging = args->merge == 1u;
    bool marking = args->mark < 32u;
    bool nullable = !absent(valid);
    Layout of_values = layout_of(bits);
    Layout of_bits = layout_of(1u);
    __global uint* to = column32_from(args->codes, args->first_code + begin);
    uint2 own[8];
    uint before[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            own[k] = value_at(from, value + min(i + k * WORKGROUP, count - 1u), of_values);
            before[k] = 0u;
        }
        if (merging) {
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                before[k] = to[min(i + k * WORKGROUP, count - 1u)];
            }
        }
        if (means < 2u) {
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                own[k] = number_code(own[k], bits, means == 1u);
            }
        } else {
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                own[k] = float_code(own[k], bits, means == 3u);
            }
        }
        if (nullable) {
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                uint some = value_at(valid, bit + min(i + k * WORKGROUP, count - 1u), of_bits).x;
                own[k] = some == 1u ? own[k] : null_code;
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                uint2 code = subtract(own[k], least_code);
                uint2 outside = (uint2)(marking && less(span_code, code) ? 1u : 0u, 0u);
                to[i + k * WORKGROUP] = before[k] | (shift_left(code, by) & kept) | shift_left(outside, to_mark);
            }
        }
    }
}
#endif

#if KEY_BITS == 64
INLINE uint2 below(uint bit) {
    uint some = (1u << (bit & 31u)) - 1u;
    uint low = bit < 32u ? some : 0xffffffffu;
    uint high = bit < 64u ? some : 0xffffffffu;
    return (uint2)(low, bit < 32u ? 0u : high);
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 shift_left(uint2 code, uint by) {
    uint low = by & 31u;
    uint carried = code.x >> 1u >> (31u - low);
    uint2 shifted = (uint2)(code.x << low, (code.y << low) | carried);
    uint2 far = (uint2)(0u, shifted.x);
    return by < 32u ? shifted : far;
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint2 from = args->values;
    uint2 valid = args->validity;
    uint2 least_code = (uint2)(args->least, args->least_2);
    uint2 null_code = (uint2)(args->null, args->null_2);
    uint2 span_code = (uint2)(args->span, args->span_2);
    uint2 kept = below(args->mark);
    uint value = args->first_value + begin;
    uint bit = args->first_valid + begin;
    uint by = args->shift;
    uint to_mark = args->mark;
    uint bits = args->value_bits;
    uint means = args->meaning;
    bool merging = args->merge == 1u;
    bool marking = args->mark < 64u;
    bool nullable = !absent(valid);
    Layout of_values = layout_of(bits);
    Layout of_bits = layout_of(1u);
    __global uint2* to = column64_from(args->codes, args->first_code + begin);
    uint2 own[8];
    uint2 before[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            own[k] = value_at(from, value + min(i + k * WORKGROUP, count - 1u), of_values);
            before[k] = (uint2)(0u);
        }
        if (merging) {
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                before[k] = to[min(i + k * WORKGROUP, count - 1u)];
            }
        }
        if (means < 2u) {
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                own[k] = number_code(own[k], bits, means == 1u);
            }
        } else {
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                own[k] = float_code(own[k], bits, means == 3u);
            }
        }
        if (nullable) {
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                uint some = value_at(valid, bit + min(i + k * WORKGROUP, count - 1u), of_bits).x;
                own[k] = some == 1u ? own[k] : null_code;
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                uint2 code = subtract(own[k], least_code);
                uint2 outside = (uint2)(marking && less(span_code, code) ? 1u : 0u, 0u);
                to[i + k * WORKGROUP] = before[k] | (shift_left(code, by) & kept) | shift_left(outside, to_mark);
            }
        }
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void encode_keys(
    __global uchar* values,
    __global uchar* validity,
    __global uchar* codes,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)validity + scalars.validity),
        as_uint2((ulong)codes + scalars.codes),
        scalars.rows,
        scalars.first_value,
        scalars.first_valid,
        scalars.first_code,
        scalars.least,
        scalars.least_2,
        scalars.null,
        scalars.null_2,
        scalars.span,
        scalars.span_2,
        scalars.shift,
        scalars.mark,
        scalars.merge,
        scalars.value_bits,
        scalars.meaning,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

