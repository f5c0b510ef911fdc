// Counts the output rows of units of two sorted sides, without making any.
// One workgroup per unit; it takes right rows workgroup*items at a time.
// Inputs: units, left_keys and right_keys as for merge_join.
// Output: counts, uint64[units], the output rows of each.
// Preconditions: those of merge_join that are about keys and units.
// Source: as merge_join.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/merge_count.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)
#define BUILD_IN_FLIGHT 8u

#include "sorted_left.glsl"
#include "join_count.glsl"
#include "join_lookup.glsl"

uint matches_of(Key key, inout uint cursor) {
    first_stop(key, cursor);
    return matches_end(cursor) - cursor;
}

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    left_count = rows.y - rows.x;
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, rows.z);
    Key key[items]; // of the first batch, under way while the left rows are
    load_batch(right, 0u, rows.w - rows.z, key);
    load_left(rows.x);
    barrier();
    look_up(right, rows.z, rows.w - rows.z, key);
    put_count(unit);
}
