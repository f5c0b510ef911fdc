// The values of rows that are reduced by groups: where they are, and their forms as a 128-bit integer and as a 64-bit
// float. Kernels with this file have the parameters bits, shift, kind, valid_bit and first_row and the inputs value and
// value_2, and include float64.glsl before.
#define SIGNED 0u
#define UNSIGNED 1u
#define FLOAT 2u

bool is_valid(uint row) {
    return absent(valid) || (column32_from(valid, row).at[0] >> valid_bit & 1u) == 1u;
}

// Without values, the number of the row.
uvec4 load_bits(uint row) {
    if (absent(value)) return uvec4(add(uvec2(first_row, first_row_high), uvec2(row, 0u)), 0u, 0u);
    if (bits == 128u) return uvec4(column64_from(value, row).at[0], column64_from(value_2, row).at[0]);
    if (bits == 64u) return uvec4(column64_from(value, row).at[0], 0u, 0u);
    return uvec4(column32_from(value, row).at[0] >> shift & ~0u >> 32u - bits, 0u, 0u, 0u);
}

// The value as a 128-bit two's complement.
uvec4 load_integer(uint row) {
    uvec4 a = load_bits(row);
    if (kind != SIGNED || bits == 128u) return a;
    uint top = bits == 64u ? a.y >> 31 : a.x >> bits - 1u & 1u, fill = 0u - top;
    if (bits < 32u) a.x |= fill << bits;
    return uvec4(a.x, bits == 64u ? a.y : fill, fill, fill);
}

uvec2 load_float_bits(uint row) {
    uvec4 a = load_bits(row);
    return bits == 64u ? a.xy : bits == 32u ? float64_widened(a.x, 8u, 23u) : float64_widened(a.x, 5u, 10u);
}

// Any value as a 64-bit float.
uvec2 load_float(uint row) {
    if (kind == FLOAT) return load_float_bits(row);
    uvec4 a = load_integer(row);
    uint sign = kind == SIGNED ? a.w & 0x80000000u : 0u;
    if (sign != 0u) {
        uvec2 low = subtract(uvec2(0), a.xy), high = subtract(uvec2(0), a.zw);
        a = uvec4(low, low == uvec2(0) ? high : subtract(high, uvec2(1u, 0u)));
    }
    uvec2 number = float64_of(a);
    return uvec2(number.x, number.y | sign);
}

uvec4 add_128(uvec4 a, uvec4 b) {
    uvec2 low = add(a.xy, b.xy), high = add(a.zw, b.zw);
    return uvec4(low, less(low, a.xy) ? add(high, uvec2(1u, 0u)) : high);
}

bool less_128(uvec4 a, uvec4 b) { return a.zw == b.zw ? less(a.xy, b.xy) : less(a.zw, b.zw); }

// Numbers of 64 bits or fewer are in the low half, and the high half is 0.
uvec4 signed_order(uvec4 a) {
    if (bits == 128u) return kind == SIGNED ? uvec4(a.xyz, a.w ^ 0x80000000u) : a;
    return uvec4(a.x, kind == SIGNED ? a.y ^ 0x80000000u : a.y, 0u, 0u);
}

// An unsigned number with the order of the values, of a value as states have it; NaN is the greatest. ordered_value is
// its inverse.
uvec4 ordered_of(uvec4 a) {
    if (kind != FLOAT) return signed_order(a);
    if (float64_is_nan(a.xy)) a.xy = float64_nan;
    return uvec4(a.y >> 31 == 1u ? ~a.xy : uvec2(a.x, a.y ^ 0x80000000u), 0u, 0u);
}

uvec4 ordered(uint row) {
    return ordered_of(kind == FLOAT ? uvec4(load_float_bits(row), 0u, 0u) : load_integer(row));
}

uvec4 ordered_value(uvec4 a) {
    if (kind == FLOAT) return uvec4(a.y >> 31 == 0u ? ~a.xy : uvec2(a.x, a.y ^ 0x80000000u), 0u, 0u);
    return signed_order(a);
}

// What no values leave as the least of ordered numbers, all of which flip inverts; for floats NaN or, with flip ~0,
// minus infinity.
uvec4 above_all(uint flip) {
    if (kind == FLOAT) return uvec4(0u, flip == 0u ? 0xfff80000u : 0xfff00000u, flip, flip);
    return bits == 128u ? uvec4(~0u) : uvec4(~0u, ~0u, flip, flip);
}
