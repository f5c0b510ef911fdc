// Finds for each left key the range of equal right keys: begins[i] = the first row on the right whose key is not less
// than left_keys[i], counts[i] = how many are equal; tile_totals[tile] = sum of the counts of the tile, 64 bits.
// SERIAL 0: one workgroup per tile of workgroup*items left rows. SERIAL 1: one invocation per tile of items left rows.
// Inputs: left_keys and right_keys, words of KEY_BITS, sorted ascending. Outputs, of which each may be absent: begins and
// counts, uint32[left_rows]; tile_totals, uint64[tiles].
// Preconditions: SERIAL 0: an even number of invocations, or SHARED 1 and one; workgroup*stage is less than 65536.
// Source: the range search of "Efficiently Joining Large Relations on Multi-GPU Systems with Modern Interconnects",
// section 3.3.3; SERIAL 0: by merge path, as in "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section
// 3.3.2.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/range_search.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Key WORD(KEY_BITS)
#define key_column COLUMN_FROM(KEY_BITS)

#include "search.glsl"

// Search 0 looks for the first key that is not less than low_key, search 1 for the first one greater than high_key.
Key low_key, high_key;
uvec2 right;

bool before_in_column(uint which, uint row) {
    Key key = key_column(right, row).at[0];
    return which == 0u ? less(key, low_key) : !less(high_key, key);
}

#if SERIAL

bool before(uint which, uint row) { return before_in_column(which, row); }

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(left_rows, begin, items);
    COLUMN(KEY_BITS) keys = key_column(left_keys, begin);
    Column32 to_begins = column32_from(begins, begin), to_counts = column32_from(counts, begin);
    bool wants_begins = !absent(begins), wants_counts = !absent(counts);
    uint from = 0u, to = 0u, end = right_rows;
    uvec2 total = uvec2(0u);
    right = right_keys;
    for (uint i = 0u; i < count; ++i) {
        Key key = keys.at[i];
        if (i == 0u || key != low_key) {
            low_key = high_key = key;
            from = i == 0u ? search(0u, 0u, end) : gallop(0u, to, end);
            to = gallop(1u, from, end);
        }
        if (wants_begins) to_begins.at[i] = from;
        if (wants_counts) to_counts.at[i] = to - from;
        total = add(total, uvec2(to - from, 0u));
    }
    if (!absent(tile_totals)) column64_from(tile_totals, tile).at[0] = total;
}

#else

#extension GL_EXT_control_flow_attributes : require
#if SHARED
#include "workgroup_total.glsl"
#else
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uvec2)
#endif

const uint batch_rows = WORKGROUP_SIZE * batch, stage_rows = WORKGROUP_SIZE * stage;

shared Key sh_left[batch_rows], sh_right[stage_rows];
// by left row of the batch: the begin of its range in sh_right, and its end in the high half
shared uint sh_place[batch_rows];
shared uint sh_begin;             // that of the last row of a batch, in the column

// Left rows are merged with right ones twice: merge 0 takes a left row before the right keys that are not less than its
// own, so that the right rows taken until then end where its range begins; merge 1 takes it before the greater ones,
// where its range ends.
bool takes_left(uint which, Key left_key, Key right_key) {
    return which == 0u ? !less(right_key, left_key) : less(left_key, right_key);
}

// Search 2 + which looks along the diagonal of merge which for the number of left rows, search 4 for that of left keys
// less than low_key.
const uint along = 2u, below = 4u;
uint diagonal;

bool before(uint which, uint row) {
    if (which < along) return before_in_column(which, row);
    if (which == below) return less(sh_left[row], low_key);
    return takes_left(which - along, sh_left[row], sh_right[diagonal - 1u - row]);
}

