// Finds which bits of a column vary, and whether it is sorted: bits = (bits[0] AND all keys, bits[1] OR all keys,
// bits[2] + the number of keys that are less than the one before).
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Input: keys, words of KEY_BITS[rows]. In and out: bits, words of KEY_BITS[3], of the last one the low 32 bits.
// Precondition: SERIAL 0: workgroup*items is a multiple of 4.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/varying_bits.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define IN_BITS KEY_BITS
#define Key WORD(KEY_BITS)

// The AND and the OR of some keys, and how many of them are less than the one before.
struct Bits { Key all, any; uint descents; };

Bits combine(Bits a, Bits b) { return Bits(a.all & b.all, a.any | b.any, a.descents + b.descents); }
Bits bits_of(Key key, Key before) { return Bits(key, key, uint(less(key, before))); }

// The key before row row of the tile that starts at row begin; that of the column's first row is the same one.
Key key_before(uint begin, uint row) {
    uint none = uint(begin == 0u && row == 0u);
    return COLUMN_FROM(KEY_BITS)(keys, begin - uint(begin > 0u)).at[row + none - uint(begin == 0u)];
}

void write(Bits found) {
    Column32 to = column32_from(bits, 0u);
#if KEY_BITS == 64
    atomicAnd(to.at[0], found.all.x);
    atomicAnd(to.at[1], found.all.y);
    atomicOr(to.at[2], found.any.x);
    atomicOr(to.at[3], found.any.y);
    if (found.descents > 0u) atomicAdd(to.at[4], found.descents);
#else
    atomicAnd(to.at[0], found.all);
    atomicOr(to.at[1], found.any);
    if (found.descents > 0u) atomicAdd(to.at[2], found.descents);
#endif
}

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(rows, begin, items);
    COLUMN(KEY_BITS) from = COLUMN_FROM(KEY_BITS)(keys, begin);
    Bits found = Bits(Key(~0u), Key(0u), 0u);
    Key before = count > 0u ? key_before(begin, 0u) : Key(0u);
    for (uint i = 0u; i < count; ++i) {
        Key key = from.at[i];
        found = combine(found, bits_of(key, before));
        before = key;
    }
    write(found);
}

#else

#extension GL_EXT_control_flow_attributes : require
#include "loads.glsl"
#include "workgroup_reduce.glsl"
DEFINE_WORKGROUP_REDUCE(Bits, combine)

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    COLUMN(KEY_BITS) from = COLUMN_FROM(KEY_BITS)(keys, begin);
    uint loads = count / PER_LOAD;
    Bits found = Bits(Key(~0u), Key(0u), 0u);
    for (uint i = INVOCATION; i < loads; i += IN_FLIGHT * WORKGROUP_SIZE) {
        Values value[IN_FLIGHT];
        Key before[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            uint load = min(i + k * WORKGROUP_SIZE, loads - 1u);
            value[k] = load_values(uvec2(from), load);
            before[k] = key_before(begin, load * PER_LOAD);
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE >= loads) break;
            found = combine(found, bits_of(value[k].at[0], before[k]));
            [[unroll]] for (uint j = 1u; j < PER_LOAD; ++j)
                found = combine(found, bits_of(value[k].at[j], value[k].at[j - 1u]));
        }
    }
    for (uint last = loads * PER_LOAD + INVOCATION; last < count; last += WORKGROUP_SIZE)
        found = combine(found, bits_of(from.at[last], key_before(begin, last)));
    found = workgroup_reduce(found);
    if (INVOCATION == 0u) write(found);
}

#endif
