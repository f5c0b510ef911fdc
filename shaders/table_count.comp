// Counts the output rows of a join by a hash table in device memory that table_build has made, without making any.
// One workgroup per tile of workgroup*items right rows.
// Inputs: slots, left_keys and right_keys as for table_probe; repeats as table_build makes them with distinct = 1, else
// absent.
// Output: counts, uint64[tiles], the output rows of each.
// Preconditions: patience, mask and seed are those of the build; SHARED 0: a workgroup consists of whole subgroups.
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

// All rows with the key lie before the first free slot, or one does that stands for all.
uint matches_of(Key key, inout uint cursor) {
    uint match = first_match(key), matches = 0u;
    if (distinct == 1u) return match == 0u ? 0u : 1u + column32_from(repeats, left_row(match)).at[0];
    for (; match > 0u; match = unique == 1u ? 0u : next_match(key, match)) ++matches;
    return matches;
}

#if SHARED
#include "workgroup_total.glsl"
#else
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uvec2)
#endif

uvec2 own_matches = uvec2(0u); // of this invocation's rows

void looked_up(uint k, uint matches) { own_matches = add(own_matches, uvec2(matches, 0u)); }
void batch_looked_up(uint row) {}

#include "join_lookup.glsl"

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint first = tile * batch_rows, count = rows_left(rows, first, batch_rows);
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, first);
    Key key[items];
    load_batch(right, 0u, count, key);
    look_up(right, first, count, key);
#if SHARED
    uvec2 all = workgroup_total(own_matches);
#else
    uvec2 all;
    workgroup_sum(subgroup_sum(own_matches), all);
#endif
    if (INVOCATION == 0u) column64_from(counts, tile).at[0] = all;
}
