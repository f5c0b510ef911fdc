// Draws the pairs of a row and its partners in the images of a stack, each pair at the next free pixel of its row.
// One vertex per row and partner, an instance each: instance n draws the partner number n. With BY_IMAGE, one vertex
// per row and image, as in count_stack (GARUDA 3.3.1).
// Input: keys, ids and stack_ids as in count_stack; base is the number of the first pair that is drawn. In and out:
// nexts, uint32 by row from first_row on, the number of the next pair of a row, which only BY_IMAGE raises.
// Texture: the stack. Target: the number of the row in the stack, and of the other one.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/probe_stack.glsl"
#include "hash_image.glsl"
#include "stack_match.glsl"
#include "match_marks.glsl"

layout(location = 0) flat out uvec2 pair;

void main() {
    uint row = uint(gl_VertexIndex), partner = 0u, place = 0u;
    WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, row).at[0];
    uvec2 pixel = pixel_of(key);
    bool ends = false;
    draw_nowhere();
    pair = uvec2(0);
#if BY_IMAGE == 1
    partner = partner_in(uint(gl_InstanceIndex), pixel, key, ends);
    if (partner == 0u) return;
    place = atomicAdd(column32_from(nexts, row - first_row).at[0], 1u);
#else
    uint before = uint(gl_InstanceIndex); // partners that other instances draw
    for (uint image = 0u; image < images && !ends; ++image) {
        partner = partner_in(image, pixel, key, ends);
        if (partner != 0u && before-- == 0u) break;
        partner = 0u;
    }
    if (partner == 0u) return;
    place = column32_from(nexts, row - first_row).at[0] + uint(gl_InstanceIndex);
#endif
    pair = uvec2(id_of(stack_ids, partner & ~TAKEN), id_of(ids, row));
    draw_at(pixel_at(place - base, target_width));
}
