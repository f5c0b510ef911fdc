// Draws rows into a flattened stack: one image in which the rows of a pixel of the hash image follow one another.
// One vertex per row. Source: GARUDA 3.4.4.
// Input: keys, words of KEY_BITS. In and out: nexts, uint32[pixels], where the next row of each pixel goes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/build_flat.glsl"
#include "hash_image.glsl"

layout(location = 0) flat out uvec4 texel;

void main() {
    uint row = uint(gl_VertexIndex);
    WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, row).at[0];
    uint slot = atomicAdd(column32_from(nexts, number_of(key)).at[0], 1u);
    texel = texel_of(key, row);
    draw_at(pixel_at(slot, target_width));
}