// Merges rows of sh_left and of sh_right and notes for each left row how many right rows were taken before it. Every
// invocation merges an equal part.
void merge_places(uint which, uint left_count, uint right_count) {
    uint steps = (left_count + right_count + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    diagonal = min(INVOCATION * steps, left_count + right_count);
    uint l = search(along + which, diagonal > right_count ? diagonal - right_count : 0u, min(diagonal, left_count)),
         r = diagonal - l;
    for (uint s = 0u; s < steps && l < left_count; ++s) {
        if (r >= right_count || takes_left(which, sh_left[l], sh_right[r])) {
            if (which == 0u) sh_place[l] = r; else sh_place[l] |= r << 16;
            ++l;
        } else {
            ++r;
        }
    }
}

// The first and the last key of the tile bound the right rows that it can meet. A batch of left rows and as many right
// rows as it is likely to meet go to shared memory and are merged there; left keys less than the last right one are
// then done. Where these are few, because a key is very frequent on the right or the left keys are far apart there,
// each left row of the batch searches the column.
void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(left_rows, begin, WORKGROUP_SIZE * items);
    COLUMN(KEY_BITS) keys = key_column(left_keys, begin);
    Column32 to_begins = column32_from(begins, begin), to_counts = column32_from(counts, begin);
    bool wants_begins = !absent(begins), wants_counts = !absent(counts);
    uvec2 total = uvec2(0u);
    right = right_keys;
    if (count > 0u) {
        low_key = keys.at[0];
        high_key = keys.at[count - 1u];
    }
    uvec2 range = workgroup_search(count > 0u ? right_rows : 0u);
    uint from = range.x, end = range.y;
    for (uint done = 0u; done < count;) {
        uint filled = min(batch_rows, count - done);
        float likely = float(end - from) * (float(filled) / float(count - done)) * 1.125 + 64.0;
        uint staged = min(uint(min(likely, float(stage_rows))), end - from);
        COLUMN(KEY_BITS) right_from = key_column(right, from);
        Key left_key[batch], right_key[stage];
        [[unroll]] for (uint k = 0u; k < batch; ++k) {
            uint i = INVOCATION + k * WORKGROUP_SIZE;
            if (i < filled) left_key[k] = keys.at[done + i];
        }
        [[unroll]] for (uint k = 0u; k < stage; ++k) {
            uint i = INVOCATION + k * WORKGROUP_SIZE;
            if (i < staged) right_key[k] = right_from.at[i];
        }
        [[unroll]] for (uint k = 0u; k < batch; ++k) {
            if (INVOCATION + k * WORKGROUP_SIZE < filled) sh_left[INVOCATION + k * WORKGROUP_SIZE] = left_key[k];
        }
        [[unroll]] for (uint k = 0u; k < stage; ++k) {
            if (INVOCATION + k * WORKGROUP_SIZE < staged) sh_right[INVOCATION + k * WORKGROUP_SIZE] = right_key[k];
        }
        barrier();
        uint ready = filled; // the same in all invocations
        if (staged < end - from) {
            low_key = sh_right[staged - 1u];
            ready = search(below, 0u, filled);
        }
        if (ready >= (filled + 3u) / 4u) {
            merge_places(0u, ready, staged);
            barrier();
            merge_places(1u, ready, staged);
            barrier();
            [[unroll]] for (uint k = 0u; k < batch; ++k) {
                uint i = INVOCATION + k * WORKGROUP_SIZE;
                if (i < ready) {
                    uint place = sh_place[i] & 0xffffu, n = (sh_place[i] >> 16) - place;
                    if (wants_begins) to_begins.at[done + i] = from + place;
                    if (wants_counts) to_counts.at[done + i] = n;
                    total = add(total, uvec2(n, 0u));
                }
            }
            from += sh_place[ready - 1u] & 0xffffu;
        } else {
            ready = filled;
            uint at = from;
            for (uint i = INVOCATION; i < filled; i += WORKGROUP_SIZE) {
                low_key = high_key = sh_left[i];
                at = search(0u, at, end);
                uint n = gallop(1u, at, end) - at;
                if (wants_begins) to_begins.at[done + i] = at;
                if (wants_counts) to_counts.at[done + i] = n;
                total = add(total, uvec2(n, 0u));
                if (i == filled - 1u) sh_begin = at;
            }
            barrier();
            from = sh_begin;
        }
        done += ready;
        barrier(); // the next batch writes over this one
    }
    if (absent(tile_totals)) return;
#if SHARED
    uvec2 all = workgroup_total(total);
#else
    uvec2 all;
    workgroup_sum(subgroup_sum(total), all);
#endif
    if (INVOCATION == 0u) column64_from(tile_totals, tile).at[0] = all;
}

#endif
