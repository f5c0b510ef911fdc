// Finds where the tiles of a merge's output begin: splits[tile] = how many rows of the left run come before the tile's
// first row.
// One invocation per items tiles, a workgroup apart.
// Inputs: left_keys and right_keys, words of KEY_BITS, sorted runs as merge_tiles takes them. Output: splits,
// uint32[tiles].
// Precondition: a tile has tile_rows rows of one merge.
// Source: merge path as in "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.1.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/merge_partition.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "runs.glsl"

#define SERIAL 1 // searches by single invocations only
#include "search.glsl"

#define key_at(column, row) COLUMN_FROM(KEY_BITS)(column, row).at[0]

// Search 0 looks along a diagonal for the number of rows from the left: row i of the left run, which starts at row
// left_first, comes before row d - 1 - i of the right one, which is row right_last - i of its column.
uvec2 left, right;
uint left_first, right_last;

bool before(uint which, uint row) { return !less(key_at(right, right_last - row), key_at(left, left_first + row)); }

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(tiles, begin, WORKGROUP_SIZE * items);
    left = left_keys;
    right = right_keys;
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uint row = (begin + i) * tile_rows;
        Runs runs = runs_at(row, left_rows, right_rows, run);
        uint diagonal = row - runs.left;
        left_first = runs.left;
        right_last = runs.right + diagonal - 1u;
        uint low = diagonal > runs.right_rows ? diagonal - runs.right_rows : 0u;
        column32_from(splits, begin + i).at[0] = search(0u, low, min(diagonal, runs.left_rows));
    }
}
