// Finds the keys of each unit of rows by a hash table in shared memory, with linear probing. One workgroup per unit.
// Inputs: keys, words of KEY_BITS[rows]; units as in group_unit.glsl. Outputs: ids, uint32[rows], the slot of the key
// of a row; places, uint32 for each slot of each unit: where in keys_out its key is, or ~0. Accumulated: keys_out,
// words of KEY_BITS[room]; found, uint32[2]: keys, and failures. Preconditions: slots is a power of 2; with digit, at
// least 2, keys are mixed with seed, and that many low bits of those of a unit are its base.
//
// The words of a key are put into a slot one after the other: who finds the first word there, or puts it there, goes on
// to the second. A word that is there stays. So equal keys meet in one slot, and nobody waits for a second word. 0
// marks a free slot; bits that are known from the partition make room for that.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/group_table.glsl"
#include "group.glsl"
#include "mix.glsl"
#include "group_unit.glsl"

#define Key WORD(KEY_BITS)
#define AHEAD 4u

shared uint sh_table[slots * KEY_BITS / 32];
shared uint sh_count, sh_first, sh_failures;

// The words of a slot; none of them is 0, unless there is no digit.
#if KEY_BITS == 64
uvec2 packed_of(uvec2 key) {
    if (digit == 0u) return key;
    return uvec2(key.x & ~3u | key.y >> 30 & 2u | 1u, key.y << 1 | 1u);
}
// Bits of two words are put together by sums, because lavapipe (Mesa 22.3) gets a & mask | b & ~mask wrong.
uvec2 unpacked(uvec2 a, uint known) {
    return digit == 0u ? a : uvec2(a.x - (a.x & 3u) + (known & 3u), a.y >> 1 | (a.x & 2u) << 30);
}
bool is_free(uvec2 a) { return a.x == 0u || a.y == 0u; }
uint hash_of(uvec2 key) { return key.y; }
#else
uint packed_of(uint key) { return digit == 0u ? key : key | 1u; }
uint unpacked(uint a, uint known) { return digit == 0u ? a : a - 1u + (known & 1u); }
bool is_free(uint a) { return a == 0u; }
uint hash_of(uint key) { return key >> digit; }
#endif

// Offers a word to one of the table, and tells whether it is there.
bool offer(uint at, uint word) {
    uint held = sh_table[at];
    if (held == 0u) held = atomicCompSwap(sh_table[at], 0u, word);
    return held == 0u || held == word;
}

// The slot of a key, or slots if there is none.
uint slot_of(Key key) {
    Key a = packed_of(key);
    if (is_free(a)) return slots;
    uint at = hash_of(key) & slots - 1u;
    for (uint tries = 0u; tries < patience; ++tries) {
#if KEY_BITS == 64
        if (offer(at, a.x) && offer(slots + at, a.y)) return at;
#else
        if (offer(at, a)) return at;
#endif
        at = at + 1u & slots - 1u;
    }
    return slots;
}

Key held_key(uint slot) {
#if KEY_BITS == 64
    return uvec2(sh_table[slot], sh_table[slots + slot]);
#else
    return sh_table[slot];
#endif
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    Unit unit = unit_of(units, group, rows, WORKGROUP_SIZE * items);
    if (INVOCATION == 0u) {
        sh_count = 0u;
        sh_failures = 0u;
    }
    for (uint i = INVOCATION; i < slots * KEY_BITS / 32u; i += WORKGROUP_SIZE) sh_table[i] = 0u;
    barrier();
    COLUMN(KEY_BITS) from = COLUMN_FROM(KEY_BITS)(keys, unit.first);
    Column32 to = column32_from(ids, unit.first);
    bool mixes = digit == 0u;
    for (uint begin = INVOCATION; begin < unit.rows; begin += AHEAD * WORKGROUP_SIZE) {
        Key key[AHEAD];
        [[unroll]] for (uint k = 0u; k < AHEAD; ++k) key[k] = from.at[min(begin + k * WORKGROUP_SIZE, unit.rows - 1u)];
        for (uint k = 0u; k < AHEAD; ++k) {
            uint i = begin + k * WORKGROUP_SIZE;
            if (i >= unit.rows) break;
            uint slot = slot_of(mixes ? mix_of(key[k], seed) : key[k]);
            if (slot == slots) atomicAdd(sh_failures, 1u);
            to.at[i] = slot & slots - 1u;
        }
    }
    barrier();
    uint own = 0u; // keys
    for (uint slot = INVOCATION; slot < slots; slot += WORKGROUP_SIZE) own += is_free(held_key(slot)) ? 0u : 1u;
    uint own_first = atomicAdd(sh_count, own);
    barrier();
    if (INVOCATION == 0u) {
        uint count = sh_count, first = atomicAdd(column32_from(found, 0u).at[0], count), failures = sh_failures;
        if (first + count > room) ++failures;
        if (failures > 0u) atomicAdd(column32_from(found, 1u).at[0], failures);
        sh_first = first;
    }
    barrier();
    uint place = sh_first + own_first;
    Column32 places_of = column32_from(places, group * slots);
    for (uint slot = INVOCATION; slot < slots; slot += WORKGROUP_SIZE) {
        Key a = held_key(slot);
        bool taken = !is_free(a) && place < room;
        places_of.at[slot] = taken ? place : ~0u;
        if (!taken) continue;
        COLUMN_FROM(KEY_BITS)(keys_out, place).at[0] = unmix_of(unpacked(a, unit.base), seed);
        ++place;
    }
}
