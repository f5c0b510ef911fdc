// Looks right rows up in a hash table in device memory that table_build has made. Every pair of rows with equal keys, of
// which the left one has a slot, is an output row, as in join_output.glsl.
// One workgroup per tile of workgroup*items right rows.
// Inputs: slots, uint32[mask + 1], as in slots.glsl; left_keys, words of KEY_BITS; right_keys, words of KEY_BITS[rows];
// payload as for partition_join.
// In and out: places, as for partition_join, a tile in place of a unit.
// Outputs: keys_out and payload, as for partition_join.
// Preconditions: patience, mask and seed are those of the build; output rows are less than 2^31; SHARED 0: a workgroup
// consists of whole subgroups.
// Source: DIST 3.3.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/table_probe.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)

const uint mixed = 0u, widened = 0u, high = 0u;

#include "join_output.glsl"
#include "slots_match.glsl"

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint first = tile * batch_rows, count = rows_left(rows, first, batch_rows), done = 0u;
    uint run = RUN;
    begin_batches();
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, first);
    Key key[items];
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        if (run + k * STRIDE < count) key[k] = right.at[run + k * STRIDE];
    }
#if SHARED
    barrier(); // of begin_batches
#endif
    join_batch(tile, 0u, first, run, count, key, done);
    count_rows(done);
#if PAGED
    leave_page();
#endif
}
