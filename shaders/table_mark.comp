// Marks the right rows that have a match among the left ones of a join by a hash table in device memory that
// table_build has made.
// One workgroup per tile of workgroup*items right rows.
// Inputs: slots, left_keys and right_keys as for table_probe.
// Accumulated: marks, a bitmap of right rows, to which those with a match are added.
// Preconditions: patience, mask and seed are those of the build, which lost no row; a workgroup consists of whole
// subgroups.
// Source: DIST 3.3.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/table_mark.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)

#include "slots_match.glsl"

uint matches_of(Key key, inout uint cursor) { return min(first_match(key), 1u); }

#include "join_mark.glsl"
#include "join_lookup.glsl"

void looked_up(uint row, uint matches) { mark_rows(marks, row, matches); }

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint first = tile * batch_rows, count = rows_left(rows, first, batch_rows);
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, first);
    Key key[items];
    load_batch(right, 0u, count, key);
    look_up(right, first, count, key);
}
