// Marks rows of a join by a hash table in device memory that table_build has made: right rows that have a match among
// the left ones (sides has bit 0), and left rows that are the first match of a right one (sides has bit 1), always the
// same one of a key.
// One workgroup per tile of workgroup*items right rows.
// Inputs: slots, left_keys and right_keys as for table_probe; partners, with among = 1 alone: a bitmap of left rows, of
// which one whose bit is not set counts as no match.
// Accumulated: left_marks and right_marks, bitmaps to which rows are added, absent for a side that sides lacks.
// Preconditions: patience, mask and seed are those of the build; SHARED 0: a workgroup consists of whole subgroups.
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

// 1 + the left row that the key finds first.
uint matches_of(Key key, inout uint cursor) {
    uint match = first_match(key);
    if (match == 0u) return 0u;
    uint left = left_row(match);
    if (among == 1u && (column32_from(partners, left / 32u).at[0] >> left % 32u & 1u) == 0u) return 0u;
    return 1u + left;
}

#include "join_mark.glsl"

void looked_up(uint k, uint match) {
    if ((sides & mark_right) != 0u) collect_marks(k, match > 0u);
    if ((sides & mark_left) != 0u && match > 0u) mark_row(left_marks, match - 1u);
}
void batch_looked_up(uint row) {
    if ((sides & mark_right) != 0u) put_marks(right_marks, row);
}

#include "join_lookup.glsl"

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint first = tile * batch_rows, count = rows_left(rows, first, batch_rows);
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, first);
    Key key[items];
    load_batch(right, 0u, count, key);
    begin_marks();
    look_up(right, first, count, key);
}
