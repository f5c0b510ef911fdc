// Arithmetic of IEEE 754 64-bit floating-point numbers on 32-bit integers, rounded to nearest even, subnormal numbers
// included, for devices without 64-bit floats and for equal results on all of them. A number is its bits, a uvec2: x
// low, y high. Every NaN that is made is 0x7ff8000000000000. Include uint64.glsl before.

const uvec2 float64_nan = uvec2(0u, 0x7ff80000u), float64_infinity = uvec2(0u, 0x7ff00000u);

bool float64_is_nan(uvec2 a) { return less(float64_infinity, uvec2(a.x, a.y & 0x7fffffffu)); }

uvec2 shift_left(uvec2 a, uint by) {
    if (by >= 32u) return uvec2(0u, a.x << (by & 31u));
    return by == 0u ? a : uvec2(a.x << by, a.y << by | a.x >> 32u - by);
}

// The lowest bit tells whether any bit that is shifted out was set.
uvec2 shift_right_sticky(uvec2 a, uint by) {
    uvec2 shifted = by >= 64u ? uvec2(0)
        : by >= 32u ? uvec2(a.y >> (by & 31u), 0u)
        : by == 0u ? a : uvec2(a.x >> by | a.y << 32u - by, a.y >> by);
    uvec2 kept = by >= 64u ? uvec2(0) : shift_left(shifted, by);
    return uvec2(shifted.x | (kept != a ? 1u : 0u), shifted.y);
}

uint leading_zeros(uvec2 a) {
    return a.y != 0u ? 31u - uint(findMSB(a.y)) : a.x != 0u ? 63u - uint(findMSB(a.x)) : 64u;
}

// The number significand * 2^(exponent-1086), which is that with the exponent field of a significand whose bit 63 is
// set, rounded; the lowest bit of the significand may stand for a smaller rest.
uvec2 float64_round(uint sign, int exponent, uvec2 significand) {
    uint zeros = leading_zeros(significand);
    if (zeros == 64u) return uvec2(0u, sign);
    significand = shift_left(significand, zeros);
    exponent -= int(zeros);
    if (exponent >= 2047) return uvec2(0u, sign | 0x7ff00000u);
    if (exponent < 1) {
        significand = shift_right_sticky(significand, uint(min(1 - exponent, 64)));
        exponent = 0;
    }
    uvec2 kept = uvec2(significand.x >> 11 | significand.y << 21, significand.y >> 11);
    uint rest = significand.x & 0x7ffu;
    if (exponent > 0) kept.y += uint(exponent - 1) << 20; // bit 52 is part of the exponent
    if (rest > 0x400u || rest == 0x400u && (kept.x & 1u) == 1u) kept = add(kept, uvec2(1u, 0u));
    return uvec2(kept.x, kept.y | sign);
}

// A finite number: its significand from bit 63 on, and the exponent that float64_round takes with it.
void float64_split(uvec2 a, out int exponent, out uvec2 significand) {
    uint field = a.y >> 20 & 0x7ffu;
    significand = uvec2(a.x << 11, (a.y & 0xfffffu) << 11 | a.x >> 21);
    if (field > 0u) significand.y |= 0x80000000u;
    exponent = int(max(field, 1u));
}

bool float64_is_special(uvec2 a) { return (a.y & 0x7ff00000u) == 0x7ff00000u; }

uvec2 float64_add(uvec2 a, uvec2 b) {
    if (float64_is_special(a) || float64_is_special(b)) {
        bool unknown = float64_is_nan(a) || float64_is_nan(b) ||
            float64_is_special(a) && float64_is_special(b) && a.y != b.y;
        return unknown ? float64_nan : float64_is_special(a) ? a : b;
    }
    if (less(uvec2(a.x, a.y & 0x7fffffffu), uvec2(b.x, b.y & 0x7fffffffu))) {
        uvec2 greater = b;
        b = a;
        a = greater;
    }
    int exponent, exponent_b;
    uvec2 significand, other;
    float64_split(a, exponent, significand);
    float64_split(b, exponent_b, other);
    // One bit of room above for the carry; the 10 below decide how to round.
    significand = shift_right_sticky(significand, 1u);
    other = shift_right_sticky(other, uint(exponent - exponent_b) + 1u);
    uint sign = a.y & 0x80000000u;
    significand = ((a.y ^ b.y) & 0x80000000u) == 0u ? add(significand, other) : subtract(significand, other);
    if (significand == uvec2(0)) return uvec2(0u, a.y & b.y & 0x80000000u);
    return float64_round(sign, exponent + 1, significand);
}

