// Turns mixed keys back.
// One invocation per items rows, a workgroup apart.
// Input: keys, words of KEY_BITS[rows]. Output: unmixed, the same, or with widened 1 words of 64 bits, with high in the
// high ones.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/unmix.glsl"
#include "group.glsl"
#include "mix.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    COLUMN(KEY_BITS) tile = COLUMN_FROM(KEY_BITS)(keys, begin);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        WORD(KEY_BITS) key = unmix_of(tile.at[i], seed);
#if KEY_BITS == 32
        if (widened == 1u) column64_from(unmixed, begin).at[i] = uvec2(key, high);
        else
#endif
        COLUMN_FROM(KEY_BITS)(unmixed, begin).at[i] = key;
    }
}
