// Exclusive scan in one pass: sums[i] = sum of the values before i, modulo 2^SUM_BITS. With total = 1, sums[rows] is
// the sum of all values. One workgroup per tile of workgroup*items rows. A tile publishes the sum of its values, then
// adds up what the tiles before it have published, from the nearest on, until it meets the sum of everything up to some
// tile, and publishes that of its own.
//
// Nothing depends on the progress of other workgroups: a workgroup that has looked long enough sums the missing tile
// itself. Nor on memory order: a status is 2 words, or 3 of 4 for sums of 64 bits, that each hold a flag and some bits
// of a sum, and counts when all flags agree. There is no barrier in the loop that looks, because its length differs
// between subgroups.
// Input: values, words of IN_BITS[rows]. Output: sums, words of SUM_BITS[rows + total], not overlapping values. In and
// out: status, uint32[tiles * (SUM_BITS 32: 2, 64: 4)], zeros before the workgroup of tile 0. No rows: one tile, for
// the total.
// Preconditions: those of tile_rows.glsl.
// Source: "Single-pass Parallel Prefix Scan with Decoupled Look-back" (Merrill and Garland, 2016), section 4; the
// fallback after "Decoupled Fallback: A Portable Single-Pass GPU Scan" (Smith, Levien and Owens, 2025).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/scan_lookback.glsl"
#include "group.glsl"
#include "uint64.glsl"

#extension GL_KHR_shader_subgroup_ballot : require

#define Sum WORD(SUM_BITS)

#include "tile_scan.glsl"

// What a status says of its tile, in the two low bits of each word.
#define MISSING 0u
#define TILE_SUM 1u   // the sum of the tile
#define PREFIX_SUM 2u // the sum of all values up to the end of the tile

#if SUM_BITS == 64
#define Parts uvec3
Parts parts_of(Sum sum) { return limbs(sum); }
Sum from_parts(Parts parts) { return from_limbs(parts); }
bool agree(Parts words) { return ((words.x ^ words.y | words.x ^ words.z) & 3u) == 0u; }
#else
#define Parts uvec2
Parts parts_of(Sum sum) { return uvec2(sum & 0xffffu, sum >> 16); }
Sum from_parts(Parts parts) { return parts.y << 16 | parts.x; }
bool agree(Parts words) { return ((words.x ^ words.y) & 3u) == 0u; }
#endif

layout(buffer_reference, std430, buffer_reference_align = 8) coherent volatile buffer Status { Parts at[]; };

void publish(uint tile, uint flag, Sum sum) { Status(status).at[tile] = parts_of(sum) << 2u | Parts(flag); }

// The status of the last of some tiles; of none the sum is 0.
Parts look_at(uint tiles_before) {
    return tiles_before == 0u ? Parts(PREFIX_SUM) : Status(status).at[tiles_before - 1u];
}

// The lowest invocation of a ballot, or otherwise if there is none.
uint first_of(uvec4 ballot, uint otherwise) { return ballot == uvec4(0u) ? otherwise : subgroupBallotFindLSB(ballot); }

// Adds to prefix what tiles below next have published, from the nearest on, and lowers next accordingly: to 0 when
// prefix is whole, less far when patience ran out. One tile for each invocation of a subgroup at a time; all of them
// call it.
void look_back(inout uint next, inout Sum prefix) {
    uint invocations = min(gl_SubgroupSize, WORKGROUP_SIZE), back = gl_SubgroupInvocationID;
    while (next > 0u) {
        Parts words;
        uint found = 0u; // that many of the nearest tiles are there
        for (uint looks = 0u; looks < patience && found == 0u; ++looks) {
            words = look_at(next - min(next, back));
            bool there = agree(words) && (words.x & 3u) != MISSING;
            found = first_of(subgroupBallot(!there), invocations);
        }
        if (found == 0u) return;
        uint whole = first_of(subgroupBallot(back < found && (words.x & 3u) == PREFIX_SUM), found);
        prefix = add(prefix, subgroup_sum(back <= whole && back < found ? from_parts(words >> 2u) : Sum(0)));
        next = whole < found ? 0u : next - found;
    }
}

// The sum of a tile before the last one, by the workgroup.
Sum sum_of_tile(uint tile) {
    uvec2 from = uvec2(COLUMN_FROM(IN_BITS)(values, tile * WORKGROUP_SIZE * items));
    Sum sum = Sum(0), all;
    for (uint i = INVOCATION; i < WORKGROUP_SIZE * items / PER_LOAD; i += WORKGROUP_SIZE) {
        sum = add(sum, sum_of(load_values(from, i)));
    }
    workgroup_sum(subgroup_sum(sum), all);
    return all;
}

shared uint sh_next;
shared Sum sh_prefix;

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Sum all;
    load_tile(uvec2(COLUMN_FROM(IN_BITS)(values, begin)), count);
    Sum before = workgroup_sum(sum_of_rounds(), all);
    Sum prefix = Sum(0);
    uint next = tile; // prefix lacks the tiles below it
    if (INVOCATION == 0u && tile > 0u) publish(tile, TILE_SUM, all);
    scan_rounds(); // not sooner: the others wait for the sum
    while (next > 0u) { // all invocations agree on next
        if (gl_SubgroupID == 0u) {
            look_back(next, prefix);
            if (subgroupElect()) {
                sh_next = next;
                sh_prefix = prefix;
            }
        }
        barrier();
        next = sh_next;
        prefix = sh_prefix;
        if (next > 0u) { // sum_of_tile has a barrier before sh_next changes again
            --next;
            prefix = add(prefix, sum_of_tile(next));
        }
    }
    if (INVOCATION == 0u) {
        publish(tile, PREFIX_SUM, add(prefix, all));
        if (total == 1u && tile + 1u == tiles) COLUMN_FROM(SUM_BITS)(sums, rows).at[0] = add(prefix, all);
    }
    store_tile(uvec2(COLUMN_FROM(SUM_BITS)(sums, begin)), count, add(prefix, before));
}
