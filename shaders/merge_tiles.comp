// Merges sorted runs, stably: left rows come before equal right rows. run 0: the left column with the right one.
// Otherwise both are one column of left_rows rows, of which each run rows are sorted, and each run of even number is
// merged with the next.
// SERIAL 0: one workgroup per tile of workgroup*items output rows. SERIAL 1: one invocation per tile of items output
// rows.
// Inputs: left_keys and right_keys, words of KEY_BITS; left_payload and right_payload, words of PAYLOAD_BITS; splits,
// uint32[tiles] of merge_partition. Outputs: keys_out and payload_out, which overlap no input. PAYLOAD_BITS 0: no
// payload.
// Preconditions: run is 0, or 2*run a multiple of the tile's rows; or, SERIAL 1, these are a multiple of 2*run: splits
// are absent.
// Source: merge path as in "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.1.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/merge_tiles.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "runs.glsl"

#define Key WORD(KEY_BITS)
#define key_column COLUMN_FROM(KEY_BITS)
#if PAYLOAD_BITS
#define Payload WORD(PAYLOAD_BITS)
#define payload_column COLUMN_FROM(PAYLOAD_BITS)
#endif

#if SERIAL

// A side of a merge: its next row, how many are left, and the key of the next one.
struct Side { uvec2 keys, payload; uint at, rows; Key key; };

Key key_of(uvec2 keys, uint at, uint rows) {
    Key key = Key(0u);
    if (rows > 0u) key = key_column(keys, at).at[0];
    return key;
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint left_all = left_rows, right_all = right_rows, run_rows = run;
    uint begin = tile * items, count = rows_left(run == 0u ? left_rows + right_rows : left_rows, begin, items);
    COLUMN(KEY_BITS) to_keys = key_column(keys_out, begin);
#if PAYLOAD_BITS
    COLUMN(PAYLOAD_BITS) to_payload = payload_column(payload_out, begin);
#endif
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left, from_left = 0u;
    if (diagonal > 0u) from_left = column32_from(splits, tile).at[0];
    Side left = Side(left_keys, left_payload, runs.left + from_left, runs.left_rows - from_left, Key(0u));
    Side right = Side(right_keys, right_payload, runs.right + diagonal - from_left,
                      runs.right_rows - (diagonal - from_left), Key(0u));
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    for (uint i = 0u; i < count; ++i) {
        if (left.rows == 0u && right.rows == 0u) { // the next merge of the tile
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = right.rows == 0u || left.rows > 0u && !less(right.key, left.key);
        uint at = is_left ? left.at : right.at, rows = (is_left ? left.rows : right.rows) - 1u;
        to_keys.at[i] = is_left ? left.key : right.key;
#if PAYLOAD_BITS
        to_payload.at[i] = payload_column(is_left ? left.payload : right.payload, at).at[0];
#endif
        ++at;
        Key next = key_of(is_left ? left.keys : right.keys, at, rows);
        if (is_left) {
            left.at = at;
            left.rows = rows;
            left.key = next;
        } else {
            right.at = at;
            right.rows = rows;
            right.key = next;
        }
    }
}

#else

#include "merge.glsl"

// The rows that a tile takes from either side are loaded into shared memory side by side, keys above all others behind
// them: so the right run fills the tile. Each invocation merges items rows, which leave through shared memory in the
// order of the output.
void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * tile_rows;
    Runs runs = runs_at(begin, left_rows, right_rows, run);
    uint diagonal = begin - runs.left, rest = runs.left_rows + runs.right_rows - diagonal, count = min(rest, tile_rows);
    uint from = column32_from(splits, tile).at[0], end = runs.left_rows;
    if (rest > tile_rows) end = column32_from(splits, tile + 1u).at[0];
    uint n = end - from, left = runs.left + from, right = runs.right + diagonal - from;

    COLUMN(KEY_BITS) left_from = key_column(left_keys, left), right_from = key_column(right_keys, right);
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        key[k] = Key(~0u);
        if (i < n) key[k] = left_from.at[i];
        else if (i < count) key[k] = right_from.at[i - n];
    }
#if PAYLOAD_BITS
    COLUMN(PAYLOAD_BITS) left_value = payload_column(left_payload, left),
                         right_value = payload_column(right_payload, right);
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        if (i < n) payload[k] = left_value.at[i];
        else if (i < count) payload[k] = right_value.at[i - n];
    }
#endif
    put_striped();
    merge_items(0u, n, tile_rows, INVOCATION * items);
    barrier();
    put_blocked();

    COLUMN(KEY_BITS) to_keys = key_column(keys_out, begin);
#if PAYLOAD_BITS
    COLUMN(PAYLOAD_BITS) to_payload = payload_column(payload_out, begin);
#endif
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        if (i < count) {
            to_keys.at[i] = sh_key[i];
            WITH_PAYLOAD(to_payload.at[i] = sh_payload[i];)
        }
    }
}

#endif
