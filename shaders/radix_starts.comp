// Tells where the partitions of a radix partition begin: starts[digit] = offsets[digit*tiles], and
// starts[digits] = end, where the last one ends.
// One invocation per items digits, a workgroup apart.
// Input: offsets, uint32[digits * tiles]. Output: starts, uint32[digits + 1].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/radix_starts.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(digits + 1u, begin, WORKGROUP_SIZE * items);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uint start = end;
        if (begin + i < digits) start = column32_from(offsets, (begin + i) * tiles).at[0];
        column32_from(starts, begin + i).at[0] = start;
    }
}
