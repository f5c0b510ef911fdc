// Numbers the groups of rows, and stores the key of each group. One vertex per 8 rows; no points. Source: GARUDA
// 4.1.2.
// Input: keys, words of KEY_BITS; places, uint32 by row, the number of heads before it. In and out: map, uint32 by row,
// first the head of its group, then the number of the group. Output: group_keys, words of KEY_BITS by group.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/group_place.glsl"
#include "point.glsl"
#include "drawn_group.glsl"

void place_row(uint row) {
    Column32 mapped = column32_from(map, row);
    uint head = mapped.at[0], group = column32_from(places, head).at[0];
    mapped.at[0] = group;
    if (head == row) COLUMN_FROM(KEY_BITS)(group_keys, group).at[0] = COLUMN_FROM(KEY_BITS)(keys, row).at[0];
}

void main() {
    draw_nowhere();
    TAKE_ROWS(place_row)
}
