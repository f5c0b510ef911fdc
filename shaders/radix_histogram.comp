// Counts the digits of tiles: counts[digit*tiles + tile] = rows of the tile with that digit, for digits below 2^bits.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Input: keys, words of KEY_BITS[rows]; narrow as in narrow.glsl. Output: counts, uint32[2^bits * tiles]. Accumulated:
// high, absent unless keys are narrow.
// Preconditions: bits is 1 to 8, or with SERIAL 1 2^bits is at most digits; a digit as in digit.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/radix_histogram.glsl"
#include "group.glsl"
#include "digit.glsl"
#include "mix.glsl"

#include "narrow.glsl"

uint digit_at(WORD(KEY_BITS) key, uint own_seed, Digit place) {
    return digit_of(mixed == 0u ? key : mix_of(key, own_seed), place);
}

#if SERIAL

shared uint sh_count[digits * WORKGROUP_SIZE]; // [digit][invocation]

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint digits = 1u << bits;
    Digit place = Digit(shift, digits - 1u);
    for (uint digit = 0u; digit < digits; ++digit) sh_count[digit * WORKGROUP_SIZE + INVOCATION] = 0u;
    uint begin = tile * items, count = rows_left(rows, begin, items), own_seed = seed;
    COLUMN(KEY_BITS) from = COLUMN_FROM(KEY_BITS)(keys, begin << narrow);
    uint expected = narrow == 1u ? Column32(high).at[0] : 0u, differing = 0u;
    for (uint i = 0u; i < count; ++i) {
        differing |= DIFFERING(from, i, expected);
        ++sh_count[digit_at(from.at[i << narrow], own_seed, place) * WORKGROUP_SIZE + INVOCATION];
    }
    report(high, differing);
    for (uint digit = 0u; digit < digits; ++digit) {
        column32_from(counts, digit * tiles + tile).at[0] = sh_count[digit * WORKGROUP_SIZE + INVOCATION];
    }
}

#else

#extension GL_EXT_control_flow_attributes : require

// Neighbours count in different copies, so that equal digits meet at fewer counters.
#define COPIES 4u
#define IN_FLIGHT 8u // keys of an invocation whose loads overlap
shared uint sh_count[max_digits * COPIES]; // [digit][copy]

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint digits = 1u << bits, copy = INVOCATION % COPIES;
    Digit place = Digit(shift, digits - 1u);
    for (uint i = INVOCATION; i < digits * COPIES; i += WORKGROUP_SIZE) sh_count[i] = 0u;
    barrier();
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    COLUMN(KEY_BITS) from = COLUMN_FROM(KEY_BITS)(keys, begin << narrow);
    uint expected = narrow == 1u ? Column32(high).at[0] : 0u, differing = 0u;
    for (uint i = INVOCATION; i < count; i += IN_FLIGHT * WORKGROUP_SIZE) {
        WORD(KEY_BITS) key[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < count) {
                key[k] = from.at[i + k * WORKGROUP_SIZE << narrow];
                differing |= DIFFERING(from, i + k * WORKGROUP_SIZE, expected);
            }
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < count) atomicAdd(sh_count[digit_at(key[k], seed, place) * COPIES + copy], 1u);
        }
    }
    report(high, differing);
    barrier();
    for (uint digit = INVOCATION; digit < digits; digit += WORKGROUP_SIZE) {
        uint sum = 0u;
        [[unroll]] for (uint c = 0u; c < COPIES; ++c) sum += sh_count[digit * COPIES + c];
        column32_from(counts, digit * tiles + tile).at[0] = sum;
    }
}

#endif
