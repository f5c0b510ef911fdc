// Marks the rows with a count: where counts[i] > 0, bit ids[i] of marks is set, or bit i where ids are absent; bit i of
// a bitmap is bit i%32 of its word i/32.
// One invocation per items rows, a workgroup apart; without ids they come in fours, whose bits one operation sets.
// Inputs: counts, uint32[rows]; ids, uint32[rows] or absent. Accumulated: marks, a bitmap, to which rows are added.
// Precondition: workgroup*items is a multiple of 32.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/mark_counts.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Column32 from = column32_from(counts, begin);
    uvec2 bitmap = marks;
    if (!absent(ids)) {
        Column32 to = column32_from(ids, begin);
        for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
            if (from.at[i] > 0u) atomicOr(column32_from(bitmap, to.at[i] / 32u).at[0], 1u << to.at[i] % 32u);
        }
        return;
    }
    for (uint i = 4u * INVOCATION; i < count; i += 4u * WORKGROUP_SIZE) {
        uint bits = 0u;
        [[unroll]] for (uint k = 0u; k < 4u; ++k) {
            if (i + k < count) bits |= min(from.at[i + k], 1u) << k;
        }
        if (bits > 0u) atomicOr(column32_from(bitmap, (begin + i) / 32u).at[0], bits << i % 32u);
    }
}
