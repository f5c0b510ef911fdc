// Copies words: destination[destination_first + i] = source[source_first + i].
// One workgroup per tile of workgroup*items words, 16 bytes at a time where both sides are aligned to that.
// Input: source, uint32[source_first + rows]. Output: destination, uint32[destination_first + rows], not overlapping
// source.
// Preconditions: workgroup*items is a multiple of 4, source_first + rows and destination_first + rows fit a word.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/copy.glsl"
#include "group.glsl"

#define IN_FLIGHT 8u // loads of an invocation that overlap

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uvec2 from = element_address(source, source_first + begin, 2u);
    uvec2 to = element_address(destination, destination_first + begin, 2u);
    uint vectors = ((from.x | to.x) & 15u) == 0u ? count / 4u : 0u;
    for (uint i = INVOCATION; i < vectors; i += IN_FLIGHT * WORKGROUP_SIZE) {
        uvec4 value[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < vectors) value[k] = Column128(from).at[i + k * WORKGROUP_SIZE];
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < vectors) Column128(to).at[i + k * WORKGROUP_SIZE] = value[k];
        }
    }
    for (uint i = 4u * vectors + INVOCATION; i < count; i += WORKGROUP_SIZE) Column32(to).at[i] = Column32(from).at[i];
}
