// Reduces values by the numbers that group_ids gives to the rows of each unit: the state of row i of a unit is
// offsets[unit] + ids[i]. By OP: 0 sum of 128-bit integers, 1 sum of 64-bit floats, 2 least value or, with flip ~0,
// greatest, 3 moments, 4 one of the values, in a word of its width, 32 or 64 bits.
// One invocation per unit, items of them one after the other; states are those of group_reduce.
// Inputs: ids, uint32 for each row; units and offsets, uint32[count+1], the first row and the first state of each and
// the end; value, value_2, value_3, valid: see group_values.glsl.
// Outputs, uint64 for each state: state, state_2 and state_3, the latter two absent where they are not wanted.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/group_accumulate.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "float64.glsl"
#include "group_values.glsl"

void put(uint at, uvec4 a) {
    column64_from(state, at).at[0] = a.xy;
    if (!absent(state_2)) column64_from(state_2, at).at[0] = a.zw;
}

uvec4 held(uint at) {
    return uvec4(column64_from(state, at).at[0], absent(state_2) ? uvec2(0) : column64_from(state_2, at).at[0]);
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    for (uint k = 0u; k < items; ++k) {
        uint unit = (group * items + k) * WORKGROUP_SIZE + INVOCATION;
        if (unit >= count) return;
        uint begin = column32_from(units, unit).at[0], end = column32_from(units, unit).at[1];
        uint from = column32_from(offsets, unit).at[0], to = column32_from(offsets, unit).at[1];
#if OP == 4
        for (uint row = begin; row < end; ++row) {
            uint at = from + column32_from(ids, row).at[0];
            if (bits == 64u) {
                column64_from(state, at).at[0] = column64_from(value, row).at[0];
            } else {
                column32_from(state, at).at[0] = column32_from(value, row).at[0];
            }
        }
#else
        uvec4 none = uvec4(0);
#if OP == 1
        none.y = 0x80000000u; // -0, which changes no number
#elif OP == 2
        none = ordered_value(above_all(flip) ^ flip);
#endif
        for (uint at = from; at < to; ++at) {
            put(at, none);
            if (!absent(state_3)) column64_from(state_3, at).at[0] = uvec2(0);
        }
        for (uint row = begin; row < end; ++row) {
            if (!is_valid(row)) continue;
            uint at = from + column32_from(ids, row).at[0];
            uvec4 before = held(at);
#if OP == 0
            put(at, add_128(before, absent(value) ? uvec4(1u, 0u, 0u, 0u) : load_integer(row)));
#elif OP == 1
            put(at, uvec4(float64_add(before.xy, load_float(row)), 0u, 0u));
#elif OP == 2
            uvec4 code = ordered(row) ^ flip;
            if (less_128(code, ordered_of(before) ^ flip)) put(at, ordered_value(code ^ flip));
#else
            uvec2 term = load_float(row), weight = uvec2(1u, 0u);
            if (!absent(value_3)) {
                weight = column64_from(value_3, row).at[0];
                term = float64_multiply(term, float64_of(uvec4(weight, 0u, 0u)));
            }
            if (weight != uvec2(0)) column64_from(state, at).at[0] = float64_add(before.xy, term);
            column64_from(state_3, at).at[0] = add(column64_from(state_3, at).at[0], weight);
#endif
        }
#if OP == 3
        for (uint at = from; at < to; ++at) {
            uvec2 rows_of = column64_from(state_3, at).at[0];
            if (rows_of == uvec2(0)) continue;
            Column64 sum = column64_from(state, at);
            sum.at[0] = float64_divide(sum.at[0], float64_of(uvec4(rows_of, 0u, 0u)));
        }
        for (uint row = begin; row < end; ++row) {
            if (!is_valid(row)) continue;
            uint at = from + column32_from(ids, row).at[0];
            uvec4 before = held(at);
            uvec2 away = float64_add(load_float(row), float64_negative(before.xy)), weight = uvec2(1u, 0u);
            uvec2 square = float64_multiply(away, away);
            if (!absent(value_3)) {
                weight = column64_from(value_3, row).at[0];
                square = float64_add(column64_from(value_2, row).at[0],
                    float64_multiply(float64_of(uvec4(weight, 0u, 0u)), square));
            }
            if (weight != uvec2(0)) column64_from(state_2, at).at[0] = float64_add(before.zw, square);
        }
#endif
#endif
    }
}
