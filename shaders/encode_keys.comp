// Puts the codes of a key column into packed codes: codes[first_code+i] = (code of value first_value+i - least) <<
// shift, or with merge 1 the old word OR that. The code of a value whose bit in validity is 0 is null.
// One invocation per items rows, a workgroup apart. Neighbours read neighbouring values.
// Inputs: values as Arrow has them, of value_bits, of which the lowest 64 count, and what they mean; validity, a bitmap,
// or absent. In and out: codes, words of KEY_BITS. Least and null are codes of 64 bits.
// Preconditions: the first value, bit and code plus rows fit a word; shift is less than KEY_BITS.
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

// Element at of a column of narrow values: 1, 8 or 16 bits.
uint narrow_at(uvec2 column, uint at, uint log2_bits) {
    uint log2_rows = 5u - log2_bits, row = at & (1u << log2_rows) - 1u;
    uint held = column32_from(column, at >> log2_rows).at[0];
    return held >> (row << log2_bits) & (1u << (1u << log2_bits)) - 1u;
}

// The lowest 64 bits of value number at.
uvec2 value_at(uvec2 column, uint at) {
    uint log2_bits = uint(findMSB(value_bits));
    if (value_bits < 32u) return uvec2(narrow_at(column, at, log2_bits), 0u);
    uvec2 address = element_address(column, at, log2_bits - 3u);
    if (value_bits == 32u) return uvec2(Column32(address).at[0], 0u);
    return Column64(address).at[0];
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

uvec2 code_of(uvec2 value) {
    if (meaning == meaning_signed && value_bits < 64u) {
        uint above = 32u - value_bits;
        int number = int(value.x << above) >> above;
        return uvec2(uint(number), uint(number >> 31));
    }
    if (meaning < meaning_single) return value;
    uint sign_word = value_bits == 64u ? value.y : value.x << (32u - min(value_bits, 32u));
    uvec2 magnitude = value;
    if (value_bits == 64u) magnitude.y &= 0x7fffffffu;
    else magnitude.x &= (1u << (value_bits - 1u)) - 1u;
    if (value_bits == 16u) magnitude.x = widen_half(magnitude.x);
    if (meaning == meaning_double && value_bits < 64u) magnitude = widen_single(magnitude.x);
    uint low = meaning == meaning_single ? 0x7f800000u : 0u, high = meaning == meaning_double ? 0x7ff00000u : 0u;
    uvec2 infinity = uvec2(low, high); // a choice between constant vectors is one too many for lavapipe (Mesa 22.3)
    uvec2 negative = subtract(uvec2(0u), magnitude), nan = add(infinity, uvec2(1u, 0u));
    uvec2 rank = sign_word >> 31u == 0u ? magnitude : negative;
    return less(infinity, magnitude) ? nan : rank;
}

#if KEY_BITS == 64
uvec2 shift_left(uvec2 code, uint by) {
    uint low = by & 31u, carried = code.x >> 1u >> (31u - low);
    uvec2 shifted = uvec2(code.x << low, code.y << low | carried), far = uvec2(0u, shifted.x);
    return by < 32u ? shifted : far;
}
#else
uint shift_left(uvec2 code, uint by) { return code.x << by; }
#endif

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uvec2 from = values, valid = validity, least_code = uvec2(least, least_2), null_code = uvec2(null, null_2);
    uint value = first_value + begin, bit = first_valid + begin, by = shift;
    bool merging = merge == 1u, nullable = !absent(valid);
    COLUMN(KEY_BITS) to = COLUMN_FROM(KEY_BITS)(codes, first_code + begin);
    for (uint i = INVOCATION; i < count; i += IN_FLIGHT * WORKGROUP_SIZE) {
        uvec2 own[IN_FLIGHT];
        WORD(KEY_BITS) before[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            own[k] = value_at(from, value + min(i + k * WORKGROUP_SIZE, count - 1u));
            before[k] = WORD(KEY_BITS)(0u);
        }
        if (merging) {
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) before[k] = to.at[min(i + k * WORKGROUP_SIZE, count - 1u)];
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) own[k] = code_of(own[k]);
        if (nullable) {
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
                uint some = narrow_at(valid, bit + min(i + k * WORKGROUP_SIZE, count - 1u), 0u);
                own[k] = some == 1u ? own[k] : null_code;
            }
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < count) {
                to.at[i + k * WORKGROUP_SIZE] = before[k] | shift_left(subtract(own[k], least_code), by);
            }
        }
    }
}
