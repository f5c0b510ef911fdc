// Unpacks narrow columns from the words that they share: shorts fields of 16 bits, then bytes fields of 8, then bits
// fields of 1, from the lowest bit of a word on.
// One workgroup per tile of workgroup*items rows: 2,048 of them at a time are loaded side by side into shared memory,
// from where each invocation collects whole words of a column, so that neither subgroups nor atomic operations put bits
// together.
// Input: words, uint32[first + rows], of which the first are left out. Outputs: unpacked, uint32, column behind column,
// each in a multiple of 64 bytes; the rest of the last word of a column is 0, what lies behind is not written. In and
// out: counts, uint32[bits], which grow by the rows whose bit is set.
// Preconditions: workgroup*items is a multiple of 32; first + rows fits a word.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/unpack_words.glsl"
#include "group.glsl"

#define IN_FLIGHT 8u // loads of an invocation that overlap
#define STAGED 2048u // rows at a time

shared uint sh_word[STAGED + STAGED / 32u]; // a gap every 32 words, so that neighbours read different banks
shared uint sh_set[32];

uint shared_place(uint row) { return row + row / 32u; }

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint n_rows = rows, tile_begin = group * WORKGROUP_SIZE * items, first_word = first;
    uint tile_count = rows_left(n_rows, tile_begin, WORKGROUP_SIZE * items);
    uint n_shorts = shorts, n_wide = n_shorts + bytes, n_fields = n_wide + bits;
    uvec2 source = words, target = unpacked;
    for (uint b = INVOCATION; b < 32u; b += WORKGROUP_SIZE) sh_set[b] = 0u;
    for (uint before = 0u; before < tile_count; before += STAGED) { // as often for all invocations
        uint begin = tile_begin + before, count = min(STAGED, tile_count - before), staged = (count + 31u) & ~31u;
        Column32 from = column32_from(source, first_word + begin);
        barrier(); // the rows before are taken apart, and no bit was counted
        for (uint i = INVOCATION; i < staged; i += IN_FLIGHT * WORKGROUP_SIZE) {
            uint word[IN_FLIGHT];
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
                word[k] = 0u;
                if (i + k * WORKGROUP_SIZE < count) word[k] = from.at[i + k * WORKGROUP_SIZE];
            }
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
                if (i + k * WORKGROUP_SIZE < staged) sh_word[shared_place(i + k * WORKGROUP_SIZE)] = word[k];
            }
        }
        barrier();
        uvec2 to = target;
        uint place = 0u;
        for (uint f = 0u; f < n_fields; ++f) {
            uint log2_bits = f < n_shorts ? 4u : f < n_wide ? 3u : 0u, width = 1u << log2_bits;
            uint log2_rows = 5u - log2_bits, per_word = 1u << log2_rows, mask = (1u << width) - 1u;
            Column32 column = column32_from(to, begin >> log2_rows);
            // Single bits fill few words, so that each field begins with another invocation.
            uint set = 0u, turn = (INVOCATION + f * (STAGED / 32u)) % WORKGROUP_SIZE;
            for (uint i = turn; i << log2_rows < count; i += WORKGROUP_SIZE) {
                uint row = shared_place(i << log2_rows), held = 0u; // the rows of a word have no gap
                for (uint k = 0u; k < per_word; ++k) held |= (sh_word[row + k] >> place & mask) << (k << log2_bits);
                column.at[i] = held;
                set += uint(bitCount(held));
            }
            if (f >= n_wide && set > 0u) atomicAdd(sh_set[f - n_wide], set);
            place += width;
            uint column_words = (n_rows >> log2_rows) + ((n_rows & per_word - 1u) > 0u ? 1u : 0u);
            to = element_address(to, (column_words + 15u) & ~15u, 2u);
        }
    }
    barrier();
    for (uint b = INVOCATION; b < bits; b += WORKGROUP_SIZE) {
        if (sh_set[b] > 0u) atomicAdd(column32_from(counts, b).at[0], sh_set[b]);
    }
}
