// Marks the rows of pairs that are kept: where bit i of keep is set, bit ids[i] of marks is; bit i of a bitmap is bit
// i%32 of its word i/32.
// One invocation per items pairs, a workgroup apart.
// Inputs: keep, a bitmap of rows bits; ids, uint32[rows]. Accumulated: marks, a bitmap, to which rows are added.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/mark_kept.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint first = group * WORKGROUP_SIZE * items, count = rows_left(rows, first, WORKGROUP_SIZE * items);
    uvec2 kept = keep, bitmap = marks;
    Column32 id = column32_from(ids, first);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uint row = first + i;
        if ((column32_from(kept, row / 32u).at[0] >> row % 32u & 1u) > 0u) {
            atomicOr(column32_from(bitmap, id.at[i] / 32u).at[0], 1u << id.at[i] % 32u);
        }
    }
}
