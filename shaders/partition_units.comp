// Counts the units of the partitions of a hash join: pieces of at most left_rows rows on the left times pieces of at
// most right_rows on the right. Partitions with more than most_left rows on the left and some on the right have none
// and are counted in oversized.
// One invocation per items partitions, a workgroup apart.
// Inputs: left_starts and right_starts, uint32[partitions + 1]. Output: counts, uint32[partitions]. Accumulated:
// oversized, uint32.
// Preconditions: left_rows and right_rows are not 0.
// Source: GFTR 3.2 and 4.3 (large partitions are joined piece by piece).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/partition_units.glsl"
#include "group.glsl"

uint pieces(uint rows, uint most) { return rows / most + uint(rows % most > 0u); }

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(partitions, begin, WORKGROUP_SIZE * items);
    Column32 left = column32_from(left_starts, begin), right = column32_from(right_starts, begin);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uint left_size = left.at[i + 1u] - left.at[i], right_size = right.at[i + 1u] - right.at[i];
        uint units = pieces(left_size, left_rows) * pieces(right_size, right_rows);
        if (left_size > most_left && right_size > 0u) {
            units = 0u;
            atomicAdd(Column32(oversized).at[0], 1u);
        }
        column32_from(counts, begin + i).at[0] = units;
    }
}
