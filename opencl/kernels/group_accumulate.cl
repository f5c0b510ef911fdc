// Kernel group_accumulate in OpenCL C 1.2, translated from shaders/group_accumulate.comp by make generate; do not edit.
// Variants:
//   op=0
//   op=1
//   op=2
//   op=3
//   op=4

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 ids; uint2 units; uint2 offsets; uint2 value; uint2 value_2; uint2 value_3; uint2 valid; uint2 state; uint2 state_2; uint2 state_3; uint count; uint bits; uint shift; uint kind; uint valid_bit; uint first_row; uint first_row_high; uint flip; uint first_group; uint end_group; } Push;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if OP == 0 || OP == 1 || OP == 2 || OP == 3
INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE void put(const Push* push, uint at, uint4 a) {
    uint4 value = a;
    column64_from(push->state, at)[0] = value.xy;
    if (!absent(push->state_2)) {
        uint4 value_2 = a;
        column64_from(push->state_2, at)[0] = value_2.zw;
    }
}

INLINE bool is_valid(const Push* push, uint row) {
    return absent(push->valid) || ((column32_from(push->valid, row)[0] >> push->valid_bit) & 1u) == 1u;
}

INLINE uint4 held(const Push* push, uint at) {
    uint2 value = column64_from(push->state, at)[0];
    uint2 variable;
    if (absent(push->state_2)) {
        variable = (uint2)(0u);
    } else {
        variable = column64_from(push->state_2, at)[0];
    }
    uint2 value_2 = variable;
    return (uint4)(value.x, value.y, value_2.x, value_2.y);
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE uint4 load_bits(const Push* push, uint row) {
    if (absent(push->value)) {
        uint2 value = add((uint2)(push->first_row, push->first_row_high), (uint2)(row, 0u));
        return (uint4)(value.x, value.y, 0u, 0u);
    }
    if (push->bits == 128u) {
        uint2 value_2 = column64_from(push->value, row)[0];
        uint2 value_3 = column64_from(push->value_2, row)[0];
        return (uint4)(value_2.x, value_2.y, value_3.x, value_3.y);
    }
    if (push->bits == 64u) {
        uint2 value_4 = column64_from(push->value, row)[0];
        return (uint4)(value_4.x, value_4.y, 0u, 0u);
    }
    return (uint4)((column32_from(push->value, row)[0] >> push->shift) & (4294967295u >> (32u - push->bits)), 0u, 0u, 0u);
}

INLINE uint4 load_integer(const Push* push, uint row) {
    uint4 a = load_bits(push, row);
    if ((push->kind != 0u) || push->bits == 128u) {
        return a;
    }
    uint variable;
    if (push->bits == 64u) {
        variable = a.y >> 31;
    } else {
        variable = (a.x >> (push->bits - 1u)) & 1u;
    }
    uint top = variable;
    uint fill = 0u - top;
    if (push->bits < 32u) {
        a.x = a.x | (fill << push->bits);
    }
    uint value = a.x;
    uint variable_2;
    if (push->bits == 64u) {
        variable_2 = a.y;
    } else {
        variable_2 = fill;
    }
    return (uint4)(value, variable_2, fill, fill);
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

#endif

#if OP == 0
INLINE uint4 add_128(uint4 a, uint4 b) {
    uint4 value = a;
    uint4 value_2 = b;
    uint2 low = add(value.xy, value_2.xy);
    uint4 value_3 = a;
    uint4 value_4 = b;
    uint2 high = add(value_3.zw, value_4.zw);
    uint2 value_5 = low;
    uint4 value_6 = a;
    uint2 variable;
    if (less(low, value_6.xy)) {
        variable = add(high, (uint2)(1u, 0u));
    } else {
        variable = high;
    }
    uint2 value_7 = variable;
    return (uint4)(value_5.x, value_5.y, value_7.x, value_7.y);
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint k = 0u;
    uint4 variable;
    for (; k < ITEMS; k = k + 1) {
        uint unit = (group * ITEMS + k) * WORKGROUP + LOCAL_ID_X;
        if (unit >= push->count) {
            return;
        }
        uint begin = column32_from(push->units, unit)[0];
        uint end = column32_from(push->units, unit)[1];
        uint from = column32_from(push->offsets, unit)[0];
        uint to = column32_from(push->offsets, unit)[1];
        uint4 none = (uint4)(0u);
        uint at = from;
        for (; at < to; at = at + 1) {
            put(push, at, none);
            if (!absent(push->state_3)) {
                column64_from(push->state_3, at)[0] = (uint2)(0u);
            }
        }
        uint row = begin;
        for (; row < end; row = row + 1) {
            if (!is_valid(push, row)) {
                continue;
            }
            uint at_2 = from + column32_from(push->ids, row)[0];
            uint4 before = held(push, at_2);
            if (absent(push->value)) {
                variable = (uint4)(1u, 0u, 0u, 0u);
            } else {
                variable = load_integer(push, row);
            }
            put(push, at_2, add_128(before, variable));
        }
    }
}

#endif

#if OP == 1 || OP == 2 || OP == 3
INLINE uint leading_zeros(uint2 a) {
    uint variable;
    if (a.y != 0u) {
        variable = 31u - as_uint(31 - (int)clz(a.y));
    } else {
        uint variable_2;
        if (a.x != 0u) {
            variable_2 = 63u - as_uint(31 - (int)clz(a.x));
        } else {
            variable_2 = 64u;
        }
        variable = variable_2;
    }
    return variable;
}

INLINE uint2 shift_left(uint2 a, uint by) {
    if (by >= 32u) {
        return (uint2)(0u, a.x << (by & 31u));
    }
    uint2 variable;
    if (by == 0u) {
        variable = a;
    } else {
        variable = (uint2)(a.x << by, (a.y << by) | (a.x >> (32u - by)));
    }
    return variable;
}

INLINE uint2 shift_right_sticky(uint2 a, uint by) {
    uint2 variable;
    if (by >= 64u) {
        variable = (uint2)(0u);
    } else {
        uint2 variable_2;
        if (by >= 32u) {
            variable_2 = (uint2)(a.y >> (by & 31u), 0u);
        } else {
            uint2 variable_3;
            if (by == 0u) {
                variable_3 = a;
            } else {
                variable_3 = (uint2)((a.x >> by) | (a.y << (32u - by)), a.y >> by);
            }
            variable_2 = variable_3;
        }
        variable = variable_2;
    }
    uint2 shifted = variable;
    uint2 variable_4;
    if (by >= 64u) {
        variable_4 = (uint2)(0u);
    } else {
        variable_4 = shift_left(shifted, by);
    }
    uint2 kept = variable_4;
    return (uint2)(shifted.x | (any(kept != a) ? 1u : 0u), shifted.y);
}

INLINE uint2 float64_round(uint sign, int* exponent, uint2* significand) {
    uint zeros = leading_zeros(*significand);
    if (zeros == 64u) {
        return (uint2)(0u, sign);
    }
    *significand = shift_left(*significand, zeros);
    *exponent = *exponent - as_int(zeros);
    if ((*exponent) >= 2047) {
        return (uint2)(0u, sign | 2146435072u);
    }
    if ((*exponent) < 1) {
        *significand = shift_right_sticky(*significand, as_uint(min(1 - *exponent, 64)));
        *exponent = 0;
    }
    uint2 kept = (uint2)(((*significand).x >> 11) | ((*significand).y << 21), (*significand).y >> 11);
    uint rest = (*significand).x & 2047u;
    if ((*exponent) > 0) {
        kept.y = kept.y + (as_uint(*exponent - 1) << 20);
    }
    if ((rest > 1024u) || (rest == 1024u && (kept.x & 1u) == 1u)) {
        kept = add(kept, (uint2)(1u, 0u));
    }
    return (uint2)(kept.x, kept.y | sign);
}

INLINE uint2 float64_widened(uint a, uint exponent_bits, uint fraction_bits) {
    uint sign = ((a >> (exponent_bits + fraction_bits)) & 1u) << 31;
    uint most = (1u << exponent_bits) - 1u;
    uint field = (a >> fraction_bits) & most;
    uint fraction = a & ((1u << fraction_bits) - 1u);
    if (field == most) {
        uint2 variable;
        if (fraction != 0u) {
            variable = (uint2)(0u, 2146959360u);
        } else {
            variable = (uint2)(0u, sign | 2146435072u);
        }
        return variable;
    }
    if (field > 0u) {
        fraction = fraction | (1u << fraction_bits);
    }
    int bias = as_int(most >> 1);
    int param_2 = as_int(max(field, 1u)) - bias + 1023 + 63 - as_int(fraction_bits);
    uint2 param_3 = (uint2)(fraction, 0u);
    uint2 value = float64_round(sign, &param_2, &param_3);
    return value;
}

INLINE uint2 load_float_bits(const Push* push, uint row) {
    uint4 a = load_bits(push, row);
    uint2 variable;
    if (push->bits == 64u) {
        uint4 value = a;
        variable = value.xy;
    } else {
        uint2 variable_2;
        if (push->bits == 32u) {
            variable_2 = float64_widened(a.x, 8u, 23u);
        } else {
            variable_2 = float64_widened(a.x, 5u, 10u);
        }
        variable = variable_2;
    }
    return variable;
}

INLINE bool float64_is_nan(uint2 a) {
    return less((uint2)(0u, 2146435072u), (uint2)(a.x, a.y & 2147483647u));
}

#endif

#if OP == 1 || OP == 3
INLINE uint2 subtract(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) - as_ulong(b));
}

