// Copies 64-bit words that lie apart: destination[destination_first + i*destination_stride] =
// source[source_first + i*source_stride].
// One invocation per items words, a workgroup apart.
// Input: source, uint64. In and out: destination, uint64, of which the words in between stay.
// Preconditions: source_first and destination_first are less than 2^31, the strides less than 2^16.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/copy_strided.glsl"
#include "group.glsl"

#define IN_FLIGHT 8u // loads of an invocation that overlap

// The address of word at*stride.
uvec2 strided(uvec2 base, uint at, uint stride) {
    uint high, low;
    umulExtended(at, 8u * stride, high, low);
    uint carry;
    low = uaddCarry(base.x, low, carry);
    return uvec2(low, base.y + high + carry);
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uint from_stride = source_stride, to_stride = destination_stride;
    uvec2 from = strided(element_address(source, source_first, 3u), begin, from_stride);
    uvec2 to = strided(element_address(destination, destination_first, 3u), begin, to_stride);
    for (uint i = INVOCATION; i < count; i += IN_FLIGHT * WORKGROUP_SIZE) {
        uvec2 word[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k)
            word[k] = Column64(from).at[min(i + k * WORKGROUP_SIZE, count - 1u) * from_stride];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < count) Column64(to).at[(i + k * WORKGROUP_SIZE) * to_stride] = word[k];
        }
    }
}
