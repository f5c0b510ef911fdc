// Makes two columns of pairs.
// One invocation per items rows, a workgroup apart.
// Input: pairs, uvec2[rows]. Outputs: left and right, uint32[rows].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/split_pairs.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Column64 from = column64_from(pairs, begin);
    Column32 to_left = column32_from(left, begin), to_right = column32_from(right, begin);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uvec2 pair = from.at[i];
        to_left.at[i] = pair.x;
        to_right.at[i] = pair.y;
    }
}
