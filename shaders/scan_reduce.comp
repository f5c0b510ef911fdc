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

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(rows, begin, items);
    COLUMN(IN_BITS) from = COLUMN_FROM(IN_BITS)(values, begin);
    Sum sum = Sum(0);
    for (uint i = 0u; i < count; ++i) sum = add(sum, widen(from.at[i], Sum(0)));
    COLUMN_FROM(SUM_BITS)(tile_sums, tile).at[0] = sum;
}

#else

#extension GL_EXT_control_flow_attributes : require
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(Sum)

#define IN_FLIGHT 8u // values of an invocation whose loads overlap

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    COLUMN(IN_BITS) from = COLUMN_FROM(IN_BITS)(values, begin);
    Sum sum = Sum(0);
    for (uint i = INVOCATION; i < count; i += IN_FLIGHT * WORKGROUP_SIZE) {
        Sum value[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            uint at = i + k * WORKGROUP_SIZE;
            value[k] = at < count ? widen(from.at[at], Sum(0)) : Sum(0);
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) sum = add(sum, value[k]);
    }
    Sum all;
    workgroup_sum(subgroup_sum(sum), all);
    if (INVOCATION == 0u) COLUMN_FROM(SUM_BITS)(tile_sums, tile).at[0] = all;
}

#endif
