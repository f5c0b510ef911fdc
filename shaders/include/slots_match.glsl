// Lookups in a hash table in device memory that table_build has made.
// A kernel with this file has the constant patience and the push constants slots, left_keys and mask.
#include "slots.glsl"

// 1 + the slot of the first row with the key from so many tries on; 0: none.
uint match_of(Key key, uint hash, uint tries) {
    for (; tries < patience; ++tries) {
        uint slot = hash + tries & mask, entry = Column32(slots).at[slot];
        if (entry == 0u) return 0u;
        if (((entry ^ hash) & ~mask) != 0u) continue;
        if (COLUMN_FROM(KEY_BITS)(left_keys, (entry & mask) - 1u).at[0] == key) return slot + 1u;
    }
    return 0u;
}

// The left row in a slot, of which 1 + the number is given.
uint left_row(uint at) { return (Column32(slots).at[at - 1u] & mask) - 1u; }

uint first_match(Key key) { return match_of(key, hash_of(key), 0u); }
uint next_match(Key key, uint at) {
    uint hash = hash_of(key);
    return match_of(key, hash, (at - hash & mask)); // at is one slot further than the match
}
