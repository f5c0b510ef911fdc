// Marks the first row of each run of equal keys: heads[i] is 1 if keys[i] differs from keys[i-1] or i is 0, else 0.
// One invocation per items rows, a workgroup apart.
// Input: keys, words of KEY_BITS[rows]. Output: heads, uint32[rows].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/run_heads.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items;
    uint count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uvec2 source = keys;
    Column32 to = column32_from(heads, begin);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uint row = begin + i;
        WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(source, row).at[0];
        WORD(KEY_BITS) before = COLUMN_FROM(KEY_BITS)(source, max(row, 1u) - 1u).at[0];
        to.at[i] = row == 0u || key != before ? 1u : 0u;
    }
}
