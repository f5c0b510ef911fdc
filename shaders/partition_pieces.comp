// Tells which rows each unit of a partitioned hash join takes: left from, left to, right from, right to, the ends
// exclusive.
// One invocation per items units, a workgroup apart, each of which searches its partition.
// Inputs: offsets, uint32[partitions + 1], the exclusive scan of the counts of partition_units with the total behind
// it; left_starts and right_starts, of which partition p has those at stride * p and behind it: where it begins and
// ends. Output: units, uint32[4 * count].
// Preconditions: count is at most the total; left_rows and right_rows as for the counts.
// Source: GFTR 3.2 and 4.3.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/partition_pieces.glsl"
#include "group.glsl"

#define SERIAL 1
#include "search.glsl"

uint unit;
bool before(uint which, uint p) { return Column32(offsets).at[p] <= unit; }

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, here = rows_left(count, begin, WORKGROUP_SIZE * items);
    for (uint i = INVOCATION; i < here; i += WORKGROUP_SIZE) {
        unit = begin + i;
        uint p = search(0u, 0u, partitions) - 1u;
        Column32 left = column32_from(left_starts, stride * p), right = column32_from(right_starts, stride * p);
        uint right_size = right.at[1] - right.at[0];
        uint right_pieces = right_size / right_rows + uint(right_size % right_rows > 0u);
        uint piece = unit - Column32(offsets).at[p];
        uint left_first = left.at[0] + piece / right_pieces * left_rows;
        uint right_first = right.at[0] + piece % right_pieces * right_rows;
        Column128(element_address(units, unit, 4u)).at[0] = uvec4(
            left_first, left_first + min(left.at[1] - left_first, left_rows),
            right_first, right_first + min(right.at[1] - right_first, right_rows));
    }
}
