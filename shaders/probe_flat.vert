// Draws the pairs of a flattened stack. One vertex per candidate, each match at the next free pixel.
// Input as in count_flat. In and out: found, uint32, the number of pairs so far. Texture: the stack. Target as in
// probe_stack.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/probe_flat.glsl"
#include "hash_image.glsl"
#include "flat_match.glsl"
#include "match_marks.glsl"

layout(location = 0) flat out uvec2 pair;

void main() {
    uvec2 rows_of = candidate(uint(gl_VertexIndex));
    draw_nowhere();
    pair = uvec2(0);
    if (rows_of.y == 0u) return;
    uint place = atomicAdd(Column32(found).at[0], 1u);
    pair = uvec2(id_of(stack_ids, rows_of.y & ~TAKEN), id_of(ids, first_row + rows_of.x));
    draw_at(pixel_at(place, target_width));
}
