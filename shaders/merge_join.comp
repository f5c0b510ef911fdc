// Joins units of two sorted sides: the left keys of a unit lie in shared memory, and each right row searches for its first match
// there; the rows behind it with the same key are the others. Every pair of rows with equal keys is an output row, as in
// join_output.glsl.
// One workgroup per unit of at most workgroup*items right rows.
// Inputs: units, uint32[4 * units]: left from, left to, right from, right to; left_keys and right_keys, words of KEY_BITS, sorted
// ascending; payload as for partition_join.
// In and out: places, as for partition_join, PLACING 0 to 2.
// Outputs: keys_out and payload, as for partition_join.
// Preconditions: no unit has more than table left rows; a workgroup consists of whole subgroups; output rows are less than 2^31.
// Source: "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.2, with a search in a chunk of shared memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/merge_join.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)

const uint mixed = 0u, seed = 0u, unique = 0u, page_rows = 1u, widened = 0u, high = 0u;

#include "join_walking.glsl"

#define SERIAL 1 // searches by single invocations only
#include "search.glsl"

shared Key sh_left[table];
uint left_count;
Key wanted;

bool before(uint which, uint row) { return less(sh_left[row], wanted); }

uint first_match(Key key) {
    wanted = key;
    uint at = search(0u, 0u, left_count);
    return at < left_count && sh_left[at] == key ? at + 1u : 0u;
}
uint next_match(Key key, uint at) { return at < left_count && sh_left[at] == key ? at + 1u : 0u; }
uint left_row(uint at) { return at - 1u; }

uint first_stop(Key key, inout uint cursor) {
    wanted = key;
    cursor = gallop(0u, cursor, left_count);
    return cursor < left_count ? cursor + 1u : 0u;
}
bool matches_at(Key key, uint stop, out uint next) {
    bool found = sh_left[stop - 1u] == key;
    next = found && stop < left_count ? stop + 1u : 0u;
    return found;
}

const uint left_in_flight = kept == 1u ? 8u : 1u; // left keys of an invocation whose loads overlap; CPU cores do that themselves

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    uint left_first = rows.x, right_first = rows.z, right_count = rows.w - rows.z, done = 0u;
    left_count = rows.y - rows.x;
    uint run = gl_SubgroupID * gl_SubgroupSize * items + gl_SubgroupInvocationID;
    COLUMN(KEY_BITS) left = COLUMN_FROM(KEY_BITS)(left_keys, left_first), right = COLUMN_FROM(KEY_BITS)(right_keys, right_first);

    Key key[items]; // of right rows; under way while the left keys are
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        if (kept == 1u && run + k * gl_SubgroupSize < right_count) key[k] = right.at[run + k * gl_SubgroupSize];
    }
    for (uint i = INVOCATION; i < left_count; i += left_in_flight * WORKGROUP_SIZE) {
        Key own[left_in_flight];
        [[unroll]] for (uint k = 0u; k < left_in_flight; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) own[k] = left.at[i + k * WORKGROUP_SIZE];
        }
        [[unroll]] for (uint k = 0u; k < left_in_flight; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) sh_left[i + k * WORKGROUP_SIZE] = own[k];
        }
    }
    barrier();
    if (kept == 1u) join_batch(unit, left_first, right_first, run, right_count, key, done);
    else done = walk_unit(unit, left_first, right_first, right_count);
    if (placing == 0u && INVOCATION == 0u) column32_from(places, unit).at[0] = done;
}
