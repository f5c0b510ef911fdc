// Finds the least values of groups or, with flip ~0, the greatest, one word of 32 bits after the other, from the
// highest one on: words below count only for the rows whose words above are those of the group. By PASS: 0 sets the
// states to what no values leave, 1 lowers the word number `word` of the states, 2 makes values of the states.
// One vertex per 8 rows for PASS 1, otherwise per group; no points.
// Input: ids, value, value_2 and valid as in group_add; without value, a value is the number of its row.
// In and out: state and state_2, uint64 by group; between the passes ordered_of a value, which flip inverts.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/group_extreme.glsl"
#include "uint64.glsl"
#include "float64.glsl"
#include "group_values.glsl"
#include "point.glsl"
#include "drawn_group.glsl"
#include "group_words.glsl"

void put(uint group, uvec4 a) {
    column64_from(state, group).at[0] = a.xy;
    if (!absent(state_2)) column64_from(state_2, group).at[0] = a.zw;
}

// Whether the words of a above the one at hand are those of the group.
bool same_above(uint group, uvec4 a) {
    if (word < 3u && !absent(state_2) && word_of(group, 3u).at[0] != a.w) return false;
    if (word < 2u && !absent(state_2) && word_of(group, 2u).at[0] != a.z) return false;
    return word != 0u || word_of(group, 1u).at[0] == a.y;
}

void lower(uint row) {
    if (!is_valid(row)) return;
    uint group = column32_from(ids, row).at[0];
    uvec4 code = ordered(row) ^ flip;
    if (same_above(group, code)) atomicMin(word_of(group, word).at[0], code[word]);
}

void main() {
    draw_nowhere();
#if PASS == 0
    put(uint(gl_VertexIndex), uvec4(~0u)); // above the codes of all floats; of integers, what no values leave
#elif PASS == 1
    TAKE_ROWS(lower)
#else
    uint group = uint(gl_VertexIndex);
    uvec4 code = uvec4(column64_from(state, group).at[0], flip, flip);
    if (!absent(state_2)) code.zw = column64_from(state_2, group).at[0];
    if (kind == FLOAT && code.xy == uvec2(~0u)) code = above_all(flip);
    put(group, ordered_value(code ^ flip));
#endif
}
