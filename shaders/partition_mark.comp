// Marks the rows that have a match in the units of a partitioned hash join, those of one side or of both.
// One workgroup per unit; it takes right rows workgroup*items at a time.
// Inputs: units, left_keys and right_keys as for partition_join.
// Accumulated: left_marks and right_marks, bitmaps of the rows of left_keys and right_keys, to which those with a match
// are added; with sides 1 only right_marks, with sides 2 only left_marks.
// Preconditions: those of partition_join that are about keys and units.
// Source: as partition_join.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/partition_mark.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)
#define BUILD_IN_FLIGHT 8u

#include "unit_table.glsl"
#include "left_marks.glsl"
#include "join_lookup.glsl"

// The first match is enough. All right rows of a key meet the same one first; whoever marks it marks the others.
uint matches_of(Key key, inout uint cursor) {
    uint stop = match_from(key, first_stop(key, cursor));
    if (stop == 0u) return 0u;
    if ((sides & mark_left) != 0u && mark_first(left_row(stop))) {
        for (uint other = match_from(key, stop_after(stop)); other > 0u; other = match_from(key, stop_after(other))) {
            mark_first(left_row(other));
        }
    }
    return 1u;
}

void looked_up(uint k, uint matches) {
    if ((sides & mark_right) != 0u) collect_marks(k, matches > 0u);
}
void batch_looked_up(uint row) {
    if ((sides & mark_right) != 0u) put_marks(right_marks, row);
}

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    unit_keys = COLUMN_FROM(KEY_BITS)(left_keys, rows.x);
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, rows.z);
    Key key[items]; // of the first batch, under way while the left rows are
    load_batch(right, 0u, rows.w - rows.z, key);
    begin_marks();
    clear_left_marks(rows.x, rows.y - rows.x);
    build_table(rows.y - rows.x);
    barrier();
    look_up(right, rows.z, rows.w - rows.z, key);
    put_left_marks(rows.x, rows.y - rows.x);
}