INLINE uint2 float64_of(uint4 a) {
    uint4 value = a;
    if (all(value.zw == (uint2)(0u))) {
        int param_2 = 1086;
        uint4 value_2 = a;
        uint2 param_3 = value_2.xy;
        uint2 value_3 = float64_round(0u, &param_2, &param_3);
        return value_3;
    }
    uint4 value_4 = a;
    uint zeros = leading_zeros(value_4.zw);
    uint4 value_5 = a;
    uint2 high = shift_left(value_5.zw, zeros);
    uint by = 64u - zeros;
    if (zeros > 0u) {
        uint2 variable;
        if (by >= 32u) {
            variable = (uint2)(a.y >> (by & 31u), 0u);
        } else {
            variable = (uint2)((a.x >> by) | (a.y << (32u - by)), a.y >> by);
        }
        high = high | variable;
    }
    uint4 value_6 = a;
    uint2 rest = shift_left(value_6.xy, zeros);
    high.x = high.x | (any(rest != (uint2)(0u)) ? 1u : 0u);
    int param_10 = 1150 - as_int(zeros);
    uint2 param_11 = high;
    uint2 value_7 = float64_round(0u, &param_10, &param_11);
    return value_7;
}

INLINE uint2 load_float(const Push* push, uint row) {
    if (push->kind == 2u) {
        uint2 value = load_float_bits(push, row);
        return value;
    }
    uint4 a = load_integer(push, row);
    uint variable;
    if (push->kind == 0u) {
        variable = a.w & 2147483648u;
    } else {
        variable = 0u;
    }
    uint sign = variable;
    if (sign != 0u) {
        uint4 value_2 = a;
        uint2 low = subtract((uint2)(0u), value_2.xy);
        uint4 value_3 = a;
        uint2 high = subtract((uint2)(0u), value_3.zw);
        uint2 value_4 = low;
        uint2 variable_2;
        if (all(low == (uint2)(0u))) {
            variable_2 = high;
        } else {
            variable_2 = subtract(high, (uint2)(1u, 0u));
        }
        uint2 value_5 = variable_2;
        a = (uint4)(value_4.x, value_4.y, value_5.x, value_5.y);
    }
    uint2 number = float64_of(a);
    return (uint2)(number.x, number.y | sign);
}

