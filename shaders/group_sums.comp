// Counts rows and adds up integers by codes. One workgroup per unit of rows and range of codes: slots codes, with sums
// in shared memory, in copies for neighbouring invocations: the words of a value, above them a signed word that counts
// carries less negative values, and a count. Inputs: codes, uint32[rows]; units, 4 uint32 each: first row, end, base
// of its codes, and whether no other unit has these codes; without units, tiles of rows; places, uint32 for each slot
// of each unit, or absent, with which codes are slots; value, value_2, valid: see group_values.glsl. Accumulated:
// counts, state and state_2, uint64 for each code or place; marks, a bitmap of codes. Each may be absent.
// Preconditions: slots is a power of 2 whose words fit in TABLE.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/group_sums.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "group_unit.glsl"

shared uint sh_sums[table];

#define AHEAD 4u // rows of an invocation whose loads are in flight together
#define VALUE_WORDS (VALUE_BITS / 32)
#define SIGNED 0u

uint sum_words() { return VALUE_WORDS == 0 || VALUE_WORDS == 4 ? VALUE_WORDS : VALUE_WORDS + carried; }

#if VALUE_BITS == 32
uvec4 load_value(uint row) {
    uint a = column32_from(value, row).at[0] >> shift & ~0u >> 32u - bits;
    uint fill = kind == SIGNED ? 0u - (a >> bits - 1u & 1u) : 0u;
    return uvec4(bits < 32u ? a | fill << bits : a, fill, fill, fill);
}
#elif VALUE_BITS == 64
uvec4 load_value(uint row) {
    uvec2 a = column64_from(value, row).at[0];
    uint fill = kind == SIGNED ? 0u - (a.y >> 31) : 0u;
    return uvec4(a, fill, fill);
}
#elif VALUE_BITS == 128
uvec4 load_value(uint row) {
    return uvec4(column64_from(value, row).at[0], column64_from(value_2, row).at[0]);
}
#else
uvec4 load_value(uint row) { return uvec4(0u); }
#endif

// Adds a word to one of shared memory and returns the carry.
uint add_word(uint at, uint word) { return atomicAdd(sh_sums[at], word) > ~word ? 1u : 0u; }

// Adds a row to an entry of entries.
void add_shared(uint entry, uint entries, uvec4 a) {
    if (counted == 1u) atomicAdd(sh_sums[sum_words() * entries + entry], 1u);
#if VALUE_WORDS == 1
    uint carry = add_word(entry, a.x);
    if (carried == 1u && carry + a.w != 0u) atomicAdd(sh_sums[entries + entry], carry + a.w);
#elif VALUE_WORDS == 2
    uint carry = add_word(entry, a.x);
    uint high = a.y + carry; // all ones and a carry add nothing and carry on
    if (high >= carry) carry = high == 0u ? 0u : add_word(entries + entry, high);
    if (carried == 1u && carry + a.w != 0u) atomicAdd(sh_sums[2u * entries + entry], carry + a.w);
#elif VALUE_WORDS == 4
    uint carry = add_word(entry, a.x);
    for (uint k = 1u; k < 4u; ++k) {
        uint word = a[k] + carry;
        if (word >= carry) carry = add_word(k * entries + entry, word);
    }
#endif
}

// The sum of an entry, whose high words are the fill of the carries.
uvec4 sum_of(uint entry, uint entries) {
    uvec4 a = uvec4(0u);
    uint words = sum_words();
    for (uint k = 0u; k < words; ++k) a[k] = sh_sums[k * entries + entry];
    uint fill = words == 0u ? 0u : 0u - (a[words - 1u] >> 31);
    for (uint k = words; k < 4u; ++k) a[k] = fill;
    return a;
}

uvec4 add_128(uvec4 a, uvec4 b) {
    uvec2 low = add(a.xy, b.xy), high = add(a.zw, b.zw);
    return uvec4(low, less(low, a.xy) ? add(high, uvec2(1u, 0u)) : high);
}

