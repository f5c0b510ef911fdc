// Scans tiles, the last step of an exclusive scan: sums[i] = tile_prefix[tile] + sum of the tile's values before i, modulo
// 2^SUM_BITS. With total = 1, sums[rows] is the sum of all values.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Inputs: values, words of IN_BITS[rows]; tile_prefix, words of SUM_BITS[tiles], absent: zeros. Output: sums, words of
// SUM_BITS[rows + total]; it may be values where both widths are equal. No rows: one tile, for the total.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Sum WORD(SUM_BITS)

layout(push_constant) uniform Push {
    uvec2 values, tile_prefix, sums;
    uint rows, tiles, total;
    GROUP_RANGE
};

Sum prefix_of(uint tile) {
    return absent(tile_prefix) ? Sum(0) : COLUMN_FROM(SUM_BITS)(tile_prefix, tile).at[0];
}

void write_total(uint tile, Sum sum) {
    if (total == 1u && tile + 1u == tiles) COLUMN_FROM(SUM_BITS)(sums, rows).at[0] = sum;
}

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(rows, begin, items);
    COLUMN(IN_BITS) from = COLUMN_FROM(IN_BITS)(values, begin);
    COLUMN(SUM_BITS) to = COLUMN_FROM(SUM_BITS)(sums, begin);
    Sum sum = prefix_of(tile);
    for (uint i = 0u; i < count; ++i) {
        Sum value = widen(from.at[i], Sum(0));
        to.at[i] = sum;
        sum = add(sum, value);
    }
    write_total(tile, sum);
}

#else

#extension GL_EXT_control_flow_attributes : require
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(Sum)

// Each subgroup scans a run of its own, a row of lanes at a time; then the sums of the subgroups before it are added.
void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uint first = gl_SubgroupID * gl_SubgroupSize * items + gl_SubgroupInvocationID;
    COLUMN(IN_BITS) from = COLUMN_FROM(IN_BITS)(values, begin);
    COLUMN(SUM_BITS) to = COLUMN_FROM(SUM_BITS)(sums, begin);
    Sum value[items];
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = first + k * gl_SubgroupSize;
        value[k] = i < count ? widen(from.at[i], Sum(0)) : Sum(0);
    }
    Sum own = Sum(0);
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        Sum row = subgroup_sum(value[k]);
        value[k] = add(own, subgroup_sum_before(value[k]));
        own = add(own, row);
    }
    Sum all;
    Sum prefix = prefix_of(tile);
    Sum before = add(prefix, workgroup_sum(own, all));
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = first + k * gl_SubgroupSize;
        if (i < count) to.at[i] = add(before, value[k]);
    }
    if (INVOCATION == 0u) write_total(tile, add(prefix, all));
}

#endif
