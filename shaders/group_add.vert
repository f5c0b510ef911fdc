// Adds integers to the 128-bit sums of groups, or to 64-bit ones, modulo their width. One vertex per 8 rows; no points.
// Input: ids, uint32, the group of each row; value, value_2, valid: see group_values.glsl; without value, 1 is added.
// Accumulated: state and state_2, uint64 by group, the low and the high half of each sum; state_2 may be absent.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/group_add.glsl"
#include "uint64.glsl"
#include "float64.glsl"
#include "group_values.glsl"
#include "point.glsl"
#include "drawn_group.glsl"
#include "group_words.glsl"

// Adds a word and the carry of the word below. All ones and a carry add nothing and carry on.
void add_word(Column32 word, uint value, inout uint carry) {
    value += carry;
    if (value < carry) return;
    carry = value != 0u && atomicAdd(word.at[0], value) > ~value ? 1u : 0u;
}

void add_row(uint row) {
    if (!is_valid(row)) return;
    uint group = column32_from(ids, row).at[0], carry = 0u;
    uvec4 a = absent(value) ? uvec4(1u, 0u, 0u, 0u) : load_integer(row);
    add_word(word_of(group, 0u), a.x, carry);
    add_word(word_of(group, 1u), a.y, carry);
    if (absent(state_2)) return;
    add_word(word_of(group, 2u), a.z, carry);
    add_word(word_of(group, 3u), a.w, carry);
}

void main() {
    draw_nowhere();
    TAKE_ROWS(add_row)
}
