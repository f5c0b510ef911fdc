// Puts the codes of a key column into packed codes: codes[first_code+i] = (code of value first_value+i - least) <<
// shift, or with merge 1 the old word OR that. The code of a value whose bit in validity is 0 is null. Of the shifted code
// the bits below mark count, and bit mark is set if the code exceeds least by more than span.
// One invocation per items rows, a workgroup apart. Neighbours read neighbouring values.
// Inputs: values as Arrow has them, of value_bits, of which the lowest 64 count, and what they mean; validity, a bitmap,
// or absent. In and out: codes, words of KEY_BITS. Least, null and span have 64 bits.
// Preconditions: the first value, bit and code plus rows fit a word; shift is less than KEY_BITS, mark at most that.
// Ranks of floats: docs/keys.md. Only integer operations touch their bits, since devices may round subnormals to zero.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "uint64.glsl"
#include "kernels/encode_keys.glsl"
#include "group.glsl"

#define IN_FLIGHT 8u // rows of an invocation whose loads overlap

const uint meaning_signed = 1u, meaning_single = 2u, meaning_double = 3u;

// How values lie in a column: a word of 4 bytes, or several, has 1 << log2_rows of them; words that have one lie 1 <<
// log2_step bytes apart.
struct Layout { uint log2_bits, log2_rows, log2_step, mask, high; };

Layout layout_of(uint bits) {
    uint log2_bits = uint(findMSB(bits)), log2_narrow = min(log2_bits, 5u), narrow_mask = (1u << (bits & 31u)) - 1u;
    uint high = bits < 64u ? 0u : 1u, mask = bits < 32u ? narrow_mask : ~0u;
    return Layout(log2_bits, 5u - log2_narrow, max(log2_bits, 5u) - 3u, mask, high);
}

// The lowest 32 bits of value number at and, of wider ones, the next 32.
uvec2 value_at(uvec2 column, uint at, Layout values) {
    Column32 from = Column32(element_address(column, at >> values.log2_rows, values.log2_step));
    uint row = at & (1u << values.log2_rows) - 1u;
    return uvec2(from.at[0] >> (row << values.log2_bits & 31u) & values.mask, from.at[values.high]);
}

// How far the magnitude of a float with so many bits of fraction must be shifted so that it has a leading one: 0 unless
// it is subnormal.
uint subnormal_shift(uint magnitude, uint fraction_bits) {
    return fraction_bits - min(fraction_bits, uint(findMSB(magnitude | 1u)));
}

// The magnitude of a float16 as that of the float32 of the same value.
uint widen_half(uint m) {
    uint shift = subnormal_shift(m, 10u), normal = 112u - shift, bias = m >= 0x7c00u ? 224u : normal;
    uint widened = (m << shift + 13u) + (bias << 23u);
    return m == 0u ? 0u : widened;
}

// The magnitude of a float32 as that of the float64 of the same value.
uvec2 widen_single(uint m) {
    uint shift = subnormal_shift(m, 23u), normal = 896u - shift, bias = m >= 0x7f800000u ? 1792u : normal;
    uvec2 widened = uvec2(m << shift << 29u, (m << shift >> 3u) + (bias << 20u));
    return m == 0u ? uvec2(0u) : widened;
}

// The code of a number: extended to 64 bits, by its sign if it has one.
uvec2 number_code(uvec2 value, uint bits, bool has_sign) {
    uint above = 32u - min(bits, 32u), extended = uint(int(value.x << above) >> above);
    uint low = has_sign ? extended : value.x, sign = has_sign ? uint(int(extended) >> 31) : 0u;
    return uvec2(low, bits < 64u ? sign : value.y);
}

// The code of a float: its rank among those of the wanted width.
uvec2 float_code(uvec2 value, uint bits, bool as_double) {
    uint top = bits < 64u ? value.x << (32u - min(bits, 32u)) : value.y, single = top & 0x7fffffffu;
    uint half_bits = widen_half(top >> 16u & 0x7fffu); // of its magnitude, like all here
    single = bits == 16u ? half_bits : single;
    uvec2 widened = widen_single(single), narrow = uvec2(single, 0u), own = uvec2(value.x, single);
    uvec2 magnitude = as_double ? widened : narrow;
    magnitude = bits == 64u ? own : magnitude;
    uvec2 infinity = uvec2(as_double ? 0u : 0x7f800000u, as_double ? 0x7ff00000u : 0u);
    uvec2 negative = subtract(uvec2(0u), magnitude), nan = add(infinity, uvec2(1u, 0u));
    uvec2 rank = top >> 31u == 0u ? magnitude : negative;
    return less(infinity, magnitude) ? nan : rank;
}

#if KEY_BITS == 64
uvec2 shift_left(uvec2 code, uint by) {
    uint low = by & 31u, carried = code.x >> 1u >> (31u - low);
    uvec2 shifted = uvec2(code.x << low, code.y << low | carried), far = uvec2(0u, shifted.x);
    return by < 32u ? shifted : far;
}

// The bits below one.
uvec2 below(uint bit) {
    uint some = (1u << (bit & 31u)) - 1u, low = bit < 32u ? some : ~0u, high = bit < 64u ? some : ~0u;
    return uvec2(low, bit < 32u ? 0u : high);
}
#else
uint shift_left(uvec2 code, uint by) { return code.x << (by & 31u); }

uint below(uint bit) {
    uint some = (1u << (bit & 31u)) - 1u;
    return bit < 32u ? some : ~0u;
}
#endif

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uvec2 from = values, valid = validity, least_code = uvec2(least, least_2), null_code = uvec2(null, null_2);
    uvec2 span_code = uvec2(span, span_2);
    WORD(KEY_BITS) kept = below(mark);
    uint value = first_value + begin, bit = first_valid + begin, by = shift, to_mark = mark, bits = value_bits;
    uint means = meaning;
    bool merging = merge == 1u, marking = mark < KEY_BITS, nullable = !absent(valid);
    Layout of_values = layout_of(bits), of_bits = layout_of(1u);
    COLUMN(KEY_BITS) to = COLUMN_FROM(KEY_BITS)(codes, first_code + begin);
    for (uint i = INVOCATION; i < count; i += IN_FLIGHT * WORKGROUP_SIZE) {
        uvec2 own[IN_FLIGHT];
        WORD(KEY_BITS) before[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            own[k] = value_at(from, value + min(i + k * WORKGROUP_SIZE, count - 1u), of_values);
            before[k] = WORD(KEY_BITS)(0u);
        }
        if (merging) {
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) before[k] = to.at[min(i + k * WORKGROUP_SIZE, count - 1u)];
        }
        if (means < meaning_single) {
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k)
                own[k] = number_code(own[k], bits, means == meaning_signed);
        } else {
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k)
                own[k] = float_code(own[k], bits, means == meaning_double);
        }
        if (nullable) {
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
                uint some = value_at(valid, bit + min(i + k * WORKGROUP_SIZE, count - 1u), of_bits).x;
                own[k] = some == 1u ? own[k] : null_code;
            }
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < count) {
                uvec2 code = subtract(own[k], least_code);
                uvec2 outside = uvec2(marking && less(span_code, code) ? 1u : 0u, 0u);
                to.at[i + k * WORKGROUP_SIZE] = before[k] | shift_left(code, by) & kept | shift_left(outside, to_mark);
            }
        }
    }
}
