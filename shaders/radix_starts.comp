// Tells where the partitions of a radix partition begin: starts[digit] = offsets[digit*tiles].
// One invocation per items digits, a workgroup apart.
// Input: offsets, uint32[rows * tiles]. Output: starts, uint32[rows]; a row is a digit.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "group.glsl"

layout(push_constant) uniform Push {
    uvec2 offsets, starts;
    uint rows, tiles;
    GROUP_RANGE
};

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        column32_from(starts, begin + i).at[0] = column32_from(offsets, (begin + i) * tiles).at[0];
    }
}
