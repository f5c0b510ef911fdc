// Counts the candidates of a flattened stack that match, and marks their rows. One vertex per candidate; no points.
// Input: keys, words of KEY_BITS; begins, uint32[pixels + 1], the first slot of each pixel; candidates,
// uint64[rows + 1], the first candidate of each row from first_row on; ids and stack_ids as in count_stack.
// Accumulated: found, uint32; marks and stack_marks as in count_stack. Texture: the stack.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "draws/count_flat.glsl"
#include "hash_image.glsl"
#include "flat_match.glsl"
#include "match_marks.glsl"

void main() {
    uvec2 pair = candidate(uint(gl_VertexIndex));
    draw_nowhere();
    if (pair.y == 0u) return;
    mark(marks, id_of(ids, first_row + pair.x));
    mark(stack_marks, id_of(stack_ids, pair.y & ~TAKEN));
    atomicAdd(Column32(found).at[0], 1u);
}
