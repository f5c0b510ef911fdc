// Numbers the keys of units of rows by first appearance: rows of a unit with equal keys get the same number.
// One invocation per unit, items of them one after the other, with a table in device memory.
// Inputs: keys, words of KEY_BITS; units, uint32[count+1], the first row of each and the end. Outputs: ids, uint32 for
// each row; counts, uint32[count]. Accumulated: flushes, uint32[1]. Scratch: table, slots pairs of words of KEY_BITS
// for each invocation, 0 before and afterwards: a key, and 1 + its number. Preconditions: slots is a power of 2; dense
// 1: keys are below slots.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/group_ids.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Key WORD(KEY_BITS)

uint hash_of(uint key) {
    uint hash = key * 0x9e3779b9u;
    return (hash ^ hash >> 16) * 0x85ebca6bu;
}
uint hash_of(uvec2 key) { return hash_of(key.x ^ key.y * 0x85ebca6bu); }
uint low(uint key) { return key; }
uint low(uvec2 key) { return key.x; }

void clear_slots(COLUMN(KEY_BITS) slot, uint used) {
    for (uint i = 0u; i < 2u * used; ++i) slot.at[i] = Key(0);
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    COLUMN(KEY_BITS) slot = COLUMN_FROM(KEY_BITS)(table, (group * WORKGROUP_SIZE + INVOCATION) * 2u * slots);
    uint all_flushes = 0u;
    for (uint k = 0u; k < items; ++k) {
        uint unit = (group * items + k) * WORKGROUP_SIZE + INVOCATION;
        if (unit >= count) break;
        uint first = column32_from(units, unit).at[0], rows = column32_from(units, unit).at[1] - first;
        COLUMN(KEY_BITS) from = COLUMN_FROM(KEY_BITS)(keys, first);
        Column32 to = column32_from(ids, first);
        uint used_slots = slots;
        if (dense == 0u && rows < slots / 2u) used_slots = max(2u, 2u << uint(findMSB(rows) + 1));
        uint shift = 32u - uint(findMSB(used_slots)), most = used_slots - used_slots / 4u;
        uint used = 0u, found = 0u;
        for (uint i = 0u; i < rows; ++i) {
            Key key = from.at[i];
            uint start = dense == 1u ? low(key) : hash_of(key) >> shift, at = start;
            uint id = low(slot.at[2u * at + 1u]);
            for (uint tries = 0u; dense == 0u && id != 0u && slot.at[2u * at] != key && tries < used_slots; ++tries) {
                at = at + 1u & used_slots - 1u;
                id = low(slot.at[2u * at + 1u]);
            }
            if (id == 0u) {
                if (dense == 0u && used == most) {
                    clear_slots(slot, used_slots);
                    used = 0u;
                    ++all_flushes;
                    at = start;
                }
                ++used;
                id = ++found;
                if (dense == 0u) slot.at[2u * at] = key;
                slot.at[2u * at + 1u] = widen(id, Key(0));
            }
            to.at[i] = id - 1u;
        }
        column32_from(counts, unit).at[0] = found;
        clear_slots(slot, used_slots);
    }
    if (all_flushes > 0u) atomicAdd(Column32(flushes).at[0], all_flushes);
}
