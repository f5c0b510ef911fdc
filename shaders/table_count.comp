// Counts the output rows of a join by a hash table in device memory that table_build has made, without making any.
// One workgroup per tile of workgroup*items right rows.
// Inputs: slots, left_keys and right_keys as for table_probe.
// Output: counts, uint64[tiles], the output rows of each.
// Preconditions: patience, mask and seed are those of the build, which lost no row; a workgroup consists of whole
// subgroups.
// Source: DIST 3.3.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/table_count.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)

#include "slots_match.glsl"

// All rows with the key lie before the first free slot.
uint matches_of(Key key, inout uint cursor) {
    uint matches = 0u;
    for (uint m = first_match(key); m > 0u; m = unique == 1u ? 0u : next_match(key, m)) ++matches;
    return matches;
}

#include "join_count.glsl"
#include "join_lookup.glsl"

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint first = tile * batch_rows, count = rows_left(rows, first, batch_rows);
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, first);
    Key key[items];
    load_batch(right, 0u, count, key);
    look_up(right, first, count, key);
    put_count(tile);
}