INLINE bool float64_is_special(uint2 a) {
    return (a.y & 2146435072u) == 2146435072u;
}

INLINE void float64_split(uint2 a, int* exponent, uint2* significand) {
    uint field = (a.y >> 20) & 2047u;
    *significand = (uint2)(a.x << 11, ((a.y & 1048575u) << 11) | (a.x >> 21));
    if (field > 0u) {
        (*significand).y = (*significand).y | 2147483648u;
    }
    *exponent = as_int(max(field, 1u));
}

INLINE uint2 float64_add(uint2* a, uint2* b) {
    if (float64_is_special(*a) || float64_is_special(*b)) {
        bool unknown = (float64_is_nan(*a) || float64_is_nan(*b)) || (float64_is_special(*a) && float64_is_special(*b) && (*a).y != (*b).y);
        uint2 variable;
        if (unknown) {
            variable = (uint2)(0u, 2146959360u);
        } else {
            variable = float64_is_special(*a) ? *a : *b;
        }
        return variable;
    }
    if (less((uint2)((*a).x, (*a).y & 2147483647u), (uint2)((*b).x, (*b).y & 2147483647u))) {
        uint2 greater = *b;
        *b = *a;
        *a = greater;
    }
    int param_11;
    uint2 param_12;
    float64_split(*a, &param_11, &param_12);
    int exponent = param_11;
    uint2 significand = param_12;
    int param_14;
    uint2 param_15;
    float64_split(*b, &param_14, &param_15);
    int exponent_b = param_14;
    uint2 other = param_15;
    significand = shift_right_sticky(significand, 1u);
    other = shift_right_sticky(other, as_uint(exponent - exponent_b) + 1u);
    uint sign = (*a).y & 2147483648u;
    uint2 variable_2;
    if ((((*a).y ^ (*b).y) & 2147483648u) == 0u) {
        variable_2 = add(significand, other);
    } else {
        variable_2 = subtract(significand, other);
    }
    significand = variable_2;
    if (all(significand == (uint2)(0u))) {
        return (uint2)(0u, (*a).y & (*b).y & 2147483648u);
    }
    int param_25 = exponent + 1;
    uint2 param_26 = significand;
    uint2 value = float64_round(sign, &param_25, &param_26);
    return value;
}

