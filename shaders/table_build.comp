// Puts rows into a hash table in device memory, each into the first free slot behind that of its key, equal keys too.
// One invocation per items rows, a workgroup apart.
// Input: keys, words of KEY_BITS[rows]. In and out: slots, uint32[mask + 1], as in slots.glsl, zero before.
// Accumulated: lost, uint32: rows that found no slot among patience.
// Preconditions: mask + 1 is a power of 2, at most 2^30; there are at most mask rows.
// Source: DIST 3.3, with row ids alone in the table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/table_build.glsl"
#include "group.glsl"
#include "mix.glsl"

#include "slots.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uint hash = hash_of(COLUMN_FROM(KEY_BITS)(keys, begin + i).at[0]),
             entry = hash & ~mask | begin + i + 1u, tries = 0u;
        while (tries < patience && atomicCompSwap(Column32(slots).at[hash + tries & mask], 0u, entry) != 0u) ++tries;
        if (tries == patience) atomicAdd(Column32(lost).at[0], 1u);
    }
}
