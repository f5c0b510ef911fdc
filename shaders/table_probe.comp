// Looks right rows up in a hash table in device memory that table_build has made. Every pair of rows with equal keys is an output row,
// as in join_output.glsl.
// One workgroup per tile of workgroup*items right rows.
// Inputs: slots, uint32[mask + 1], as in slots.glsl; left_keys, words of KEY_BITS; right_keys, words of KEY_BITS[rows]; payload as for partition_join.
// In and out: places, as for partition_join, a tile in place of a unit.
// Outputs: keys_out and payload, as for partition_join.
// Preconditions: patience, mask and seed are those of the build, which lost no row; a workgroup consists of whole subgroups; output
// rows are less than 2^31.
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

#include "slots.glsl"
#include "join_output.glsl"

uint left_row(uint at) { return (Column32(slots).at[at - 1u] & mask) - 1u; }

// 1 + the slot of the first row with the key from so many tries on; 0: none.
uint match_of(Key key, uint hash, uint tries) {
    for (; tries < patience; ++tries) {
        uint slot = hash + tries & mask, entry = Column32(slots).at[slot];
        if (entry == 0u) return 0u;
        if (((entry ^ hash) & ~mask) == 0u && COLUMN_FROM(KEY_BITS)(left_keys, (entry & mask) - 1u).at[0] == key) return slot + 1u;
    }
    return 0u;
}

uint first_match(Key key) { return match_of(key, hash_of(key), 0u); }
uint next_match(Key key, uint at) {
    uint hash = hash_of(key);
    return match_of(key, hash, (at - hash & mask)); // at is one slot further than the match
}

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint first = tile * batch_rows, count = rows_left(rows, first, batch_rows), done = 0u;
    uint run = gl_SubgroupID * gl_SubgroupSize * items + gl_SubgroupInvocationID;
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, first);
    Key key[items];
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        if (run + k * gl_SubgroupSize < count) key[k] = right.at[run + k * gl_SubgroupSize];
    }
    join_batch(tile, 0u, first, run, count, key, done);
    if (placing == 0u && INVOCATION == 0u) column32_from(places, tile).at[0] = done;
    if (placing == 3u) leave_page();
}