#endif

#if OP == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint k = 0u;
    for (; k < ITEMS; k = k + 1) {
        uint unit = (group * ITEMS + k) * WORKGROUP + LOCAL_ID_X;
        if (unit >= push->count) {
            return;
        }
        uint begin = column32_from(push->units, unit)[0];
        uint end = column32_from(push->units, unit)[1];
        uint from = column32_from(push->offsets, unit)[0];
        uint to = column32_from(push->offsets, unit)[1];
        uint4 none = (uint4)(0u);
        none.y = 2147483648u;
        uint at = from;
        for (; at < to; at = at + 1) {
            put(push, at, none);
            if (!absent(push->state_3)) {
                column64_from(push->state_3, at)[0] = (uint2)(0u);
            }
        }
        uint row = begin;
        for (; row < end; row = row + 1) {
            if (!is_valid(push, row)) {
                continue;
            }
            uint at_2 = from + column32_from(push->ids, row)[0];
            uint4 before = held(push, at_2);
            uint2 value = load_float(push, row);
            uint4 value_2 = before;
            uint2 param_19 = value_2.xy;
            uint2 param_20 = value;
            uint2 value_3 = float64_add(&param_19, &param_20);
            put(push, at_2, (uint4)(value_3.x, value_3.y, 0u, 0u));
        }
    }
}

#endif

#if OP == 2
INLINE uint4 above_all(const Push* push, uint flip) {
    if (push->kind == 2u) {
        return (uint4)(0u, flip == 0u ? 4294443008u : 4293918720u, flip, flip);
    }
    uint4 variable;
    if (push->bits == 128u) {
        variable = (uint4)(4294967295u);
    } else {
        variable = (uint4)(4294967295u, 4294967295u, flip, flip);
    }
    return variable;
}

INLINE uint4 signed_order(const Push* push, uint4 a) {
    if (push->bits == 128u) {
        uint4 variable;
        if (push->kind == 0u) {
            uint4 value = a;
            uint3 value_2 = value.xyz;
            variable = (uint4)(value_2.x, value_2.y, value_2.z, a.w ^ 2147483648u);
        } else {
            variable = a;
        }
        return variable;
    }
    uint value_3 = a.x;
    uint variable_2;
    if (push->kind == 0u) {
        variable_2 = a.y ^ 2147483648u;
    } else {
        variable_2 = a.y;
    }
    return (uint4)(value_3, variable_2, 0u, 0u);
}

INLINE uint4 ordered_value(const Push* push, uint4 a) {
    if (push->kind == 2u) {
        uint2 variable;
        if ((a.y >> 31) == 0u) {
            uint4 value = a;
            variable = ~value.xy;
        } else {
            variable = (uint2)(a.x, a.y ^ 2147483648u);
        }
        uint2 value_2 = variable;
        return (uint4)(value_2.x, value_2.y, 0u, 0u);
    }
    return signed_order(push, a);
}

