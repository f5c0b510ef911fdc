// Packs narrow columns: words[i] = value i of each column, in its field. From the lowest bit on a word holds shorts
// fields of 16 bits, bytes fields of 8 and bits fields of 1; what is above them is 0.
// One invocation per items rows, a workgroup apart. Neighbours read the same word of a source or the next one.
// Inputs: sources, uint32, the columns as Arrow has them; origins, uvec2 a field: the word of sources that holds value
// 0, and its lowest bit there, a multiple of the bits of the field. Output: words, uint32[rows]. Precondition: the
// fields fit a word.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/pack_words.glsl"
#include "group.glsl"

#define IN_FLIGHT 8u // rows of an invocation whose loads overlap

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uint n_shorts = shorts, n_wide = n_shorts + bytes, n_fields = n_wide + bits;
    uvec2 from = sources;
    Column64 origin = column64_from(origins, 0u);
    Column32 to = column32_from(words, begin);
    for (uint i = INVOCATION; i < count; i += IN_FLIGHT * WORKGROUP_SIZE) {
        uint word[IN_FLIGHT], place = 0u;
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) word[k] = 0u;
        for (uint f = 0u; f < n_fields; ++f) {
            uvec2 first = origin.at[f];
            uint log2_bits = f < n_shorts ? 4u : f < n_wide ? 3u : 0u;
            uint log2_rows = 5u - log2_bits, mask = (1u << (1u << log2_bits)) - 1u;
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
                uint row = begin + min(i + k * WORKGROUP_SIZE, count - 1u);
                uint bit = first.y + ((row & (1u << log2_rows) - 1u) << log2_bits); // less than 64
                uint held = column32_from(from, first.x + (row >> log2_rows) + bit / 32u).at[0];
                word[k] |= (held >> bit % 32u & mask) << place;
            }
            place += 1u << log2_bits;
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < count) to.at[i + k * WORKGROUP_SIZE] = word[k];
        }
    }
}