uvec2 float64_negative(uvec2 a) { return uvec2(a.x, a.y ^ 0x80000000u); }

uvec2 float64_multiply(uvec2 a, uvec2 b) {
    uint sign = (a.y ^ b.y) & 0x80000000u;
    bool zero = (a.y << 1 | a.x) == 0u || (b.y << 1 | b.x) == 0u;
    if (float64_is_special(a) || float64_is_special(b)) {
        return float64_is_nan(a) || float64_is_nan(b) || zero ? float64_nan : uvec2(0u, sign | 0x7ff00000u);
    }
    int exponent_a, exponent_b;
    uvec2 x, y;
    float64_split(a, exponent_a, x);
    float64_split(b, exponent_b, y);
    uint zeros_x = leading_zeros(x) & 63u, zeros_y = leading_zeros(y) & 63u;
    x = shift_left(x, zeros_x);
    y = shift_left(y, zeros_y);
    uint low, high, low_1, high_1, low_2, high_2, low_3, high_3;
    umulExtended(x.x, y.x, high, low);
    umulExtended(x.x, y.y, high_1, low_1);
    umulExtended(x.y, y.x, high_2, low_2);
    umulExtended(x.y, y.y, high_3, low_3);
    uvec2 middle = add(uvec2(high, 0u), add(uvec2(low_1, 0u), uvec2(low_2, 0u)));
    uvec2 product = add(uvec2(low_3, high_3), add(uvec2(high_1, 0u), add(uvec2(high_2, 0u), uvec2(middle.y, 0u))));
    product.x |= low != 0u || middle.x != 0u ? 1u : 0u;
    return float64_round(sign, exponent_a - int(zeros_x) + exponent_b - int(zeros_y) - 1022, product);
}

// b is finite and above 0.
uvec2 float64_divide(uvec2 a, uvec2 b) {
    if (float64_is_special(a)) return float64_is_nan(a) ? float64_nan : a;
    int exponent_a, exponent_b;
    uvec2 rest, divisor;
    float64_split(a, exponent_a, rest);
    float64_split(b, exponent_b, divisor);
    uint zeros = leading_zeros(rest) & 63u;
    rest = shift_right_sticky(shift_left(rest, zeros), 1u); // the lowest 11 bits of both are 0
    uint zeros_b = leading_zeros(divisor) & 63u;
    divisor = shift_right_sticky(shift_left(divisor, zeros_b), 1u);
    uvec2 quotient = uvec2(0);
    for (uint bit = 0u; bit < 62u; ++bit) { // rest < 2*divisor
        quotient = shift_left(quotient, 1u);
        if (!less(rest, divisor)) {
            rest = subtract(rest, divisor);
            quotient.x |= 1u;
        }
        rest = shift_left(rest, 1u);
    }
    quotient.x |= rest != uvec2(0) ? 1u : 0u;
    // The first bit of the quotient, 61, has the weight 2^0.
    return float64_round(a.y & 0x80000000u, exponent_a - int(zeros) - exponent_b + int(zeros_b) + 1023 + 2, quotient);
}

// An unsigned number of 128 bits, the lowest word first.
uvec2 float64_of(uvec4 a) {
    if (a.zw == uvec2(0)) return float64_round(0u, 1086, a.xy);
    uint zeros = leading_zeros(a.zw);
    uvec2 high = shift_left(a.zw, zeros);
    uint by = 64u - zeros; // what stays below of the low half
    if (zeros > 0u) {
        high |= by >= 32u ? uvec2(a.y >> (by & 31u), 0u) : uvec2(a.x >> by | a.y << 32u - by, a.y >> by);
    }
    uvec2 rest = shift_left(a.xy, zeros);
    high.x |= rest != uvec2(0) ? 1u : 0u;
    return float64_round(0u, 1086 + 64 - int(zeros), high);
}

// A number of fewer bits: of so many for the exponent and for the fraction behind it.
uvec2 float64_widened(uint a, uint exponent_bits, uint fraction_bits) {
    uint sign = (a >> exponent_bits + fraction_bits & 1u) << 31, most = (1u << exponent_bits) - 1u;
    uint field = a >> fraction_bits & most, fraction = a & (1u << fraction_bits) - 1u;
    if (field == most) return fraction != 0u ? float64_nan : uvec2(0u, sign | 0x7ff00000u);
    if (field > 0u) fraction |= 1u << fraction_bits;
    int bias = int(most >> 1);
    return float64_round(sign, int(max(field, 1u)) - bias + 1023 + 63 - int(fraction_bits), uvec2(fraction, 0u));
}