INLINE uint4 ordered_of(const Push* push, uint4* a) {
    if (push->kind != 2u) {
        return signed_order(push, *a);
    }
    uint4 value = *a;
    if (float64_is_nan(value.xy)) {
        (*a).x = (uint2)(0u, 2146959360u).x;
        (*a).y = (uint2)(0u, 2146959360u).y;
    }
    uint2 variable;
    if (((*a).y >> 31) == 1u) {
        uint4 value_2 = *a;
        variable = ~value_2.xy;
    } else {
        variable = (uint2)((*a).x, (*a).y ^ 2147483648u);
    }
    uint2 value_3 = variable;
    return (uint4)(value_3.x, value_3.y, 0u, 0u);
}

INLINE uint4 ordered(const Push* push, uint row) {
    uint4 variable;
    if (push->kind == 2u) {
        uint2 value = load_float_bits(push, row);
        variable = (uint4)(value.x, value.y, 0u, 0u);
    } else {
        variable = load_integer(push, row);
    }
    uint4 param_3 = variable;
    uint4 value_2 = ordered_of(push, &param_3);
    return value_2;
}

INLINE bool less_128(uint4 a, uint4 b) {
    uint4 value = a;
    uint4 value_2 = b;
    bool variable;
    if (all(value.zw == value_2.zw)) {
        uint4 value_3 = a;
        uint4 value_4 = b;
        variable = less(value_3.xy, value_4.xy);
    } else {
        uint4 value_5 = a;
        uint4 value_6 = b;
        variable = less(value_5.zw, value_6.zw);
    }
    return variable;
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint k = 0u;
    for (; k < ITEMS; k = k + 1) {
        uint unit = (group * ITEMS + k) * WORKGROUP + LOCAL_ID_X;
        if (unit >= push->count) {
            return;
        }
        uint begin = column32_from(push->units, unit)[0];
        uint end = column32_from(push->units, unit)[1];
        uint from = column32_from(push->offsets, unit)[0];
        uint to = column32_from(push->offsets, unit)[1];
        uint4 none = (uint4)(0u);
        none = ordered_value(push, above_all(push, push->flip) ^ (uint4)(push->flip));
        uint at = from;
        for (; at < to; at = at + 1) {
            put(push, at, none);
            if (!absent(push->state_3)) {
                column64_from(push->state_3, at)[0] = (uint2)(0u);
            }
        }
        uint row = begin;
        for (; row < end; row = row + 1) {
            if (!is_valid(push, row)) {
                continue;
            }
            uint at_2 = from + column32_from(push->ids, row)[0];
            uint4 before = held(push, at_2);
            uint4 value = ordered(push, row);
            uint4 code = value ^ (uint4)(push->flip);
            uint4 param_21 = before;
            uint4 value_2 = ordered_of(push, &param_21);
            if (less_128(code, value_2 ^ (uint4)(push->flip))) {
                put(push, at_2, ordered_value(push, code ^ (uint4)(push->flip)));
            }
        }
    }
}

#endif

#if OP == 3
typedef struct { uint m0; uint m1; } ResType;

INLINE ResType multiply_extended(uint a, uint b) {
    return (ResType){a * b, mul_hi(a, b)};
}

INLINE uint2 float64_multiply(uint2 a, uint2 b) {
    uint sign = (a.y ^ b.y) & 2147483648u;
    bool zero = (((a.y << 1) | a.x) == 0u) || ((b.y << 1) | b.x) == 0u;
    if (float64_is_special(a) || float64_is_special(b)) {
        uint2 variable;
        if (float64_is_nan(a) || float64_is_nan(b) || zero) {
            variable = (uint2)(0u, 2146959360u);
        } else {
            variable = (uint2)(0u, sign | 2146435072u);
        }
        return variable;
    }
    int param_6;
    uint2 param_7;
    float64_split(a, &param_6, &param_7);
    int exponent_a = param_6;
    uint2 x = param_7;
    int param_9;
    uint2 param_10;
    float64_split(b, &param_9, &param_10);
    int exponent_b = param_9;
    uint2 y = param_10;
    uint zeros_x = leading_zeros(x) & 63u;
    uint zeros_y = leading_zeros(y) & 63u;
    x = shift_left(x, zeros_x);
    y = shift_left(y, zeros_y);
    ResType value = multiply_extended(x.x, y.x);
    uint low = value.m0;
    uint high = value.m1;
    ResType value_2 = multiply_extended(x.x, y.y);
    uint low_1 = value_2.m0;
    uint high_1 = value_2.m1;
    ResType value_3 = multiply_extended(x.y, y.x);
    uint low_2 = value_3.m0;
    uint high_2 = value_3.m1;
    ResType value_4 = multiply_extended(x.y, y.y);
    uint low_3 = value_4.m0;
    uint high_3 = value_4.m1;
    uint2 middle = add((uint2)(high, 0u), add((uint2)(low_1, 0u), (uint2)(low_2, 0u)));
    uint2 product = add((uint2)(low_3, high_3), add((uint2)(high_1, 0u), add((uint2)(high_2, 0u), (uint2)(middle.y, 0u))));
    product.x = product.x | ((low != 0u) || middle.x != 0u ? 1u : 0u);
    int param_28 = exponent_a - as_int(zeros_x) + exponent_b - as_int(zeros_y) - 1022;
    uint2 param_29 = product;
    uint2 value_5 = float64_round(sign, &param_28, &param_29);
    return value_5;
}

