// Kernel encode_keys in OpenCL C 1.2, translated from shaders/encode_keys.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 values; uint2 validity; uint2 codes; uint rows; uint first_value; uint first_valid; uint first_code; uint least; uint least_2; uint null; uint null_2; uint span; uint span_2; uint shift; uint mark; uint merge; uint value_bits; uint meaning; uint first_group; uint end_group; } Push;

INLINE uint rows_left(uint rows, uint first, uint size) {
    uint variable;
    if (first < rows) {
        variable = min(size, rows - first);
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

typedef struct { uint log2_bits; uint log2_rows; uint log2_step; uint mask; uint high; } Layout;

INLINE Layout layout_of(uint bits) {
    uint log2_bits = as_uint(31 - (int)clz(bits));
    uint log2_narrow = min(log2_bits, 5u);
    uint narrow_mask = (1u << (bits & 31u)) - 1u;
    uint high = bits < 64u ? 0u : 1u;
    uint mask = bits < 32u ? narrow_mask : 4294967295u;
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
    uint extended = as_uint((int)((int)as_int(value.x << above) >> above));
    uint variable;
    if (has_sign) {
        variable = extended;
    } else {
        variable = value.x;
    }
    uint low = variable;
    uint variable_2;
    if (has_sign) {
        variable_2 = as_uint((int)((int)as_int(extended) >> 31));
    } else {
        variable_2 = 0u;
    }
    uint sign = variable_2;
    uint value_2 = low;
    uint variable_3;
    if (bits < 64u) {
        variable_3 = sign;
    } else {
        variable_3 = value.y;
    }
    return (uint2)(value_2, variable_3);
}

INLINE uint subnormal_shift(uint magnitude, uint fraction_bits) {
    return fraction_bits - min(fraction_bits, as_uint(31 - (int)clz(magnitude | 1u)));
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
    uint bias = m >= 2139095040u ? 1792u : normal;
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
    uint variable;
    if (bits < 64u) {
        variable = value.x << (32u - min(bits, 32u));
    } else {
        variable = value.y;
    }
    uint top = variable;
    uint single = top & 2147483647u;
    uint half_bits = widen_half((top >> 16u) & 32767u);
    single = bits == 16u ? half_bits : single;
    uint2 widened = widen_single(single);
    uint2 narrow = (uint2)(single, 0u);
    uint2 own_ = (uint2)(value.x, single);
    uint2 magnitude = as_double ? widened : narrow;
    magnitude = bits == 64u ? own_ : magnitude;
    uint2 infinity = (uint2)(as_double ? 0u : 2139095040u, as_double ? 2146435072u : 0u);
    uint2 negative = subtract((uint2)(0u), magnitude);
    uint2 nan = add(infinity, (uint2)(1u, 0u));
    uint2 rank = (top >> 31u) == 0u ? magnitude : negative;
    return less(infinity, magnitude) ? nan : rank;
}

typedef struct { uint2 v[8u]; } uint2_x8u;

#if KEY_BITS == 32
INLINE uint below(uint bit) {
    uint some = (1u << (bit & 31u)) - 1u;
    return bit < 32u ? some : 4294967295u;
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint shift_left(uint2 code, uint by) {
    return code.x << (by & 31u);
}

typedef struct { uint v[8u]; } uint_x8u;

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint2 from = push->values;
    uint2 valid = push->validity;
    uint2 least_code = (uint2)(push->least, push->least_2);
    uint2 null_code = (uint2)(push->null, push->null_2);
    uint2 span_code = (uint2)(push->span, push->span_2);
    uint kept = below(push->mark);
    uint value = push->first_value + begin;
    uint bit = push->first_valid + begin;
    uint by = push->shift;
    uint to_mark = push->mark;
    uint bits = push->value_bits;
    uint means = push->meaning;
    bool merging = push->merge == 1u;
    bool marking = push->mark < 32u;
    bool nullable = !absent(valid);
    Layout of_values = layout_of(bits);
    Layout of_bits = layout_of(1u);
    __global uint* to = column32_from(push->codes, push->first_code + begin);
    uint i = LOCAL_ID_X;
    uint2_x8u own_;
    uint_x8u before;
    uint2 variable;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            own_.v[k] = value_at(from, value + min(i + k * WORKGROUP, count - 1u), of_values);
            before.v[k] = 0u;
        }
        if (merging) {
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 8u; k_2 = k_2 + 1) {
                before.v[k_2] = to[min(i + k_2 * WORKGROUP, count - 1u)];
            }
        }
        if (means < 2u) {
            uint k_3 = 0u;
            UNROLL
            for (; k_3 < 8u; k_3 = k_3 + 1) {
                own_.v[k_3] = number_code(own_.v[k_3], bits, means == 1u);
            }
        } else {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < 8u; k_4 = k_4 + 1) {
                own_.v[k_4] = float_code(own_.v[k_4], bits, means == 3u);
            }
        }
        if (nullable) {
            uint k_5 = 0u;
            UNROLL
            for (; k_5 < 8u; k_5 = k_5 + 1) {
                uint some = value_at(valid, bit + min(i + k_5 * WORKGROUP, count - 1u), of_bits).x;
                uint value_2 = k_5;
                if (some == 1u) {
                    variable = own_.v[k_5];
                } else {
                    variable = null_code;
                }
                own_.v[value_2] = variable;
            }
        }
        uint k_6 = 0u;
        UNROLL
        for (; k_6 < 8u; k_6 = k_6 + 1) {
            if ((i + k_6 * WORKGROUP) < count) {
                uint2 code = subtract(own_.v[k_6], least_code);
                uint2 outside = (uint2)(marking && less(span_code, code) ? 1u : 0u, 0u);
                to[i + k_6 * WORKGROUP] = before.v[k_6] | (shift_left(code, by) & kept) | shift_left(outside, to_mark);
            }
        }
    }
}

