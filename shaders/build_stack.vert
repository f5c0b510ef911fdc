// Draws the rows that no image of a stack has yet into the next one, each at the pixel of its key, of which one stays
// (GARUDA 3.1). A row finds out by itself whether the image before has it, so that no pass over the pixels of that
// image is needed; the second pass lists the rows that the first image has not, to which later passes keep.
// One vertex per row from first_row on, for PASS 0 and 1; one per listed row for PASS 2, the third pass and later ones.
// Input: keys, words of KEY_BITS. In and out: rest, uint32, the listed rows; rest_rows, uint32, their number, 0 before;
// placed, a bitmap of the listed rows that images have, 0 before. Texture, but for PASS 0: the image before.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "memory.glsl"
#include "draws/build_stack.glsl"
#include "hash_image.glsl"

#if PASS > 0
layout(set = 0, binding = 0) uniform utexture2DArray before;
#endif
layout(location = 0) flat out uvec4 texel;

void main() {
    uint row = uint(gl_VertexIndex);
    bool stays = false;
#if PASS == 2
    uint number = row, bit = 1u << number % 32u;
    Column32 word = column32_from(placed, number / 32u);
    row = column32_from(rest, number).at[0];
    stays = (word.at[0] & bit) != 0u;
#endif
    WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, row).at[0];
    uvec2 pixel = pixel_of(key);
#if PASS > 0
    if (!stays && held_in(texelFetch(before, ivec3(pixel, 0), 0)) == (row | TAKEN)) {
        stays = true;
#if PASS == 2
        atomicOr(word.at[0], bit);
#endif
    }
#endif
#if PASS == 1
    if (!stays) column32_from(rest, atomicAdd(Column32(rest_rows).at[0], 1u)).at[0] = row;
#endif
    texel = texel_of(key, row);
    if (stays) draw_nowhere();
    else draw_at(pixel);
}
