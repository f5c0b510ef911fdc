// Reduces tiles: tile_results[tile] = sum (modulo 2^SUM_BITS), minimum, maximum, AND or OR of the values of the tile,
// by op.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Input: values, words of IN_BITS[rows]. Output: tile_results, words of SUM_BITS[tiles]; of an empty tile what changes
// nothing.
// Precondition: SERIAL 0: workgroup*items is a multiple of 4.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/reduce.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Result WORD(SUM_BITS)

Result nothing() { return Result(op == 1u || op == 3u ? ~0u : 0u); }

Result combine(Result a, Result b) {
    if (op == 1u) return less(b, a) ? b : a;
    if (op == 2u) return less(a, b) ? b : a;
    return op == 3u ? a & b : op == 4u ? a | b : add(a, b);
}

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(rows, begin, items);
    COLUMN(IN_BITS) from = COLUMN_FROM(IN_BITS)(values, begin);
    Result result = nothing();
    for (uint i = 0u; i < count; ++i) result = combine(result, widen(from.at[i], result));
    COLUMN_FROM(SUM_BITS)(tile_results, tile).at[0] = result;
}

#else

#extension GL_EXT_control_flow_attributes : require
#include "loads.glsl"
#include "workgroup_reduce.glsl"
DEFINE_WORKGROUP_REDUCE(Result, combine)

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    COLUMN(IN_BITS) from = COLUMN_FROM(IN_BITS)(values, begin);
    uint loads = count / PER_LOAD;
    Result result = nothing();
    for (uint i = INVOCATION; i < loads; i += IN_FLIGHT * WORKGROUP_SIZE) {
        Values value[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < loads) value[k] = load_values(uvec2(from), i + k * WORKGROUP_SIZE);
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < loads) {
                [[unroll]] for (uint j = 0u; j < PER_LOAD; ++j) result = combine(result, widen(value[k].at[j], result));
            }
        }
    }
    for (uint last = loads * PER_LOAD + INVOCATION; last < count; last += WORKGROUP_SIZE)
        result = combine(result, widen(from.at[last], result));
    result = workgroup_reduce(result);
    if (INVOCATION == 0u) COLUMN_FROM(SUM_BITS)(tile_results, tile).at[0] = result;
}

#endif
