// Counts all digits of keys that a sort will need, in one read: adds to counts[256*pass + digit] the rows whose digit
// of that pass is digit. The workgroup that finishes last scans the counts of each pass.
// One workgroup per tile of workgroup*items rows.
// Input: keys, words of KEY_BITS[rows]; narrow as in narrow.glsl. Accumulated: counts, uint32[256 * passes + 1], zero
// before, the last one for the number of workgroups that have finished; high, absent unless keys are narrow. Output:
// offsets, uint32[256 * passes], the exclusive scan of the counts of each pass.
// Parameters: pass p takes byte p%4 of shifts_0 (or, from pass 4 on, of shifts_1) bits[p] bits above shift[p]: shifts
// and bits are bytes of words, four passes in a word.
// Preconditions: passes is 1 to KEY_BITS/8; digits as in digit.glsl;
// 256 * passes is at most counters.
// Source: "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", section 3.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/radix_counts.glsl"
#include "group.glsl"
#include "digit.glsl"
#include "mix.glsl"

#include "narrow.glsl"

// Neighbours count in different copies, which lie in different banks.
const uint max_passes = KEY_BITS / 8u;
#define IN_FLIGHT 8u // keys of an invocation whose loads overlap
#define RUN 16u      // counts that one invocation scans

shared uint sh_count[counters]; // [pass][digit][copy]

// Counts of other workgroups, while these run.
layout(buffer_reference, std430, buffer_reference_align = 4) coherent volatile buffer Counts { uint at[]; };

uint byte_of(uint low, uint high, uint pass) { return (pass < 4u ? low : high) >> pass % 4u * 8u & 255u; }

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    for (uint i = INVOCATION; i < counters; i += WORKGROUP_SIZE) sh_count[i] = 0u;
    uint log2_copies = min(findMSB(counters / max_digits / passes), 5), copy = INVOCATION & (1u << log2_copies) - 1u;
    Digit place[max_passes];
    [[unroll]] for (uint p = 0u; p < max_passes; ++p) {
        place[p] = Digit(byte_of(shifts_0, shifts_1, p), (1u << byte_of(bits_0, bits_1, p)) - 1u);
    }
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
            if (i + k * WORKGROUP_SIZE < count) {
                if (mixed == 1u) key[k] = mix_of(key[k], seed);
                [[unroll]] for (uint p = 0u; p < max_passes; ++p) {
                    if (p < passes) {
                        uint digit = digit_of(key[k], place[p]);
                        atomicAdd(sh_count[(p * max_digits + digit << log2_copies) + copy], 1u);
                    }
                }
            }
        }
    }
    report(high, differing);
    barrier();
    Counts all = Counts(counts);
    uint values = passes * max_digits;
    for (uint i = INVOCATION; i < values; i += WORKGROUP_SIZE) {
        uint sum = 0u;
        for (uint c = 0u; c < 1u << log2_copies; ++c)
            sum += sh_count[(i << log2_copies) + (c + i & (1u << log2_copies) - 1u)];
        if (sum > 0u) atomicAdd(all.at[i], sum);
    }

    // Whoever draws the last number finds all counts: each workgroup adds its own before it draws.
    memoryBarrierBuffer();
    barrier();
    if (INVOCATION == 0u) sh_count[0] = atomicAdd(all.at[values], 1u);
    barrier();
    bool last = sh_count[0] == (rows - 1u) / (WORKGROUP_SIZE * items);
    barrier();
    if (!last) return;
    memoryBarrierBuffer();
    for (uint r = INVOCATION; r < values / RUN; r += WORKGROUP_SIZE) { // inclusive sums of runs
        uint sum = 0u;
        [[unroll]] for (uint k = 0u; k < RUN; ++k) {
            sum += all.at[r * RUN + k];
            sh_count[r * RUN + k] = sum;
        }
    }
    barrier();
    for (uint i = INVOCATION; i < values; i += WORKGROUP_SIZE) {
        uint before = i % RUN == 0u ? 0u : sh_count[i - 1u];
        for (uint r = i / max_digits * (max_digits / RUN); r < i / RUN; ++r) before += sh_count[r * RUN + RUN - 1u];
        column32_from(offsets, i).at[0] = before;
    }
}
