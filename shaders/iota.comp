// Numbers rows: values[i] = first + i, modulo 2^32.
// One invocation per items rows, a workgroup apart.
// Output: values, uint32[rows].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/iota.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items;
    uint count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Column32 tile = column32_from(values, begin);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) tile.at[i] = first + begin + i;
}
