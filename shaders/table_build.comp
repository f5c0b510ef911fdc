// Puts rows into a hash table in device memory, each into the first free slot behind that of its key. With distinct = 0
// equal keys take a slot each; with 1 only the first of them to come does, and the others are counted.
// One invocation per items rows, a workgroup apart.
// Input: keys, words of KEY_BITS[rows]. In and out: slots, uint32[mask + 1], as in slots.glsl, zero before.
// Accumulated: lost, uint32: how many rows found no slot among patience; lost_rows, a bitmap: these rows; repeats,
// uint32[rows], with distinct = 1 alone: of the rows in slots, how many others have the key.
// Preconditions: mask + 1 is a power of 2, at most 2^30; there are at most mask rows.
// Source: DIST 3.3, with row ids alone in the table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/table_build.glsl"
#include "group.glsl"
#include "mix.glsl"
#include "slots.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) coherent volatile buffer Taken { uint at[]; };

// What a slot holds once the entry was offered to it: 0 where that is the entry, and for good otherwise. Rows with a
// frequent key find its slot taken and wait for no exchange.
uint offer(uint slot, uint entry) {
    uint held = distinct == 1u ? Taken(slots).at[slot] : 0u;
    return held == 0u ? atomicCompSwap(Column32(slots).at[slot], 0u, entry) : held;
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, begin + i).at[0];
        uint hash = hash_of(key), entry = hash & ~mask | begin + i + 1u, tries = 0u;
        for (; tries < patience; ++tries) {
            uint held = offer(hash + tries & mask, entry);
            if (held == 0u) break;
            if (distinct == 0u || ((held ^ hash) & ~mask) != 0u) continue;
            uint row = (held & mask) - 1u;
            if (COLUMN_FROM(KEY_BITS)(keys, row).at[0] != key) continue;
            atomicAdd(column32_from(repeats, row).at[0], 1u);
            break;
        }
        if (tries < patience) continue;
        uint row = begin + i;
        atomicAdd(Column32(lost).at[0], 1u);
        atomicOr(column32_from(lost_rows, row / 32u).at[0], 1u << row % 32u);
    }
}
