// Counts the bits of tiles of a bitmap that are set: counts[tile] = rows of the tile whose bit is set, or with
// inverted = 1 those whose bit is not.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Input: bits, a bitmap of rows bits. Output: counts, uint32[tiles].
// Precondition: SERIAL 0: workgroup*items is a multiple of 32.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/compact_count.glsl"
#include "group.glsl"
#include "bitmap.glsl"

const uint flip = inverted == 1u ? ~0u : 0u;

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(rows, begin, items), first = begin % 32u;
    Column32 from = column32_from(bits, begin / 32u);
    uint sum = 0u;
    for (uint word = 0u; word * 32u < first + count; ++word)
        sum += uint(bitCount((from.at[word] ^ flip) & bits_between(first, first + count, word)));
    column32_from(counts, tile).at[0] = sum;
}

#else

#if SHARED
#include "workgroup_total.glsl"
#else
#include "uint64.glsl"
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uint)
#endif

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Column32 from = column32_from(bits, begin / 32u);
    uint sum = 0u, all;
    for (uint word = INVOCATION; word * 32u < count; word += WORKGROUP_SIZE)
        sum += uint(bitCount((from.at[word] ^ flip) & bits_between(0u, count, word)));
#if SHARED
    all = workgroup_total(uvec2(sum, 0u)).x;
#else
    workgroup_sum(subgroup_sum(sum), all);
#endif
    if (INVOCATION == 0u) column32_from(counts, tile).at[0] = all;
}

#endif
