// Counts the output rows of the units of a partitioned hash join, without making any.
// One workgroup per unit; it takes right rows workgroup*items at a time.
// Inputs: units, left_keys and right_keys as for partition_join.
// Output: counts, uint64[units], the output rows of each.
// distinct 1: left rows are counted by key first, so that right rows are looked up no longer than to their first match;
// distinct 0: they are looked up to their last one.
// Preconditions: those of partition_join that are about keys and units.
// Source: as partition_join.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/partition_count.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)
#define BUILD_IN_FLIGHT 8u

#include "unit_table.glsl"
#include "join_count.glsl"
#include "join_lookup.glsl"

const bool by_key = unique < distinct; // left rows are counted

// By left row, 16 bits each: how many others have its key. It is known of the first of them in their chain only.
shared uint sh_others[by_key ? (table + 1u) / 2u : 1u];

void clear_others(uint left_count) {
    if (!by_key) return;
    for (uint i = INVOCATION; 2u * i < left_count; i += WORKGROUP_SIZE) sh_others[i] = 0u;
}

// Whether the left rows at two stops of a chain have the same key.
bool alike(uint stop, uint other) {
    return sh_node[stop - 1u] >> 16 == sh_node[other - 1u] >> 16 &&
        (decided == 1u || unit_keys.at[stop - 1u] == unit_keys.at[other - 1u]);
}

// Every row that another with its key follows in the chain, which few do where keys are mostly unique, adds itself to
// the first. All invocations call it, between barriers.
void count_others(uint left_count) {
    if (!by_key) return;
    for (uint row = INVOCATION; row < left_count; row += WORKGROUP_SIZE) {
        uint own = row + 1u, stop = stop_after(own);
        while (stop > 0u && !alike(own, stop)) stop = stop_after(stop);
        if (stop > 0u) {
            Key key = unit_keys.at[row];
            uint cursor, first = left_row(match_from(key, first_stop(key, cursor)));
            atomicAdd(sh_others[first / 2u], 1u << 16u * (first % 2u));
        }
    }
    barrier();
}

uint matches_of(Key key, inout uint cursor) {
    uint matches = 0u, next;
    for (uint stop = first_stop(key, cursor); stop > 0u; stop = next) {
        if (matches_at(key, stop, next)) {
            ++matches;
            if (by_key) matches += sh_others[left_row(stop) / 2u] >> 16u * (left_row(stop) % 2u) & 0xffffu;
            if (by_key || unique == 1u) next = 0u;
        }
    }
    return matches;
}

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    unit_keys = COLUMN_FROM(KEY_BITS)(left_keys, rows.x);
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, rows.z);
    Key key[items]; // of the first batch, under way while the left rows are
    load_batch(right, 0u, rows.w - rows.z, key);
    clear_others(rows.y - rows.x);
    build_table(rows.y - rows.x);
    barrier();
    count_others(rows.y - rows.x);
    look_up(right, rows.z, rows.w - rows.z, key);
    put_count(unit);
}
