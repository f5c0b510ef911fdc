// Sums tiles, the first step of a scan: tile_sums[tile] = sum of the values of the tile, modulo 2^SUM_BITS.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Input: values, words of IN_BITS[rows]. Output: tile_sums, words of SUM_BITS[tiles].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Sum WORD(SUM_BITS)

layout(push_constant) uniform Push {
    uvec2 values, tile_sums;
    uint rows, tiles;
    GROUP_RANGE
};

Sum sum_of(uint begin, uint count, uint start, uint step) {
    COLUMN(IN_BITS) from = COLUMN_FROM(IN_BITS)(values, begin);
    Sum sum = Sum(0);
    for (uint i = start; i < count; i += step) sum = add(sum, widen(from.at[i], Sum(0)));
    return sum;
}

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    COLUMN_FROM(SUM_BITS)(tile_sums, tile).at[0] = sum_of(tile * items, rows_left(rows, tile * items, items), 0u, 1u);
}

#else

#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(Sum)

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items;
    Sum sum = sum_of(begin, rows_left(rows, begin, WORKGROUP_SIZE * items), INVOCATION, WORKGROUP_SIZE);
    Sum all;
    workgroup_sum(subgroup_sum(sum), all);
    if (INVOCATION == 0u) COLUMN_FROM(SUM_BITS)(tile_sums, tile).at[0] = all;
}

#endif