#endif

#if KEY_BITS == 64
INLINE uint2 below(uint bit) {
    uint some = (1u << (bit & 31u)) - 1u;
    uint low = bit < 32u ? some : 4294967295u;
    uint high = bit < 64u ? some : 4294967295u;
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

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint2 from = push->values;
    uint2 valid = push->validity;
    uint2 least_code = (uint2)(push->least, push->least_2);
    uint2 null_code = (uint2)(push->null, push->null_2);
    uint2 span_code = (uint2)(push->span, push->span_2);
    uint2 kept = below(push->mark);
    uint value = push->first_value + begin;
    uint bit = push->first_valid + begin;
    uint by = push->shift;
    uint to_mark = push->mark;
    uint bits = push->value_bits;
    uint means = push->meaning;
    bool merging = push->merge == 1u;
    bool marking = push->mark < 64u;
    bool nullable = !absent(valid);
    Layout of_values = layout_of(bits);
    Layout of_bits = layout_of(1u);
    __global uint2* to = column64_from(push->codes, push->first_code + begin);
    uint i = LOCAL_ID_X;
    uint2_x8u own_;
    uint2_x8u before;
    uint2 variable;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            own_.v[k] = value_at(from, value + min(i + k * WORKGROUP, count - 1u), of_values);
            before.v[k] = (uint2)(0u);
        }
        if (merging) {
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 8u; k_2 = k_2 + 1) {
                before.v[k_2] = to[min(i + k_2 * WORKGROUP, count - 1u)];
            }
        }
        if (means < 2u) {
            uint k_3 = 0u;
            UNROLL
            for (; k_3 < 8u; k_3 = k_3 + 1) {
                own_.v[k_3] = number_code(own_.v[k_3], bits, means == 1u);
            }
        } else {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < 8u; k_4 = k_4 + 1) {
                own_.v[k_4] = float_code(own_.v[k_4], bits, means == 3u);
            }
        }
        if (nullable) {
            uint k_5 = 0u;
            UNROLL
            for (; k_5 < 8u; k_5 = k_5 + 1) {
                uint some = value_at(valid, bit + min(i + k_5 * WORKGROUP, count - 1u), of_bits).x;
                uint value_2 = k_5;
                if (some == 1u) {
                    variable = own_.v[k_5];
                } else {
                    variable = null_code;
                }
                own_.v[value_2] = variable;
            }
        }
        uint k_6 = 0u;
        UNROLL
        for (; k_6 < 8u; k_6 = k_6 + 1) {
            if ((i + k_6 * WORKGROUP) < count) {
                uint2 code = subtract(own_.v[k_6], least_code);
                uint2 outside = (uint2)(marking && less(span_code, code) ? 1u : 0u, 0u);
                to[i + k_6 * WORKGROUP] = before.v[k_6] | (shift_left(code, by) & kept) | shift_left(outside, to_mark);
            }
        }
    }
}

#endif

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void encode_keys(__global uchar* values, __global uchar* validity, __global uchar* codes, const Words words) {
    const Push addresses = {
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)validity + words.validity),
        as_uint2((ulong)codes + words.codes),
        words.rows,
        words.first_value,
        words.first_valid,
        words.first_code,
        words.least,
        words.least_2,
        words.null,
        words.null_2,
        words.span,
        words.span_2,
        words.shift,
        words.mark,
        words.merge,
        words.value_bits,
        words.meaning,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

