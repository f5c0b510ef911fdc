// Scans tiles, the last step of an exclusive scan: sums[i] = tile_prefix[tile] + sum of the tile's values before i,
// modulo 2^SUM_BITS. With total = 1, sums[rows] is the sum of all values.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Inputs: values, words of IN_BITS[rows]; tile_prefix, words of SUM_BITS[tiles], absent: zeros. Output: sums, words of
// SUM_BITS[rows + total]; it may be values where both widths are equal. No rows: one tile, for the total.
// Preconditions: SERIAL 0: those of tile_rows.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/scan_tiles.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Sum WORD(SUM_BITS)

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

#elif SHARED

#include "tile_rows.glsl"
#include "workgroup_scan.glsl"
DEFINE_SCANNED(Sum, 4u * WORKGROUP_SIZE)
#define Held Sum
#define combine add
#define nothing() Sum(0)
#include "portions.glsl"

Sums sums_of(uint r, Sum before) {
    Sums sums;
    [[unroll]] for (uint k = 0u; k < PER_LOAD; ++k) {
        sums.at[k] = before;
        before = add(before, widen(value[r].at[k], before));
    }
    return sums;
}

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uvec2 from = uvec2(COLUMN_FROM(IN_BITS)(values, begin)), to = uvec2(COLUMN_FROM(SUM_BITS)(sums, begin));
    Sum sum = prefix_of(tile);
    for (uint first = 0u; first < rounds; first += PORTION) {
        Sum before[PORTION];
        Sums row[PORTION];
        load_portion(from, first, count);
        [[unroll]] for (uint r = 0u; r < PORTION; ++r) before[r] = sum_of(value[r]);
        sum = scan_portion(sum, before);
        [[unroll]] for (uint r = 0u; r < PORTION; ++r) row[r] = sums_of(r, before[r]);
        store_portion(to, first, count, row);
    }
    store_rest(to, count);
    if (INVOCATION == 0u) write_total(tile, sum);
}

#else

#include "tile_scan.glsl"

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Sum prefix = prefix_of(tile), all;
    load_tile(uvec2(COLUMN_FROM(IN_BITS)(values, begin)), count);
    Sum before = workgroup_sum(scan_rounds(), all);
    store_tile(uvec2(COLUMN_FROM(SUM_BITS)(sums, begin)), count, add(prefix, before));
    if (INVOCATION == 0u) write_total(tile, add(prefix, all));
}

#endif
