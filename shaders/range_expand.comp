// Writes the row-id pairs of matching ranges: output j is match number base + j of all. With l the last left row whose
// offset is not above that, the pair is (left_ids[l], right_ids[begins[l] + base + j - offsets[l]]).
// SERIAL 0: one workgroup per tile of workgroup*items outputs. SERIAL 1: one invocation per tile of items outputs.
// Inputs: offsets, uint64[left_rows + 1], the exclusive scan of the counts; begins, uint32[left_rows]; left_ids and
// right_ids, uint32, absent: the row numbers. Outputs: left_out and right_out, uint32[out_rows].
// Preconditions: base + out_rows is at most the total; SERIAL 0: an even number of invocations, or SHARED 1 and one.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/range_expand.glsl"
#include "group.glsl"
#include "uint64.glsl"

#include "search.glsl"

// Search which looks for the first left row whose offset is above match[which]; that match belongs to the row before
// it.
uvec2 match[2];

struct Inputs { uvec2 offsets, begins, left_ids, right_ids; } from;

uvec2 offset_of(uint l) { return column64_from(from.offsets, l).at[0]; }

bool before(uint which, uint row) { return !less(which == 0u ? match[0] : match[1], offset_of(row)); }

uint id_of(uvec2 ids, uint row) { return absent(ids) ? row : column32_from(ids, row).at[0]; }

// The right row of a match is the low word of its number plus this, modulo 2^32.
uint right_base(uint l, uvec2 offset) { return column32_from(from.begins, l).at[0] - offset.x; }

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    uint begin = tile * items, count = rows_left(out_rows, begin, items);
    if (tile > out_rows / items || count == 0u) return;
    Column32 to_left = column32_from(left_out, begin), to_right = column32_from(right_out, begin);
    from = Inputs(offsets, begins, left_ids, right_ids);
    match[0] = add(uvec2(base_lo, base_hi), uvec2(begin, 0u));
    uint end = left_rows, l = search(0u, 0u, end) - 1u;
    uvec2 next = offset_of(l + 1u);
    uint left = id_of(from.left_ids, l), right = right_base(l, offset_of(l));
    for (uint j = 0u; j < count; ++j) {
        if (!less(match[0], next)) {
            uvec2 offset = next;
            next = offset_of(++l + 1u);
            if (!less(match[0], next)) { // rows without a match lie between
                l = gallop(0u, l + 1u, end) - 1u;
                offset = offset_of(l);
                next = offset_of(l + 1u);
            }
            left = id_of(from.left_ids, l);
            right = right_base(l, offset);
        }
        to_left.at[j] = left;
        to_right.at[j] = id_of(from.right_ids, right + match[0].x);
        match[0] = add(match[0], uvec2(1u, 0u));
    }
}

#else

#extension GL_EXT_control_flow_attributes : require
#if SHARED
#include "workgroup_scan.glsl"
DEFINE_SCANNED(uint, 2u * WORKGROUP_SIZE)
DEFINE_WORKGROUP_SCAN(uint, max, 0u)
#else
#extension GL_KHR_shader_subgroup_arithmetic : require
shared uint sh_subgroup_row[(WORKGROUP_SIZE + 3u) / 4u];
#endif

#define IN_FLIGHT 4u // left rows of an invocation whose loads overlap
const uint tile_rows = WORKGROUP_SIZE * items;
const uint most_rows = 8u * tile_rows; // left rows that a tile goes through; among more each output searches its own

shared uint sh_row[tile_rows]; // by output: its left row, counted from the one of the first output

// Every left row but the tile's first one leaves its number where its outputs begin, the last of those that begin at
// the same output staying: the others have no matches. The greatest number up to an output is then that of its row.
// Outputs change hands: an invocation scans a run of neighbours, but fetches and writes outputs a workgroup apart, with
// all loads in flight at once.
void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * tile_rows, count = rows_left(out_rows, begin, tile_rows);
    if (count == 0u) return;
    from = Inputs(offsets, begins, left_ids, right_ids);
    uvec2 first = add(uvec2(base_lo, base_hi), uvec2(begin, 0u));
    match[0] = first;
    match[1] = add(first, uvec2(count - 1u, 0u));
    uvec2 range = workgroup_search(left_rows);
    uint first_row = range.x - 1u, others = range.y - range.x;

    [[unroll]] for (uint k = 0u; k < items; ++k) sh_row[INVOCATION + k * WORKGROUP_SIZE] = 0u;
    barrier();
    if (others <= most_rows) {
        Column64 starts = column64_from(from.offsets, range.x);
        for (uint i = INVOCATION; i < others; i += IN_FLIGHT * WORKGROUP_SIZE) {
            uint start[IN_FLIGHT];
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
                if (i + k * WORKGROUP_SIZE < others) start[k] = starts.at[i + k * WORKGROUP_SIZE].x - first.x;
            }
            [[unroll]] for (uint k = 0u; k < IN_FLIGHT; ++k) {
                if (i + k * WORKGROUP_SIZE < others) atomicMax(sh_row[start[k]], i + k * WORKGROUP_SIZE + 1u);
            }
        }
    } else {
        uint above = range.x;
        for (uint j = INVOCATION; j < count; j += WORKGROUP_SIZE) {
            match[0] = add(first, uvec2(j, 0u));
            above = search(0u, above, range.y);
            sh_row[j] = above - range.x;
        }
    }
    barrier();

#if SHARED
    uint order = INVOCATION, own = 0u;
#else
    uint order = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID, own = 0u;
#endif
    [[unroll]] for (uint k = 0u; k < items; ++k) own = max(own, sh_row[order * items + k]);
#if SHARED
    uint all, latest = workgroup_scan(own, all);
#else
    uint of_subgroup = subgroupMax(own), latest = subgroupExclusiveMax(own);
    if (subgroupElect()) sh_subgroup_row[gl_SubgroupID] = of_subgroup;
    barrier();
    for (uint s = 0u; s < gl_SubgroupID; ++s) latest = max(latest, sh_subgroup_row[s]);
#endif
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        latest = max(latest, sh_row[order * items + k]);
        sh_row[order * items + k] = latest;
    }
    barrier();

    Column32 to_left = column32_from(left_out, begin), to_right = column32_from(right_out, begin);
    bool left_numbered = absent(from.left_ids), right_numbered = absent(from.right_ids);
    uint left[items], right[items];
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint j = INVOCATION + k * WORKGROUP_SIZE;
        left[k] = first_row + sh_row[j];
        if (j < count) right[k] = right_base(left[k], offset_of(left[k])) + first.x + j;
    }
    if (!left_numbered) {
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            if (INVOCATION + k * WORKGROUP_SIZE < count) left[k] = column32_from(from.left_ids, left[k]).at[0];
        }
    }
    if (!right_numbered) {
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            if (INVOCATION + k * WORKGROUP_SIZE < count) right[k] = column32_from(from.right_ids, right[k]).at[0];
        }
    }
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint j = INVOCATION + k * WORKGROUP_SIZE;
        if (j < count) {
            to_left.at[j] = left[k];
            to_right.at[j] = right[k];
        }
    }
}

#endif
