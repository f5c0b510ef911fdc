// Computes the bytes that blocks take in each of the 8 schemes of the cascaded codec (docs/codec.md), as cascade_encode
// makes them.
// One workgroup per block.
// Inputs: values, words of VALUE_BITS; blocks, uvec2, the first row of each block and its number of rows, 1 to 1,024.
// Output: bytes, uint32[8] for each block, by scheme.
// Precondition: SHARED 0: a workgroup consists of whole subgroups.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/cascade_sizes.glsl"
#include "group.glsl"
#include "cascade.glsl"
#define RANGES 3 // of values, of differences, and of differences between runs
#include "cascade_ranges.glsl"

const uint schemes = 8u;

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uvec2 rows = column64_from(blocks, group).at[0];
    uint count = rows.y;
    clear_heads();
    clear_ranges();
    load_block(values, rows.x, count);
    barrier();
    Range own[RANGES] = Range[](no_range(), no_range(), no_range());
    for (uint base = 0u; base < count; base += WORKGROUP_SIZE) {
        uint i = min(base + PLACE, count - 1u);
        Value v = sh_value[i], before = sh_value[max(i, 1u) - 1u], difference = subtract(v, before);
        bool present = base + PLACE < count, head = present && (i == 0u || v != before);
        mark_head(base, head);
        if (present) add_to(own[0], v);
        if (present && i > 0u) add_to(own[1], difference);
        if (head && i > 0u) add_to(own[2], difference);
    }
    [[unroll]] for (uint r = 0u; r < RANGES; ++r) combine_high(r, own[r]);
    barrier();
    count_heads();
    [[unroll]] for (uint r = 0u; r < RANGES; ++r) combine_low(r, own[r]);
    barrier();
    uint runs = sh_before[head_words];
    place_starts(count);
    barrier();
    combine_lengths(runs, count);
    barrier();
    for (uint scheme = INVOCATION; scheme < schemes; scheme += WORKGROUP_SIZE) {
        Header h = header_for(scheme, runs);
        uint delta = scheme & layer_delta, r = delta == 0u ? 0u : (scheme & layer_rle) != 0u ? 2u : 1u;
        h.width = VALUE_BITS;
        if ((scheme & layer_pack) != 0u)
            h.width = width_of(combined(r), entries_of(h, count) > (delta == 0u ? 0u : 1u));
        uint words = raw_words(count);
        if (scheme != 0u) words = min(words, layout_of(h, count).end);
        column32_from(bytes, schemes * group + scheme).at[0] = 4u * words;
    }
}
