// Kernel group_reduce in OpenCL C 1.2, translated from shaders/group_reduce.comp by make generate; do not edit.
// Variants:
//   op=0
//   op=1
//   op=2
//   op=3

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
    ulong ids;
    ulong segments;
    ulong value;
    ulong value_2;
    ulong value_3;
    ulong valid;
    ulong state;
    ulong state_2;
    ulong state_3;
    uint rows;
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
} Scalars;

typedef struct {
    uint2 ids;
    uint2 segments;
    uint2 value;
    uint2 value_2;
    uint2 value_3;
    uint2 valid;
    uint2 state;
    uint2 state_2;
    uint2 state_3;
    uint rows;
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
} Arguments;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE uint row_at(const Arguments* args, uint i) {
    return absent(args->ids) ? i : column32_from(args->ids, i)[0];
}

INLINE bool is_valid(const Arguments* args, uint row) {
    return absent(args->valid) || ((column32_from(args->valid, row)[0] >> args->valid_bit) & 1u) == 1u;
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint4 load_bits(const Arguments* args, uint row) {
    if (absent(args->value)) {
        uint2 value = add((uint2)(args->first_row, args->first_row_high), (uint2)(row, 0u));
        return (uint4)(value.x, value.y, 0u, 0u);
    }
    if (args->bits == 128u) {
        uint2 value = column64_from(args->value, row)[0];
        uint2 value_2 = column64_from(args->value_2, row)[0];
        return (uint4)(value.x, value.y, value_2.x, value_2.y);
    }
    if (args->bits == 64u) {
        uint2 value = column64_from(args->value, row)[0];
        return (uint4)(value.x, value.y, 0u, 0u);
    }
    return (uint4)((column32_from(args->value, row)[0] >> args->shift) & (0xffffffffu >> (32u - args->bits)), 0u, 0u,
            0u);
}

INLINE uint4 load_integer(const Arguments* args, uint row) {
    uint4 a = load_bits(args, row);
    if (args->kind != 0u || args->bits == 128u) return a;
    uint top = args->bits == 64u ? a.y >> 31u : (a.x >> (args->bits - 1u)) & 1u;
    uint fill = 0u - top;
    if (args->bits < 32u) {
        a.x |= fill << args->bits;
    }
    return (uint4)(a.x, args->bits == 64u ? a.y : fill, fill, fill);
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

#if OP == 0
INLINE uint4 add_128(uint4 a, uint4 b) {
    uint2 low = add(a.xy, b.xy);
    uint2 high = add(a.zw, b.zw);
    uint2 value = less(low, a.xy) ? add(high, (uint2)(1u, 0u)) : high;
    return (uint4)(low.x, low.y, value.x, value.y);
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first_segment = group * WORKGROUP * ITEMS;
    for (uint k = 0u; k < ITEMS; ++k) {
        uint segment = first_segment + k * WORKGROUP + LOCAL_ID_X;
        if (segment >= args->count) return;
        uint begin = column32_from(args->segments, segment)[0];
        uint end = args->rows;
        if (segment + 1u < args->count) {
            end = column32_from(args->segments, segment + 1u)[0];
        }
        uint4 result = (uint4)(0u);
        uint2 result_3 = (uint2)(0u);
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(args, i);
            if (is_valid(args, row)) {
                result = add_128(result, absent(args->value) ? (uint4)(1u, 0u, 0u, 0u) : load_integer(args, row));
            }
        }
        column64_from(args->state, segment)[0] = result.xy;
        if (!absent(args->state_2)) {
            column64_from(args->state_2, segment)[0] = result.zw;
        }
        if (!absent(args->state_3)) {
            column64_from(args->state_3, segment)[0] = result_3;
        }
    }
}
#endif

#if OP >= 1
INLINE uint leading_zeros(uint2 a) {
    return a.y != 0u ? 31u - (31u - clz(a.y)) : a.x != 0u ? 63u - (31u - clz(a.x)) : 64u;
}

INLINE uint2 shift_left(uint2 a, uint by) {
    if (by >= 32u) return (uint2)(0u, a.x << (by & 31u));
    return by == 0u ? a : (uint2)(a.x << by, (a.y << by) | (a.x >> (32u - by)));
}

INLINE uint2 shift_right_sticky(uint2 a, uint by) {
    uint2 shifted = by >= 64u ? (uint2)(0u) : by >= 32u ? (uint2)(a.y >> (by & 31u), 0u) : by == 0u ? a
            : (uint2)((a.x >> by) | (a.y << (32u - by)), a.y >> by);
    uint2 kept = by >= 64u ? (uint2)(0u) : shift_left(shifted, by);
    return (uint2)(shifted.x | (any(kept != a) ? 1u : 0u), shifted.y);
}

INLINE uint2 float64_round(uint sign, int exponent, uint2 significand) {
    uint zeros = leading_zeros(significand);
    if (zeros == 64u) return (uint2)(0u, sign);
    significand = shift_left(significand, zeros);
    exponent = as_int(as_uint(exponent) - zeros);
    if (exponent >= 2047) return (uint2)(0u, sign | 0x7ff00000u);
    if (exponent < 1) {
        significand = shift_right_sticky(significand, as_uint(min(as_int(1u - as_uint(exponent)), 64)));
        exponent = 0;
    }
    uint2 kept = (uint2)((significand.x >> 11u) | (significand.y << 21u), significand.y >> 11u);
    uint rest = significand.x & 0x7ffu;
    if (exponent > 0) {
        kept.y += (as_uint(exponent) - 1u) << 20u;
    }
    if (rest > 0x400u || (rest == 0x400u && (kept.x & 1u) == 1u)) {
        kept = add(kept, (uint2)(1u, 0u));
    }
    return (uint2)(kept.x, kept.y | sign);
}

INLINE uint2 float64_widened(uint a, uint exponent_bits, uint fraction_bits) {
    uint sign = ((a >> (exponent_bits + fraction_bits)) & 1u) << 31u;
    uint most = (1u << exponent_bits) - 1u;
    uint field = (a >> fraction_bits) & most;
    uint fraction = a & ((1u << fraction_bits) - 1u);
    if (field == most) return fraction != 0u ? (uint2)(0u, 0x7ff80000u) : (uint2)(0u, sign | 0x7ff00000u);
    if (field > 0u) {
        fraction |= 1u << fraction_bits;
    }
    int bias = as_int(most >> 1u);
    return float64_round(sign, as_int(max(field, 1u) - as_uint(bias) + 1023u + 63u - fraction_bits),
            (uint2)(fraction, 0u));
}

INLINE uint2 load_float_bits(const Arguments* args, uint row) {
    uint4 a = load_bits(args, row);
    return args->bits == 64u ? a.xy : args->bits == 32u ? float64_widened(a.x, 8u, 23u) : float64_widened(a.x, 5u, 10u);
}

INLINE bool float64_is_nan(uint2 a) {
    return less((uint2)(0u, 0x7ff00000u), (uint2)(a.x, a.y & 0x7fffffffu));
}
#endif

#if (OP == 1 || OP == 3)
INLINE uint2 subtract(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) - as_ulong(b));
}

