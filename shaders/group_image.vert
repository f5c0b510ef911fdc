// Draws rows into a hash image, each at the pixel of its key, of which one stays: the head of the group of its key.
// One vertex per row, or per listed row. Source: GARUDA 4.1.1.
// Input: keys, words of KEY_BITS; rest, uint32, numbers of rows, or absent.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/group_image.glsl"
#include "hash_image.glsl"
#include "match_marks.glsl"

layout(location = 0) flat out uvec4 texel;

void main() {
    uint row = id_of(rest, uint(gl_VertexIndex));
    WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, row).at[0];
    texel = texel_of(key, row);
    draw_at(pixel_of(key));
}
