// Turns mixed keys back in place.
// One invocation per items rows, a workgroup apart.
// In and out: keys, words of KEY_BITS[rows].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "group.glsl"
#include "mix.glsl"

layout(push_constant) uniform Push {
    uvec2 keys;
    uint rows, seed;
    GROUP_RANGE
};

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    COLUMN(KEY_BITS) tile = COLUMN_FROM(KEY_BITS)(keys, begin);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) tile.at[i] = unmix_of(tile.at[i], seed);
}