INLINE uint2 float64_of(uint4 a) {
    if (all(a.zw == (uint2)(0u))) return float64_round(0u, 1086, a.xy);
    uint zeros = leading_zeros(a.zw);
    uint2 high = shift_left(a.zw, zeros);
    uint by = 64u - zeros;
    if (zeros > 0u) {
        high |= by >= 32u ? (uint2)(a.y >> (by & 31u), 0u) : (uint2)((a.x >> by) | (a.y << (32u - by)), a.y >> by);
    }
    uint2 rest = shift_left(a.xy, zeros);
    high.x |= any(rest != (uint2)(0u)) ? 1u : 0u;
    return float64_round(0u, as_int(1150u - zeros), high);
}

INLINE uint2 load_float(const Arguments* args, uint row) {
    if (args->kind == 2u) return load_float_bits(args, row);
    uint4 a = load_integer(args, row);
    uint sign = args->kind == 0u ? a.w & 0x80000000u : 0u;
    if (sign != 0u) {
        uint2 low = subtract((uint2)(0u), a.xy);
        uint2 high = subtract((uint2)(0u), a.zw);
        uint2 value = all(low == (uint2)(0u)) ? high : subtract(high, (uint2)(1u, 0u));
        a = (uint4)(low.x, low.y, value.x, value.y);
    }
    uint2 number = float64_of(a);
    return (uint2)(number.x, number.y | sign);
}

INLINE bool float64_is_special(uint2 a) {
    return (a.y & 0x7ff00000u) == 0x7ff00000u;
}

