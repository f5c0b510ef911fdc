// Turns counts that were blended as floats into integers.
// One invocation per items rows, a workgroup apart.
// Input: floats, float[rows], whole numbers from 0 to 2^24. Output: counts, uint32[rows].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/float_counts.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Column32 from = column32_from(floats, begin), to = column32_from(counts, begin);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) to.at[i] = uint(uintBitsToFloat(from.at[i]));
}
