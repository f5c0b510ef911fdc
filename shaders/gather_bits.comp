// Fetches bits by row id: bit i of gathered = bit first_bit + ids[i] of bits; bit i of a bitmap is bit i%32 of its word
// i/32.
// One invocation per items/32 words of the output, a workgroup apart.
// Inputs: bits, a bitmap of uint32; ids, uint32[rows]. Output: gathered, a bitmap of rows bits, the rest of its last
// word 0.
// Precondition: workgroup*items is a multiple of 32.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/gather_bits.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items;
    uint count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Column32 from = column32_from(ids, begin);
    Column32 to = column32_from(gathered, begin / 32u);
    uvec2 source = bits;
    uint first_word = first_bit / 32u, first_offset = first_bit % 32u;
    for (uint word = INVOCATION; word * 32u < count; word += WORKGROUP_SIZE) {
        uint collected = 0u, n = min(32u, count - word * 32u);
        for (uint i = 0u; i < n; ++i) {
            uint id = from.at[word * 32u + i];
            uint bit = first_offset + id % 32u; // first_bit + id may not fit a word
            uint held = column32_from(source, first_word + id / 32u + bit / 32u).at[0];
            collected |= (held >> bit % 32u & 1u) << i;
        }
        to.at[word] = collected;
    }
}