INLINE void float64_split(uint2 a, int* exponent, uint2* significand) {
    uint field = (a.y >> 20u) & 0x7ffu;
    *significand = (uint2)(a.x << 11u, ((a.y & 0xfffffu) << 11u) | (a.x >> 21u));
    if (field > 0u) {
        significand->y |= 0x80000000u;
    }
    *exponent = as_int(max(field, 1u));
}

INLINE uint2 float64_add(uint2 a, uint2 b) {
    if (float64_is_special(a) || float64_is_special(b)) {
        bool unknown = float64_is_nan(a) || float64_is_nan(b) ||
                (float64_is_special(a) && float64_is_special(b) && a.y != b.y);
        return unknown ? (uint2)(0u, 0x7ff80000u) : float64_is_special(a) ? a : b;
    }
    if (less((uint2)(a.x, a.y & 0x7fffffffu), (uint2)(b.x, b.y & 0x7fffffffu))) {
        uint2 greater = b;
        b = a;
        a = greater;
    }
    int exponent;
    uint2 significand;
    float64_split(a, &exponent, &significand);
    int exponent_b;
    uint2 other;
    float64_split(b, &exponent_b, &other);
    significand = shift_right_sticky(significand, 1u);
    other = shift_right_sticky(other, as_uint(exponent) - as_uint(exponent_b) + 1u);
    uint sign = a.y & 0x80000000u;
    significand = ((a.y ^ b.y) & 0x80000000u) == 0u ? add(significand, other) : subtract(significand, other);
    if (all(significand == (uint2)(0u))) return (uint2)(0u, a.y & b.y & 0x80000000u);
    return float64_round(sign, as_int(as_uint(exponent) + 1u), significand);
}
#endif

#if OP == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first_segment = group * WORKGROUP * ITEMS;
    for (uint k = 0u; k < ITEMS; ++k) {
        uint segment = first_segment + k * WORKGROUP + LOCAL_ID_X;
        if (segment >= args->count) return;
        uint begin = column32_from(args->segments, segment)[0];
        uint end = args->rows;
        if (segment + 1u < args->count) {
            end = column32_from(args->segments, segment + 1u)[0];
        }
        uint4 result = (uint4)(0u);
        uint2 result_3 = (uint2)(0u);
        result.y = 0x80000000u;
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(args, i);
            if (is_valid(args, row)) {
                uint2 value = float64_add(result.xy, load_float(args, row));
                result.x = value.x;
                result.y = value.y;
            }
        }
        column64_from(args->state, segment)[0] = result.xy;
        if (!absent(args->state_2)) {
            column64_from(args->state_2, segment)[0] = result.zw;
        }
        if (!absent(args->state_3)) {
            column64_from(args->state_3, segment)[0] = result_3;
        }
    }
}
#endif

#if OP == 2
INLINE uint4 above_all(const Arguments* args, uint flip) {
    if (args->kind == 2u) return (uint4)(0u, flip == 0u ? 0xfff80000u : 0xfff00000u, flip, flip);
    return args->bits == 128u ? (uint4)(0xffffffffu) : (uint4)(0xffffffffu, 0xffffffffu, flip, flip);
}

INLINE uint4 signed_order(const Arguments* args, uint4 a) {
    if (args->bits == 128u) return args->kind == 0u ? (uint4)(a.xyz.x, a.xyz.y, a.xyz.z, a.w ^ 0x80000000u) : a;
    return (uint4)(a.x, args->kind == 0u ? a.y ^ 0x80000000u : a.y, 0u, 0u);
}

INLINE uint4 ordered_of(const Arguments* args, uint4 a) {
    if (args->kind != 2u) return signed_order(args, a);
    if (float64_is_nan(a.xy)) {
        a.x = ((uint2)(0u, 0x7ff80000u)).x;
        a.y = ((uint2)(0u, 0x7ff80000u)).y;
    }
    uint2 value = a.y >> 31u == 1u ? ~a.xy : (uint2)(a.x, a.y ^ 0x80000000u);
    return (uint4)(value.x, value.y, 0u, 0u);
}

INLINE uint4 ordered(const Arguments* args, uint row) {
    uint4 value;
    if (args->kind == 2u) {
        uint2 value_2 = load_float_bits(args, row);
        value = (uint4)(value_2.x, value_2.y, 0u, 0u);
    } else {
        value = load_integer(args, row);
    }
    return ordered_of(args, value);
}

