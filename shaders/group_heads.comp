// Marks where the segments of sorted keys begin: bit i%32 of heads[i/32] is 1 if keys[i] differs from keys[i-1], or i
// is a multiple of cut. Adds the number of rows whose key differs from the one before to groups[0]. One workgroup per
// workgroup*items rows, whose bits are collected in shared memory. Input: keys, words of KEY_BITS[rows], sorted.
// Output: heads, a bitmap of rows bits, 0 behind the last row. Accumulated: groups, uint32[1]. Preconditions:
// workgroup*items is a multiple of 32; cut is a power of 2.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/group_heads.glsl"
#include "group.glsl"

const uint words = WORKGROUP_SIZE * items / 32u;
shared uint sh_words[words];
shared uint sh_groups;

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint begin = group * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    COLUMN(KEY_BITS) from = COLUMN_FROM(KEY_BITS)(keys, begin);
    COLUMN(KEY_BITS) before = COLUMN_FROM(KEY_BITS)(keys, max(begin, 1u) - 1u);
    uint cuts = cut - 1u, at_start = begin == 0u ? 1u : 0u;
    for (uint i = INVOCATION; i < words; i += WORKGROUP_SIZE) sh_words[i] = 0u;
    if (INVOCATION == 0u) sh_groups = 0u;
    barrier();
    uint found = 0u;
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        bool first = begin + i == 0u;
        bool differs = first || from.at[i] != before.at[max(i, at_start) - at_start];
        found += differs ? 1u : 0u;
        if (differs || (begin + i & cuts) == 0u) atomicOr(sh_words[i / 32u], 1u << i % 32u);
    }
    atomicAdd(sh_groups, found);
    barrier();
    Column32 to = column32_from(heads, begin / 32u);
    for (uint i = INVOCATION; i < (count + 31u) / 32u; i += WORKGROUP_SIZE) to.at[i] = sh_words[i];
    if (INVOCATION == 0u) atomicAdd(Column32(groups).at[0], sh_groups);
}
