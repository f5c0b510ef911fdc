// Counts the partners of each row in the images of a stack, and marks rows that have one.
// One vertex per row, which looks at one image after the other, up to the first one without a row at its pixel; no
// points. With BY_IMAGE, one vertex per row and image, an instance each, and a match is a point added to the pixel of
// its row (GARUDA 3.2.1).
// Input: keys, words of KEY_BITS; ids and stack_ids, uint32, the numbers of rows, or absent. Accumulated: marks and
// stack_marks, bitmaps by these numbers, or absent. Output without BY_IMAGE: counts, uint32 by row from first_row on.
// Texture: the stack. Target with BY_IMAGE: counts, row by row from first_row on.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/count_stack.glsl"
#include "hash_image.glsl"
#include "stack_match.glsl"
#include "match_marks.glsl"

void main() {
    uint row = uint(gl_VertexIndex), found = 0u;
    WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, row).at[0];
    uvec2 pixel = pixel_of(key);
    uint image = uint(gl_InstanceIndex), end = BY_IMAGE == 1 ? image + 1u : images;
    for (bool ends = false; image < end && !ends; ++image) {
        uint partner = partner_in(image, pixel, key, ends);
        if (partner == 0u) continue;
        ++found;
        mark(stack_marks, id_of(stack_ids, partner & ~TAKEN));
    }
    if (found > 0u) mark(marks, id_of(ids, row));
    draw_nowhere();
#if BY_IMAGE == 1
    if (found > 0u) draw_at(pixel_at(row - first_row, target_width));
#else
    column32_from(counts, row - first_row).at[0] = found;
#endif
}
