// Finds for each tile of right rows of a merge join which left rows its keys can meet, and how many pieces these make.
// One invocation per items tiles, a workgroup apart, each of which searches for the first and the last key of its tile.
// Inputs: left_keys and right_keys, words of KEY_BITS, sorted ascending. Outputs: left_bounds and right_bounds,
// uint32[2 * tiles]: of each tile the first row and the one behind its last; counts, uint32[tiles].
// Preconditions: tiles is right_rows / tile_rows, rounded up; piece_rows is not 0.
// Source: "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.2.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/merge_units.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Key WORD(KEY_BITS)
#define key_at(column, row) COLUMN_FROM(KEY_BITS)(column, row).at[0]

#define SERIAL 1 // searches by single invocations only
#include "search.glsl"

// Search 0 looks for the first left key that is not less than low_key, search 1 for the first one greater than
// high_key.
Key low_key, high_key;
uvec2 left;

bool before(uint which, uint row) {
    Key key = key_at(left, row);
    return which == 0u ? less(key, low_key) : !less(high_key, key);
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(tiles, begin, WORKGROUP_SIZE * items);
    left = left_keys;
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uint tile = begin + i, first = tile * tile_rows, end = first + min(right_rows - first, tile_rows);
        low_key = key_at(right_keys, first);
        high_key = key_at(right_keys, end - 1u);
        uint low = search(0u, 0u, left_rows), high = search(1u, low, left_rows);
        column64_from(left_bounds, tile).at[0] = uvec2(low, high);
        column64_from(right_bounds, tile).at[0] = uvec2(first, end);
        column32_from(counts, tile).at[0] = (high - low) / piece_rows + uint((high - low) % piece_rows > 0u);
    }
}
