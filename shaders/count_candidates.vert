// Looks up how many rows of a flattened stack may match a row: those with the same pixel.
// One vertex per row; no points.
// Input: keys, words of KEY_BITS; begins, uint32[pixels + 1], the first slot of each pixel. Output: candidates, uint32
// by row from first_row on.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/count_candidates.glsl"
#include "hash_image.glsl"

void main() {
    uint row = uint(gl_VertexIndex);
    WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, row).at[0];
    Column32 begin = column32_from(begins, number_of(key));
    column32_from(candidates, row - first_row).at[0] = begin.at[1] - begin.at[0];
    draw_nowhere();
}
