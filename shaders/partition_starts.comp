// Tells where partitions begin in rows that lie in the order of their digits: starts[digit] = the first row whose digit
// is not less, rows if there is none, as for digit 2^bits. One invocation per items digits, a workgroup apart, each of
// which halves the rows.
// Input: keys, words of KEY_BITS[rows]. Output: starts, uint32[digits].
// Preconditions: digits is at most 2^bits + 1, a digit as in digit.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/partition_starts.glsl"
#include "group.glsl"
#include "digit.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(digits, begin, WORKGROUP_SIZE * items);
    Digit place = Digit(shift, bits == 32u ? ~0u : (1u << bits) - 1u);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        uint low = 0u, high = rows;
        while (low < high) {
            uint middle = low + (high - low) / 2u;
            if (digit_of(COLUMN_FROM(KEY_BITS)(keys, middle).at[0], place) < begin + i) low = middle + 1u;
            else high = middle;
        }
        column32_from(starts, begin + i).at[0] = low;
    }
}
