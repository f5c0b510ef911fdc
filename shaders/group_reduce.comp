// Reduces the values of each segment of rows to a state, by OP: 0 sum of 128-bit integers, 1 sum of 64-bit floats, 2
// least value or, with flip ~0, greatest, 3 moments.
// One invocation per segment, in the order of its rows, so that sums of floats do not depend on the device.
// Inputs: segments, uint32[count], the first row of each; ids, uint32[rows], or absent: row i is at index i of the
// columns; value, value_2, value_3, valid: see group_values.glsl; value_3 is present for moments of moments.
// Outputs, uint64[count]: state, state_2 and state_3, the latter two absent where they are not wanted.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/group_reduce.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "float64.glsl"
#include "group_values.glsl"

uint row_at(uint i) { return absent(ids) ? i : column32_from(ids, i).at[0]; }

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint first_segment = group * WORKGROUP_SIZE * items;
    for (uint k = 0u; k < items; ++k) {
        uint segment = first_segment + k * WORKGROUP_SIZE + INVOCATION;
        if (segment >= count) return;
        uint begin = column32_from(segments, segment).at[0], end = rows;
        if (segment + 1u < count) end = column32_from(segments, segment + 1u).at[0];
        uvec4 result = uvec4(0);
        uvec2 result_3 = uvec2(0);
#if OP == 0
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(i);
            if (is_valid(row)) result = add_128(result, absent(value) ? uvec4(1u, 0u, 0u, 0u) : load_integer(row));
        }
#elif OP == 1
        result.y = 0x80000000u; // -0, which changes no number
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(i);
            if (is_valid(row)) result.xy = float64_add(result.xy, load_float(row));
        }
#elif OP == 2
        uvec4 least = above_all(flip);
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(i);
            uvec4 code = ordered(row) ^ flip;
            if (is_valid(row) && less_128(code, least)) least = code;
        }
        result = ordered_value(least ^ flip);
#else
        uvec2 rows_of = uvec2(0), sum = uvec2(0), squares = uvec2(0); // rows_of is an integer
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(i);
            if (is_valid(row)) {
                uvec2 term = load_float(row), weight = uvec2(1u, 0u);
                if (!absent(value_3)) {
                    weight = column64_from(value_3, row).at[0];
                    term = float64_multiply(term, float64_of(uvec4(weight, 0u, 0u)));
                }
                if (weight != uvec2(0)) sum = float64_add(sum, term);
                rows_of = add(rows_of, weight);
            }
        }
        uvec2 mean = rows_of == uvec2(0) ? uvec2(0) : float64_divide(sum, float64_of(uvec4(rows_of, 0u, 0u)));
        for (uint i = begin; i < end; ++i) {
            uint row = row_at(i);
            if (is_valid(row)) {
                uvec2 away = float64_add(load_float(row), float64_negative(mean)), weight = uvec2(1u, 0u);
                uvec2 square = float64_multiply(away, away);
                if (!absent(value_3)) {
                    weight = column64_from(value_3, row).at[0];
                    square = float64_add(column64_from(value_2, row).at[0],
                        float64_multiply(float64_of(uvec4(weight, 0u, 0u)), square));
                }
                if (weight != uvec2(0)) squares = float64_add(squares, square);
            }
        }
        result = uvec4(mean, squares);
        result_3 = rows_of;
#endif
        column64_from(state, segment).at[0] = result.xy;
        if (!absent(state_2)) column64_from(state_2, segment).at[0] = result.zw;
        if (!absent(state_3)) column64_from(state_3, segment).at[0] = result_3;
    }
}
