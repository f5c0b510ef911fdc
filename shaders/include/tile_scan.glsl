// The exclusive scan of a tile by a workgroup, in registers: load_tile and scan_rounds load and add up, store_tile writes the
// sums once the sum before the tile is known. Values and sums may be the same column of one width, because an invocation
// writes the rows that it has loaded. Preconditions: those of tile_rows.glsl.
#include "tile_rows.glsl"
DEFINE_WORKGROUP_SUM(Sum)

Values value[ROUNDS];
Sum sum_before[ROUNDS]; // sum of the subgroup's values before those of a round of this invocation

// A full tile takes no tests of rows, so that loads overlap.
bool full(uint count) { return count == WORKGROUP_SIZE * rounds * PER_LOAD; }

// Loads count values at address from.
void load_tile(uvec2 from, uint count) {
    if (full(count)) {
        [[unroll]] for (uint r = 0u; r < ROUNDS; ++r) {
            if (r < rounds) value[r] = load_values(from, row_of(r) / PER_LOAD);
        }
    } else {
        [[unroll]] for (uint r = 0u; r < ROUNDS; ++r) {
            if (r < rounds) value[r] = load_rows(from, row_of(r), count);
        }
    }
}

// Adds up round by round, and returns the sum of what the subgroup has loaded.
Sum scan_rounds() {
    Sum sum = Sum(0);
    [[unroll]] for (uint r = 0u; r < ROUNDS; ++r) {
        if (r < rounds) {
            Sum own = sum_of(value[r]);
            sum_before[r] = add(sum, subgroup_sum_before(own));
            sum = add(sum, subgroup_sum(own));
        }
    }
    return sum;
}

// The same sum alone, sooner.
Sum sum_of_rounds() {
    Sum own = Sum(0);
    [[unroll]] for (uint r = 0u; r < ROUNDS; ++r) {
        if (r < rounds) own = add(own, sum_of(value[r]));
    }
    return subgroup_sum(own);
}

Sums sums_of(uint r, Sum before) {
    Sums sums;
    sums.at[0] = add(before, sum_before[r]);
    sums.at[1] = add(sums.at[0], widen(value[r].at[0], before));
#if IN_BITS == 32
    sums.at[2] = add(sums.at[1], widen(value[r].at[1], before));
    sums.at[3] = add(sums.at[2], widen(value[r].at[2], before));
#endif
    return sums;
}

// Writes count sums at address to; before is the sum of all values before this subgroup's.
void store_tile(uvec2 to, uint count, Sum before) {
    if (full(count)) {
        [[unroll]] for (uint r = 0u; r < ROUNDS; ++r) {
            if (r < rounds) store_all_sums(to, row_of(r), sums_of(r, before));
        }
    } else {
        [[unroll]] for (uint r = 0u; r < ROUNDS; ++r) {
            if (r < rounds && row_of(r) < count) store_rows(to, row_of(r), count, sums_of(r, before));
        }
        store_rest(to, count);
    }
}
