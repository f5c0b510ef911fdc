// Finds the head of the group of each row: the row in the pixel of its key, if that has the same key. Other rows have
// found no group, and are listed for the next hash image. One vertex per 8 rows, or listed rows; no points.
// Source: GARUDA 4.1.1.
// Input: keys, words of KEY_BITS; rest, uint32, numbers of rows, or absent. Output by row: map, uint32, the head;
// heads, uint32, 1 for heads, 0 before. In and out: next, uint32, the other rows; next_rows, uint32, their number, 0
// before. Texture: the hash image.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "memory.glsl"
#include "draws/group_map.glsl"
#include "hash_image.glsl"
#include "match_marks.glsl"
#include "drawn_group.glsl"

layout(set = 0, binding = 0) uniform utexture2DArray image;

void map_row(uint number) {
    uint row = id_of(rest, number);
    WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, row).at[0];
    uvec4 texel = texelFetch(image, ivec3(pixel_of(key), 0), 0);
    uint held = held_in(texel);
    if (held < TAKEN || key_in(texel) != key) {
        column32_from(next, atomicAdd(Column32(next_rows).at[0], 1u)).at[0] = row;
        return;
    }
    uint head = held & ~TAKEN;
    column32_from(map, row).at[0] = head;
    if (head == row) column32_from(heads, row).at[0] = 1u;
}

void main() {
    draw_nowhere();
    TAKE_ROWS(map_row)
}
