// Fetches values by row id: gathered[i] = values[ids[i]].
// One invocation per items rows, a workgroup apart.
// Inputs: values, words of VALUE_BITS; ids, uint32[rows], each a row of values. Output: gathered, words of
// VALUE_BITS[rows].
// Source: the gather primitive of "Efficiently Processing Large Relational Joins on GPUs", section 2.2.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/gather.glsl"
#include "group.glsl"

#define Value WORD(VALUE_BITS)
#define IN_FLIGHT 8u // rows of an invocation whose loads overlap

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items;
    uint count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    Column32 from = column32_from(ids, begin);
    uvec2 source = values;
    COLUMN(VALUE_BITS) to = COLUMN_FROM(VALUE_BITS)(gathered, begin);
    for (uint i = INVOCATION; i < count; i += IN_FLIGHT * WORKGROUP_SIZE) {
        uint id[IN_FLIGHT];
        Value value[IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            id[k] = from.at[min(i + k * WORKGROUP_SIZE, count - 1u)]; // loads without a condition can all start at once
        }
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) value[k] = COLUMN_FROM(VALUE_BITS)(source, id[k]).at[0];
        [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < count) to.at[i + k * WORKGROUP_SIZE] = value[k];
        }
    }
}
