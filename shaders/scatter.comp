// Puts values where row ids say: scattered[ids[i]] = values[i].
// One invocation per items rows, a workgroup apart.
// Inputs: values, words of VALUE_BITS[rows]; ids, uint32[rows]. Output: scattered, words of VALUE_BITS, at least as
// many as the greatest id and one; those without an id are not written.
// Precondition: no id occurs twice.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/scatter.glsl"
#include "group.glsl"

#define Value WORD(VALUE_BITS)
#define IN_FLIGHT 8u // rows of an invocation whose loads overlap

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Column32 places = column32_from(ids, begin);
    COLUMN(VALUE_BITS) from = COLUMN_FROM(VALUE_BITS)(values, begin);
    uvec2 to = scattered;
    for (uint i = INVOCATION; i < count; i += IN_FLIGHT * WORKGROUP_SIZE) {
        uint id[IN_FLIGHT];
        Value value[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            uint at = min(i + k * WORKGROUP_SIZE, count - 1u); // loads without a condition can all start at once
            id[k] = places.at[at];
            value[k] = from.at[at];
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < count) COLUMN_FROM(VALUE_BITS)(to, id[k]).at[0] = value[k];
        }
    }
}