INLINE uint2 float64_divide(uint2 a, uint2 b) {
    if (float64_is_special(a)) {
        return float64_is_nan(a) ? (uint2)(0u, 2146959360u) : a;
    }
    int param_4;
    uint2 param_5;
    float64_split(a, &param_4, &param_5);
    int exponent_a = param_4;
    uint2 rest = param_5;
    int param_7;
    uint2 param_8;
    float64_split(b, &param_7, &param_8);
    int exponent_b = param_7;
    uint2 divisor = param_8;
    uint zeros = leading_zeros(rest) & 63u;
    rest = shift_right_sticky(shift_left(rest, zeros), 1u);
    uint zeros_b = leading_zeros(divisor) & 63u;
    divisor = shift_right_sticky(shift_left(divisor, zeros_b), 1u);
    uint2 quotient = (uint2)(0u);
    uint bit = 0u;
    for (; bit < 62u; bit = bit + 1) {
        quotient = shift_left(quotient, 1u);
        if (!less(rest, divisor)) {
            rest = subtract(rest, divisor);
            quotient.x = quotient.x | 1u;
        }
        rest = shift_left(rest, 1u);
    }
    quotient.x = quotient.x | (any(rest != (uint2)(0u)) ? 1u : 0u);
    int param_28 = exponent_a - as_int(zeros) - exponent_b + as_int(zeros_b) + 1023 + 2;
    uint2 param_29 = quotient;
    uint2 value = float64_round(a.y & 2147483648u, &param_28, &param_29);
    return value;
}