INLINE bool less_128(uint4 a, uint4 b) {
    return all(a.zw == b.zw) ? less(a.xy, b.xy) : less(a.zw, b.zw);
}

INLINE uint4 ordered_value(const Arguments* args, uint4 a) {
    if (args->kind == 2u) {
        uint2 value = a.y >> 31u == 0u ? ~a.xy : (uint2)(a.x, a.y ^ 0x80000000u);
        return (uint4)(value.x, value.y, 0u, 0u);
    }
    return signed_order(args, a);
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first_segment = group * WORKGROUP * ITEMS;
    for (uint k = 0u; k < ITEMS; ++k) {
        uint segment = first_segment + k * WORKGROUP + LOCAL_ID_X;
        if (segment >= args->count) return;
        uint begin = column32_from(args->segments, segment)[0];
        uint end = args->rows;
        if (segment + 1u < args->count) {
            end = column32_from(args->segments, segment + 1u)[0];
        }
        uint4 result = (uint4)(0u);
        uint2 result_3 = (uint2)(0u);
        uint4 least = above_all(args, args->flip);
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(args, i);
            uint4 code = ordered(args, row) ^ (uint4)(args->flip);
            if (is_valid(args, row) && less_128(code, least)) {
                least = code;
            }
        }
        result = ordered_value(args, least ^ (uint4)(args->flip));
        column64_from(args->state, segment)[0] = result.xy;
        if (!absent(args->state_2)) {
            column64_from(args->state_2, segment)[0] = result.zw;
        }
        if (!absent(args->state_3)) {
            column64_from(args->state_3, segment)[0] = result_3;
        }
    }
}
#endif

#if OP == 3
typedef struct {
    uint low;
    uint high;
} uint_pair;

INLINE uint_pair multiply_extended(uint a, uint b) {
    return (uint_pair){a * b, mul_hi(a, b)};
}

INLINE uint2 float64_multiply(uint2 a, uint2 b) {
    uint sign = (a.y ^ b.y) & 0x80000000u;
    bool zero = ((a.y << 1u) | a.x) == 0u || ((b.y << 1u) | b.x) == 0u;
    if (float64_is_special(a) || float64_is_special(b)) {
        return float64_is_nan(a) || float64_is_nan(b) || zero ? (uint2)(0u, 0x7ff80000u)
                : (uint2)(0u, sign | 0x7ff00000u);
    }
    int exponent_a;
    uint2 x;
    float64_split(a, &exponent_a, &x);
    int exponent_b;
    uint2 y;
    float64_split(b, &exponent_b, &y);
    uint zeros_x = leading_zeros(x) & 63u;
    uint zeros_y = leading_zeros(y) & 63u;
    x = shift_left(x, zeros_x);
    y = shift_left(y, zeros_y);
    uint_pair value = multiply_extended(x.x, y.x);
    uint low = value.low;
    uint high = value.high;
    uint_pair value_2 = multiply_extended(x.x, y.y);
    uint low_1 = value_2.low;
    uint high_1 = value_2.high;
    uint_pair value_3 = multiply_extended(x.y, y.x);
    uint low_2 = value_3.low;
    uint high_2 = value_3.high;
    uint_pair value_4 = multiply_extended(x.y, y.y);
    uint low_3 = value_4.low;
    uint high_3 = value_4.high;
    uint2 middle = add((uint2)(high, 0u), add((uint2)(low_1, 0u), (uint2)(low_2, 0u)));
    uint2 product = add((uint2)(low_3, high_3),
            add((uint2)(high_1, 0u), add((uint2)(high_2, 0u), (uint2)(middle.y, 0u))));
    product.x |= low != 0u || middle.x != 0u ? 1u : 0u;
    return float64_round(sign, as_int(as_uint(exponent_a) - zeros_x + as_uint(exponent_b) - zeros_y - 1022u), product);
}

