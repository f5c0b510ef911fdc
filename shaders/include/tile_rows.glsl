// The rows of a tile of workgroup*items rows in registers: a subgroup takes rows that lie side by side, in rounds, in
// each of which its invocations load and store 16 bytes or more side by side; with SHARED 1 the whole workgroup does. A
// kernel with this file defines Sum before.
//
// Loops over rounds have the literal length ROUNDS and no loop inside, so that spirv-opt unrolls them: NVIDIA's
// compiler (driver 580) gives subgroup sums in a loop whose length is a specialization constant the result of the first
// round.
// Preconditions: items is at most 32; workgroup is a multiple of 4, and of the subgroup's size where it is larger than
// that.
#extension GL_EXT_control_flow_attributes : require
#include "loads.glsl"
#if !SHARED
#extension GL_KHR_shader_subgroup_shuffle : require
#include "subgroup_sum.glsl"
#endif

#define ROUNDS (32u / PER_LOAD)
const uint rounds = (items + PER_LOAD - 1u) / PER_LOAD;

// The first row of an invocation's round in the tile.
uint row_of(uint round) {
#if SHARED
    return (round * WORKGROUP_SIZE + INVOCATION) * PER_LOAD;
#else
    uint invocations = min(gl_SubgroupSize, WORKGROUP_SIZE);
    return ((gl_SubgroupID * rounds + round) * invocations + gl_SubgroupInvocationID) * PER_LOAD;
#endif
}

// Loads 16 bytes of which some may lie behind the last row, never beyond the next multiple of 16 bytes: such values
// count as 0.
Values load_rows(uvec2 from, uint row, uint count) {
    if (row >= count) return no_values();
    Values rows = load_values(from, row / PER_LOAD);
    if (count - row < 2u) rows.at[1] = Value(0);
#if IN_BITS == 32
    if (count - row < 3u) rows.at[2] = Value(0);
    if (count - row < 4u) rows.at[3] = Value(0);
#endif
    return rows;
}

Sum sum_of(Values rows) {
    Sum sum = add(widen(rows.at[0], Sum(0)), widen(rows.at[1], Sum(0)));
#if IN_BITS == 32
    sum = add(sum, add(widen(rows.at[2], sum), widen(rows.at[3], sum)));
#endif
    return sum;
}

struct Sums { Sum at[PER_LOAD]; };

void store_sums(uvec2 to, uint row, Sums sums) {
#if SUM_BITS == 32
    Column128(to).at[row / 4u] = uvec4(sums.at[0], sums.at[1], sums.at[2], sums.at[3]);
#else
    Column128(to).at[row / 2u] = uvec4(sums.at[0], sums.at[1]);
#if IN_BITS == 32
    Column128(to).at[row / 2u + 1u] = uvec4(sums.at[2], sums.at[3]);
#endif
#endif
}

#if !SHARED
// The same where all invocations of the subgroup store: neighbours exchange halves of 32 bytes, so that each store
// writes whole sectors.
void store_all_sums(uvec2 to, uint row, Sums sums) {
#if SUM_BITS == 64 && IN_BITS == 32
    bool odd = (gl_SubgroupInvocationID & 1u) == 1u;
    uvec4 low = uvec4(sums.at[0], sums.at[1]), high = uvec4(sums.at[2], sums.at[3]);
    uvec4 other = subgroupShuffleXor(odd ? low : high, 1u);
    Column128(to).at[odd ? row / 2u - 1u : row / 2u] = odd ? other : low;
    Column128(to).at[odd ? row / 2u + 1u : row / 2u + 2u] = odd ? high : other;
#else
    store_sums(to, row, sums);
#endif
}
#endif

// A round that is not full waits for store_rest; one invocation has such a one, its last.
Sums rest;
uint rest_row = ~0u;

void store_rows(uvec2 to, uint row, uint count, Sums sums) {
    if (count - row < PER_LOAD) {
        rest = sums;
        rest_row = row;
    } else {
        store_sums(to, row, sums);
    }
}

void store_rest(uvec2 to, uint count) {
    if (rest_row == ~0u) return;
    COLUMN(SUM_BITS) column = COLUMN(SUM_BITS)(to);
    column.at[rest_row] = rest.at[0];
#if IN_BITS == 32
    if (count - rest_row > 1u) column.at[rest_row + 1u] = rest.at[1];
    if (count - rest_row > 2u) column.at[rest_row + 2u] = rest.at[2];
#endif
}