INLINE uint2 float64_negative(uint2 a) {
    return (uint2)(a.x, a.y ^ 2147483648u);
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint k = 0u;
    for (; k < ITEMS; k = k + 1) {
        uint unit = (group * ITEMS + k) * WORKGROUP + LOCAL_ID_X;
        if (unit >= push->count) {
            return;
        }
        uint begin = column32_from(push->units, unit)[0];
        uint end = column32_from(push->units, unit)[1];
        uint from = column32_from(push->offsets, unit)[0];
        uint to = column32_from(push->offsets, unit)[1];
        uint4 none = (uint4)(0u);
        uint at = from;
        for (; at < to; at = at + 1) {
            put(push, at, none);
            if (!absent(push->state_3)) {
                column64_from(push->state_3, at)[0] = (uint2)(0u);
            }
        }
        uint row = begin;
        for (; row < end; row = row + 1) {
            if (!is_valid(push, row)) {
                continue;
            }
            uint at_2 = from + column32_from(push->ids, row)[0];
            uint4 before = held(push, at_2);
            uint2 term = load_float(push, row);
            uint2 weight = (uint2)(1u, 0u);
            if (!absent(push->value_3)) {
                weight = column64_from(push->value_3, row)[0];
                uint2 value = weight;
                uint2 value_2 = float64_of((uint4)(value.x, value.y, 0u, 0u));
                term = float64_multiply(term, value_2);
            }
            if (any(weight != (uint2)(0u))) {
                uint4 value_3 = before;
                uint2 param_27 = value_3.xy;
                uint2 param_28 = term;
                uint2 value_4 = float64_add(&param_27, &param_28);
                column64_from(push->state, at_2)[0] = value_4;
            }
            column64_from(push->state_3, at_2)[0] = add(column64_from(push->state_3, at_2)[0], weight);
        }
        uint at_3 = from;
        for (; at_3 < to; at_3 = at_3 + 1) {
            uint2 rows_of = column64_from(push->state_3, at_3)[0];
            if (all(rows_of == (uint2)(0u))) {
                continue;
            }
            __global uint2* sum = column64_from(push->state, at_3);
            uint2 value_5 = rows_of;
            uint2 value_6 = float64_of((uint4)(value_5.x, value_5.y, 0u, 0u));
            uint2 value_7 = float64_divide(sum[0], value_6);
            sum[0] = value_7;
        }
        uint row_2 = begin;
        for (; row_2 < end; row_2 = row_2 + 1) {
            if (!is_valid(push, row_2)) {
                continue;
            }
            uint at_4 = from + column32_from(push->ids, row_2)[0];
            uint4 before_2 = held(push, at_4);
            uint2 value_8 = load_float(push, row_2);
            uint4 value_9 = before_2;
            uint2 param_48 = value_8;
            uint2 param_49 = float64_negative(value_9.xy);
            uint2 away = float64_add(&param_48, &param_49);
            uint2 weight_2 = (uint2)(1u, 0u);
            uint2 square = float64_multiply(away, away);
            if (!absent(push->value_3)) {
                weight_2 = column64_from(push->value_3, row_2)[0];
                uint2 value_10 = weight_2;
                uint2 value_11 = float64_of((uint4)(value_10.x, value_10.y, 0u, 0u));
                uint2 value_12 = float64_multiply(value_11, square);
                uint2 param_60 = column64_from(push->value_2, row_2)[0];
                uint2 param_61 = value_12;
                square = float64_add(&param_60, &param_61);
            }
            if (any(weight_2 != (uint2)(0u))) {
                uint4 value_13 = before_2;
                uint2 param_64 = value_13.zw;
                uint2 param_65 = square;
                uint2 value_14 = float64_add(&param_64, &param_65);
                column64_from(push->state_2, at_4)[0] = value_14;
            }
        }
    }
}

#endif

#if OP == 4
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint k = 0u;
    for (; k < ITEMS; k = k + 1) {
        uint unit = (group * ITEMS + k) * WORKGROUP + LOCAL_ID_X;
        if (unit >= push->count) {
            return;
        }
        uint begin = column32_from(push->units, unit)[0];
        uint end = column32_from(push->units, unit)[1];
        uint from = column32_from(push->offsets, unit)[0];
        uint to = column32_from(push->offsets, unit)[1];
        uint row = begin;
        for (; row < end; row = row + 1) {
            uint at = from + column32_from(push->ids, row)[0];
            if (push->bits == 64u) {
                column64_from(push->state, at)[0] = column64_from(push->value, row)[0];
            } else {
                column32_from(push->state, at)[0] = column32_from(push->value, row)[0];
            }
        }
    }
}

#endif

typedef struct {
    ulong ids;
    ulong units;
    ulong offsets;
    ulong value;
    ulong value_2;
    ulong value_3;
    ulong valid;
    ulong state;
    ulong state_2;
    ulong state_3;
    uint count;
    uint bits;
    uint shift;
    uint kind;
    uint valid_bit;
    uint first_row;
    uint first_row_high;
    uint flip;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_accumulate(__global uchar* ids, __global uchar* units, __global uchar* offsets, __global uchar* value, __global uchar* value_2, __global uchar* value_3, __global uchar* valid, __global uchar* state, __global uchar* state_2, __global uchar* state_3, const Words words) {
    const Push addresses = {
        as_uint2((ulong)ids + words.ids),
        as_uint2((ulong)units + words.units),
        as_uint2((ulong)offsets + words.offsets),
        as_uint2((ulong)value + words.value),
        as_uint2((ulong)value_2 + words.value_2),
        as_uint2((ulong)value_3 + words.value_3),
        as_uint2((ulong)valid + words.valid),
        as_uint2((ulong)state + words.state),
        as_uint2((ulong)state_2 + words.state_2),
        as_uint2((ulong)state_3 + words.state_3),
        words.count,
        words.bits,
        words.shift,
        words.kind,
        words.valid_bit,
        words.first_row,
        words.first_row_high,
        words.flip,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