INLINE uint2 float64_divide(uint2 a, uint2 b) {
    if (float64_is_special(a)) return float64_is_nan(a) ? (uint2)(0u, 0x7ff80000u) : a;
    int exponent_a;
    uint2 rest;
    float64_split(a, &exponent_a, &rest);
    int exponent_b;
    uint2 divisor;
    float64_split(b, &exponent_b, &divisor);
    uint zeros = leading_zeros(rest) & 63u;
    rest = shift_right_sticky(shift_left(rest, zeros), 1u);
    uint zeros_b = leading_zeros(divisor) & 63u;
    divisor = shift_right_sticky(shift_left(divisor, zeros_b), 1u);
    uint2 quotient = (uint2)(0u);
    for (uint bit = 0u; bit < 62u; ++bit) {
        quotient = shift_left(quotient, 1u);
        if (!less(rest, divisor)) {
            rest = subtract(rest, divisor);
            quotient.x |= 1u;
        }
        rest = shift_left(rest, 1u);
    }
    quotient.x |= any(rest != (uint2)(0u)) ? 1u : 0u;
    return float64_round(a.y & 0x80000000u,
            as_int(as_uint(exponent_a) - zeros - as_uint(exponent_b) + zeros_b + 1023u + 2u), quotient);
}

INLINE uint2 float64_negative(uint2 a) {
    return (uint2)(a.x, a.y ^ 0x80000000u);
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first_segment = group * WORKGROUP * ITEMS;
    for (uint k = 0u; k < ITEMS; ++k) {
        uint segment = first_segment + k * WORKGROUP + LOCAL_ID_X;
        if (segment >= args->count) return;
        uint begin = column32_from(args->segments, segment)[0];
        uint end = args->rows;
        if (segment + 1u < args->count) {
            end = column32_from(args->segments, segment + 1u)[0];
        }
        uint4 result = (uint4)(0u);
        uint2 result_3 = (uint2)(0u);
        uint2 rows_of = (uint2)(0u);
        uint2 sum = (uint2)(0u);
        uint2 squares = (uint2)(0u);
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(args, i);
            if (is_valid(args, row)) {
                uint2 term = load_float(args, row);
                uint2 weight = (uint2)(1u, 0u);
                if (!absent(args->value_3)) {
                    weight = column64_from(args->value_3, row)[0];
                    term = float64_multiply(term, float64_of((uint4)(weight.x, weight.y, 0u, 0u)));
                }
                if (any(weight != (uint2)(0u))) {
                    sum = float64_add(sum, term);
                }
                rows_of = add(rows_of, weight);
            }
        }
        uint2 mean = all(rows_of == (uint2)(0u)) ? (uint2)(0u)
                : float64_divide(sum, float64_of((uint4)(rows_of.x, rows_of.y, 0u, 0u)));
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(args, i);
            if (is_valid(args, row)) {
                uint2 away = float64_add(load_float(args, row), float64_negative(mean));
                uint2 weight = (uint2)(1u, 0u);
                uint2 square = float64_multiply(away, away);
                if (!absent(args->value_3)) {
                    weight = column64_from(args->value_3, row)[0];
                    square = float64_add(column64_from(args->value_2, row)[0],
                            float64_multiply(float64_of((uint4)(weight.x, weight.y, 0u, 0u)), square));
                }
                if (any(weight != (uint2)(0u))) {
                    squares = float64_add(squares, square);
                }
            }
        }
        result = (uint4)(mean.x, mean.y, squares.x, squares.y);
        result_3 = rows_of;
        column64_from(args->state, segment)[0] = result.xy;
        if (!absent(args->state_2)) {
            column64_from(args->state_2, segment)[0] = result.zw;
        }
        if (!absent(args->state_3)) {
            column64_from(args->state_3, segment)[0] = result_3;
        }
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_reduce(
    __global uchar* ids,
    __global uchar* segments,
    __global uchar* value,
    __global uchar* value_2,
    __global uchar* value_3,
    __global uchar* valid,
    __global uchar* state,
    __global uchar* state_2,
    __global uchar* state_3,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)ids + scalars.ids),
        as_uint2((ulong)segments + scalars.segments),
        as_uint2((ulong)value + scalars.value),
        as_uint2((ulong)value_2 + scalars.value_2),
        as_uint2((ulong)value_3 + scalars.value_3),
        as_uint2((ulong)valid + scalars.valid),
        as_uint2((ulong)state + scalars.state),
        as_uint2((ulong)state_2 + scalars.state_2),
        as_uint2((ulong)state_3 + scalars.state_3),
        scalars.rows,
        scalars.count,
        scalars.bits,
        scalars.shift,
        scalars.kind,
        scalars.valid_bit,
        scalars.first_row,
        scalars.first_row_high,
        scalars.flip,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