// Adds a number to two 64-bit columns, of which the second may be absent.
void add_global(uvec2 low_column, uvec2 high_column, uint place, uvec4 a) {
    Column32 low = column32_from(low_column, 2u * place);
    uint carry = a.x == 0u ? 0u : atomicAdd(low.at[0], a.x) > ~a.x ? 1u : 0u;
    uint word = a.y + carry;
    if (word >= carry) carry = word == 0u ? 0u : atomicAdd(low.at[1], word) > ~word ? 1u : 0u;
    if (absent(high_column)) return;
    Column32 high = column32_from(high_column, 2u * place);
    word = a.z + carry;
    if (word >= carry) carry = word == 0u ? 0u : atomicAdd(high.at[0], word) > ~word ? 1u : 0u;
    word = a.w + carry;
    if (word != 0u) atomicAdd(high.at[1], word);
}

void flush(uint place, uint rows_of, uvec4 sum, bool whole) {
    if (rows_of != 0u && !absent(marks)) atomicOr(column32_from(marks, place / 32u).at[0], 1u << place % 32u);
    if (whole) {
        if (!absent(counts)) column64_from(counts, place).at[0] = uvec2(rows_of, 0u);
        if (!absent(state)) column64_from(state, place).at[0] = sum.xy;
        if (!absent(state_2)) column64_from(state_2, place).at[0] = sum.zw;
        return;
    }
    if (!absent(counts) && rows_of != 0u) add_global(counts, uvec2(0u), place, uvec4(rows_of, 0u, 0u, 0u));
    if (!absent(state) && sum != uvec4(0u)) add_global(state, state_2, place, sum);
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    Unit unit = unit_of(units, group / ranges, rows, WORKGROUP_SIZE * items);
    uint own_slots = slots, own_base = absent(places) ? unit.base + group % ranges * own_slots : 0u;
    uint words = sum_words() + counted;
    uint copies = 1u; // a power of 2
    while (2u * copies * words * own_slots <= table && copies < 32u) copies *= 2u;
    uint entries = own_slots * copies, copy = INVOCATION & copies - 1u;
    for (uint i = INVOCATION; i < words * entries; i += WORKGROUP_SIZE) sh_sums[i] = 0u;
    barrier();
    Column32 from = column32_from(codes, unit.first);
    bool all_valid = absent(valid);
    uint bit = valid_bit;
    for (uint begin = INVOCATION; begin < unit.rows; begin += AHEAD * WORKGROUP_SIZE) {
        uint slot[AHEAD];
        uvec4 a[AHEAD];
        [[unroll]] for (uint k = 0u; k < AHEAD; ++k) {
            uint i = begin + k * WORKGROUP_SIZE, at = min(i, unit.rows - 1u);
            slot[k] = i == at ? from.at[at] - own_base : ~0u;
            a[k] = load_value(unit.first + at);
        }
        if (!all_valid) {
            [[unroll]] for (uint k = 0u; k < AHEAD; ++k) {
                uint at = min(begin + k * WORKGROUP_SIZE, unit.rows - 1u);
                if ((column32_from(valid, unit.first + at).at[0] >> bit & 1u) == 0u) slot[k] = ~0u;
            }
        }
        [[unroll]] for (uint k = 0u; k < AHEAD; ++k) {
            if (slot[k] < own_slots) add_shared(slot[k] * copies + copy, entries, a[k]);
        }
    }
    barrier();
    for (uint slot = INVOCATION; slot < own_slots; slot += WORKGROUP_SIZE) {
        uint place = absent(places) ? own_base + slot : column32_from(places, group * own_slots + slot).at[0];
        if (place == ~0u) continue;
        uvec4 sum = uvec4(0u);
        uint rows_of = 0u;
        for (uint k = 0u; k < copies; ++k) {
            uint entry = slot * copies + k;
            sum = add_128(sum, sum_of(entry, entries));
            if (counted == 1u) rows_of += sh_sums[sum_words() * entries + entry];
        }
        flush(place, rows_of, sum, unit.whole || !absent(places));
    }
}
