// Counts the rows of each pixel of a hash image, so that the most rows of a pixel are the images that a stack needs.
// One vertex per row; a point is added to the pixel of its key. Source: GARUDA 3.4.3, compute statistics.
// Input: keys, words of KEY_BITS. Target: counts of rows, at most 2^24 a draw, which floats hold exactly.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/count_pixels.glsl"
#include "hash_image.glsl"

void main() {
    WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, uint(gl_VertexIndex)).at[0];
    draw_at(pixel_of(key));
}
