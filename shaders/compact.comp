// Keeps the rows whose bit is set, or with inverted = 1 those whose bit is not, in their order: row i goes to
// offsets[tile] + the number of rows of the tile before it that are kept.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Inputs: bits, a bitmap of rows bits; offsets, uint64[tiles], each below 2^32; values, words of VALUE_BITS[rows],
// absent: the row numbers (VALUE_BITS 32); mixed 1: keys that were mixed with seed, which are turned back.
// Output: kept, words of VALUE_BITS, as many as rows are kept; it overlaps no input.
// Preconditions: SERIAL 0: workgroup*items is a multiple of 32, items at most 32.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/compact.glsl"
#include "group.glsl"
#include "bitmap.glsl"
#include "mix.glsl"

#define Value WORD(VALUE_BITS)

Value kept_value(Value value) { return mixed == 1u ? unmix_of(value, seed) : value; }

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(rows, begin, items);
    COLUMN(VALUE_BITS) from = COLUMN_FROM(VALUE_BITS)(values, begin);
    COLUMN(VALUE_BITS) to = COLUMN_FROM(VALUE_BITS)(kept, column64_from(offsets, tile).at[0].x);
    bool numbered = absent(values);
    uvec2 bitmap = bits;
    uint word = 0u, n = 0u;
    for (uint i = 0u; i < count; ++i) {
        uint row = begin + i;
        if (i == 0u || row % 32u == 0u) word = column32_from(bitmap, row / 32u).at[0];
        if ((word >> row % 32u & 1u) == inverted) continue;
        if (numbered) to.at[n] = Value(row); else to.at[n] = kept_value(from.at[i]);
        ++n;
    }
}

#else

#extension GL_EXT_control_flow_attributes : require
#include "uint64.glsl"
#if SHARED
#include "workgroup_scan.glsl"
DEFINE_SCANNED(uint, 2u * WORKGROUP_SIZE)
DEFINE_WORKGROUP_SCAN(uint, add, 0u)
#define ORDER INVOCATION
#else
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uint)
#endif

#define IN_FLIGHT 8u // rows of an invocation whose loads overlap

const uint flip = inverted == 1u ? ~0u : 0u;

shared uint sh_word[WORKGROUP_SIZE], sh_rank[WORKGROUP_SIZE]; // the tile's rows kept, and how many are before a word

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uint place = ORDER, word = 0u, all;
    if (place * 32u < count)
        word = (column32_from(bits, begin / 32u).at[place] ^ flip) & bits_between(0u, count, place);
    uint set = uint(bitCount(word));
#if SHARED
    uint rank = workgroup_scan(set, all);
#else
    uint rank = workgroup_sum(subgroup_sum(set), all) + subgroup_sum_before(set);
#endif
    sh_word[place] = word;
    sh_rank[place] = rank;
    barrier();
    COLUMN(VALUE_BITS) from = COLUMN_FROM(VALUE_BITS)(values, begin);
    COLUMN(VALUE_BITS) to = COLUMN_FROM(VALUE_BITS)(kept, column64_from(offsets, tile).at[0].x);
    bool numbered = absent(values);
    for (uint i = INVOCATION; i < count; i += IN_FLIGHT * WORKGROUP_SIZE) {
        Value value[IN_FLIGHT];
        bool keeps[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            uint row = i + k * WORKGROUP_SIZE;
            keeps[k] = row < count && (sh_word[row / 32u] >> row % 32u & 1u) == 1u;
            value[k] = Value(begin + row);
            if (!numbered && keeps[k]) value[k] = from.at[row];
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            uint row = i + k * WORKGROUP_SIZE;
            if (keeps[k])
                to.at[sh_rank[row / 32u] + uint(bitCount(sh_word[row / 32u] & bits_below(row % 32u)))] =
                    kept_value(value[k]);
        }
    }
}

#endif
