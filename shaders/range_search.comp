// Finds for each left key the range of equal right keys: begins[i] = the first row on the right whose key is not less than
// left_keys[i], counts[i] = how many are equal; tile_totals[tile] = sum of the counts of the tile, 64 bits.
// SERIAL 0: one workgroup per tile of workgroup*items left rows. SERIAL 1: one invocation per tile of items left rows.
// Inputs: left_keys and right_keys, words of KEY_BITS, sorted ascending. Outputs: begins and counts, uint32[left_rows], both or
// none; tile_totals, uint64[tiles].
// Precondition: SERIAL 0: an even number of invocations.
// Source: the range search of "Efficiently Joining Large Relations on Multi-GPU Systems with Modern Interconnects", section 3.3.3.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Key WORD(KEY_BITS)
#define key_column COLUMN_FROM(KEY_BITS)

layout(push_constant) uniform Push {
    uvec2 left_keys, right_keys, begins, counts, tile_totals;
    uint left_rows, right_rows, tiles;
    GROUP_RANGE
};

#include "search.glsl"

// Search 0 looks for the first key that is not less than low_key, search 1 for the first one greater than high_key.
Key low_key, high_key;
uvec2 right;

bool before(uint which, uint row) {
    Key key = key_column(right, row).at[0];
    return which == 0u ? less(key, low_key) : !less(high_key, key);
}

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(left_rows, begin, items);
    COLUMN(KEY_BITS) keys = key_column(left_keys, begin);
    Column32 to_begins = column32_from(begins, begin), to_counts = column32_from(counts, begin);
    bool count_only = absent(begins);
    uint from = 0u, to = 0u, end = right_rows;
    uvec2 total = uvec2(0u);
    right = right_keys;
    for (uint i = 0u; i < count; ++i) {
        Key key = keys.at[i];
        if (i == 0u || key != low_key) {
            low_key = high_key = key;
            from = i == 0u ? search(0u, 0u, end) : gallop(0u, to, end);
            to = gallop(1u, from, end);
        }
        if (!count_only) {
            to_begins.at[i] = from;
            to_counts.at[i] = to - from;
        }
        total = add(total, uvec2(to - from, 0u));
    }
    column64_from(tile_totals, tile).at[0] = total;
}

#else

#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uvec2)

// The first and the last key of the tile bound the right rows that it can meet; each key is then searched among those.
void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(left_rows, begin, WORKGROUP_SIZE * items);
    COLUMN(KEY_BITS) keys = key_column(left_keys, begin);
    Column32 to_begins = column32_from(begins, begin), to_counts = column32_from(counts, begin);
    bool count_only = absent(begins);
    uvec2 total = uvec2(0u);
    right = right_keys;
    if (count > 0u) {
        low_key = keys.at[0];
        high_key = keys.at[count - 1u];
    }
    uvec2 range = workgroup_search(count > 0u ? right_rows : 0u);
    uint from = range.x;
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        low_key = high_key = keys.at[i];
        from = search(0u, from, range.y);
        uint n = gallop(1u, from, range.y) - from;
        if (!count_only) {
            to_begins.at[i] = from;
            to_counts.at[i] = n;
        }
        total = add(total, uvec2(n, 0u));
    }
    uvec2 all;
    workgroup_sum(subgroup_sum(total), all);
    if (INVOCATION == 0u) column64_from(tile_totals, tile).at[0] = all;
}

#endif
