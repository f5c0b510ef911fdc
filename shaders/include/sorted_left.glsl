// The left keys of a unit of a merge join, sorted, in shared memory.
// A kernel with this file has the constant table and the push constant left_keys, and defines BUILD_IN_FLIGHT: left
// keys of an invocation whose loads overlap.
#define SERIAL 1 // searches by single invocations only
#include "search.glsl"

shared Key sh_left[table];
uint left_count;
Key wanted;

// Search 0 looks for the first row with a key, search 1 for the one behind the last.
bool before(uint which, uint row) {
    return which == 0u ? less(sh_left[row], wanted) : !less(wanted, sh_left[row]);
}

// Loads left_count left keys from left_first on. All invocations call it; a barrier lies between it and lookups.
void load_left(uint left_first) {
    COLUMN(KEY_BITS) left = COLUMN_FROM(KEY_BITS)(left_keys, left_first);
    for (uint i = INVOCATION; i < left_count; i += BUILD_IN_FLIGHT * WORKGROUP_SIZE) {
        Key own[BUILD_IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < BUILD_IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) own[k] = left.at[i + k * WORKGROUP_SIZE];
        }
        [[unroll]] for (uint k = 0u; k < BUILD_IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) sh_left[i + k * WORKGROUP_SIZE] = own[k];
        }
    }
}

// Matches are walked through by first_stop, whose search goes on where that for the row before ended, and matches_at.
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

uint left_row(uint stop) { return stop - 1u; }

// Behind the last left row with the key that first_stop looked for from row first on; first where none has it.
uint matches_end(uint first) { return gallop(1u, first, left_count); }
