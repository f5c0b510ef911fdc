// Moves encoded blocks from slots to their places, one behind the other, and writes the directory.
// One workgroup per block, of any size.
// Inputs: slots and their sizes as cascade_encode makes them; ends, uint32[blocks + 1], the exclusive scan of the sizes
// and their total; directory[first_block], the word of payload at which the first of these blocks begins. Outputs:
// payload; directory[first_block + 1 + g] is the word behind block g.
// Preconditions: slots and payload end before word 2^32; payload does not overlap slots.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/cascade_place.glsl"
#include "group.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = column32_from(ends, group).at[0], end = column32_from(ends, group + 1u).at[0];
    uint base = column32_from(directory, first_block).at[0], count = end - begin;
    Column32 from = column32_from(slots, group * (value_bits == 64u ? 2052u : 1028u));
    Column32 to = column32_from(payload, base + begin);
    for (uint i = INVOCATION; i < count; i += items * WORKGROUP_SIZE) {
        uint word[items];
        [[unroll]] for (uint k = 0u; k < items; ++k) word[k] = from.at[min(i + k * WORKGROUP_SIZE, count - 1u)];
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            if (i + k * WORKGROUP_SIZE < count) to.at[i + k * WORKGROUP_SIZE] = word[k];
        }
    }
    if (INVOCATION == 0u) column32_from(directory, first_block + 1u + group).at[0] = base + end;
}
