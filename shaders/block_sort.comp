// Sorts each tile by itself, stably.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Inputs: keys_in, words of KEY_BITS[rows]; payload_in, words of PAYLOAD_BITS[rows], absent: the row numbers.
// Outputs: keys_out and payload_out, like the inputs; they overlap no input. PAYLOAD_BITS 0: no payload.
// Source: BlockSort of "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.1.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/block_sort.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Key WORD(KEY_BITS)
#define key_column COLUMN_FROM(KEY_BITS)
#if PAYLOAD_BITS
#define Payload WORD(PAYLOAD_BITS)
#define payload_column COLUMN_FROM(PAYLOAD_BITS)
#endif

#if SERIAL

// Each row is inserted into the output, behind the last of those before it that is not greater.
void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(rows, begin, items);
    COLUMN(KEY_BITS) keys = key_column(keys_in, begin), to_keys = key_column(keys_out, begin);
#if PAYLOAD_BITS
    COLUMN(PAYLOAD_BITS) payload = payload_column(payload_in, begin), to_payload = payload_column(payload_out, begin);
    bool numbered = absent(payload_in);
#endif
    for (uint i = 0u; i < count; ++i) {
        Key key = keys.at[i];
#if PAYLOAD_BITS
        Payload value = widen(begin + i, Payload(0u));
        if (!numbered) value = payload.at[i];
#endif
        uint to = i;
        for (; to > 0u; --to) {
            Key other = to_keys.at[to - 1u];
            if (!less(key, other)) break;
            to_keys.at[to] = other;
#if PAYLOAD_BITS
            to_payload.at[to] = to_payload.at[to - 1u];
#endif
        }
        to_keys.at[to] = key;
#if PAYLOAD_BITS
        to_payload.at[to] = value;
#endif
    }
}

#else

#include "merge.glsl"

// The tile is padded with the greatest key; as the last rows, the padding ends up last. Each invocation sorts items
// neighbouring rows by odd-even transposition, then runs of 1, 2, 4, ... invocations are merged.
void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * tile_rows, count = rows_left(rows, begin, tile_rows);
    COLUMN(KEY_BITS) keys = key_column(keys_in, begin), to_keys = key_column(keys_out, begin);
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        key[k] = Key(~0u);
        if (i < count) key[k] = keys.at[i];
    }
#if PAYLOAD_BITS
    COLUMN(PAYLOAD_BITS) values = payload_column(payload_in, begin), to_payload = payload_column(payload_out, begin);
    bool numbered = absent(payload_in);
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        payload[k] = widen(begin + i, Payload(0u));
        if (!numbered && i < count) payload[k] = values.at[i];
    }
#endif
    put_striped();
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        key[k] = sh_key[INVOCATION * items + k];
        WITH_PAYLOAD(payload[k] = sh_payload[INVOCATION * items + k];)
    }
    [[unroll]] for (uint round = 0u; round < items; ++round) {
        [[unroll]] for (uint k = round & 1u; k + 1u < items; k += 2u) {
            bool swap = less(key[k + 1u], key[k]);
            Key first = swap ? key[k + 1u] : key[k];
            key[k + 1u] = swap ? key[k] : key[k + 1u];
            key[k] = first;
#if PAYLOAD_BITS
            Payload first_value = swap ? payload[k + 1u] : payload[k];
            payload[k + 1u] = swap ? payload[k] : payload[k + 1u];
            payload[k] = first_value;
#endif
        }
    }
    for (uint width = 1u; width < WORKGROUP_SIZE; width *= 2u) { // invocations of a run
        barrier();
        put_blocked();
        uint first = INVOCATION / (2u * width) * 2u * width;
        uint right = min(first + width, WORKGROUP_SIZE) * items, end = min(first + 2u * width, WORKGROUP_SIZE) * items;
        merge_items(first * items, right, end, (INVOCATION - first) * items);
    }
    barrier();
    put_blocked();
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        if (i < count) {
            to_keys.at[i] = sh_key[i];
            WITH_PAYLOAD(to_payload.at[i] = sh_payload[i];)
        }
    }
}

#endif
