// Counts the digits of a column: counts[digit] grows by the rows with that digit, for digits below 2^bits.
// One workgroup per tile of workgroup*items rows.
// Input: keys, words of KEY_BITS[rows]. In and out: counts, uint64[2^bits], of which only the low words change.
// Preconditions: bits is 1 to 11, shift less than KEY_BITS, workgroup*items a multiple of 4, and no count exceeds a
// word.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/histogram.glsl"
#include "group.glsl"

#define IN_BITS KEY_BITS
#include "loads.glsl"

// Neighbours count in different copies of the counters, as many as there is room for, so that equal digits meet at
// fewer of them.
#define COUNTERS 4096u
shared uint sh_count[COUNTERS]; // [digit][copy]

// Wider than those of a radix pass, and anywhere in a key.
uint digit_of(uint key) { return key >> shift & (1u << bits) - 1u; }
uint digit_of(uvec2 key) {
    uint low = shift == 0u ? key.x : shift < 32u ? key.x >> shift | key.y << (32u - shift) : key.y >> (shift - 32u);
    return low & (1u << bits) - 1u;
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint digits = 1u << bits, copies = min(32u, COUNTERS >> bits), copy = INVOCATION % copies;
    for (uint i = INVOCATION; i < digits * copies; i += WORKGROUP_SIZE) sh_count[i] = 0u;
    barrier();
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    COLUMN(KEY_BITS) from = COLUMN_FROM(KEY_BITS)(keys, begin);
    uint loads = count / PER_LOAD, digit = 0u, run = 0u; // a run of equal digits is counted at once
    for (uint i = INVOCATION; i < loads; i += IN_FLIGHT * WORKGROUP_SIZE) {
        Values key[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k)
            key[k] = load_values(uvec2(from), min(i + k * WORKGROUP_SIZE, loads - 1u));
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < loads) {
                [[unroll]] for (uint j = 0u; j < PER_LOAD; ++j) {
                    uint next = digit_of(key[k].at[j]);
                    if (next != digit) {
                        atomicAdd(sh_count[digit * copies + copy], run);
                        digit = next;
                        run = 0u;
                    }
                    ++run;
                }
            }
        }
    }
    if (run > 0u) atomicAdd(sh_count[digit * copies + copy], run);
    for (uint last = loads * PER_LOAD + INVOCATION; last < count; last += WORKGROUP_SIZE)
        atomicAdd(sh_count[digit_of(from.at[last]) * copies + copy], 1u);
    barrier();
    Column32 to = column32_from(counts, 0u);
    for (uint d = INVOCATION; d < digits; d += WORKGROUP_SIZE) {
        uint sum = 0u;
        for (uint c = 0u; c < copies; ++c) sum += sh_count[d * copies + c];
        if (sum > 0u) atomicAdd(to.at[2u * d], sum);
    }
}
