// Counts values in device memory: counts[value] grows by the rows with that value, for values below bins.
// One invocation per items rows, a workgroup apart.
// Input: values, uint32[rows]. In and out: counts, uint32[bins].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/bin_counts.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Column32 from = column32_from(values, begin);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uint value = from.at[i];
        if (value < bins) atomicAdd(column32_from(counts, value).at[0], 1u);
    }
}
