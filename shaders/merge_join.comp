// Joins units of two sorted sides: the left keys of a unit lie in shared memory, and each right row searches for its
// first match there; the rows behind it with the same key are the others. Every pair of rows with equal keys is an
// output row, as in join_output.glsl.
// One workgroup per unit of at most workgroup*items right rows.
// Inputs: units, uint32[4 * units]: left from, left to, right from, right to; left_keys and right_keys, words of
// KEY_BITS, sorted ascending; payload as for partition_join.
// In and out: places, as for partition_join, PAGED 0.
// Outputs: keys_out and payload, as for partition_join.
// Preconditions: no unit has more than table left rows; output rows are less than 2^31; SHARED 0: a workgroup consists of
// whole subgroups.
// Source: "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.2, with a search in a chunk of
// shared memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/merge_join.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)
#define BUILD_IN_FLIGHT 8u
#define PAGED 0
#define MARKED 0

const uint mixed = 0u, seed = 0u, unique = 0u, widened = 0u, high = 0u;

#include "join_output.glsl"
#include "sorted_left.glsl"

uint first_match(Key key) {
    wanted = key;
    uint at = search(0u, 0u, left_count);
    return at < left_count && sh_left[at] == key ? at + 1u : 0u;
}
uint next_match(Key key, uint at) { return at < left_count && sh_left[at] == key ? at + 1u : 0u; }

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    uint left_first = rows.x, right_first = rows.z, right_count = rows.w - rows.z, done = 0u;
    left_count = rows.y - rows.x;
    uint run = RUN;
    begin_batches();
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, right_first);

    Key key[items]; // of right rows; under way while the left keys are
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        if (run + k * STRIDE < right_count) key[k] = right.at[run + k * STRIDE];
    }
    load_left(left_first);
    barrier();
    join_batch(unit, left_first, right_first, run, right_count, key, done);
    count_rows(done);
}
