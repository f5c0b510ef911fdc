// Scans tiles of a column that is cut into segments: sums[i] = sum of the values of i's segment before i, modulo
// 2^SUM_BITS. Bit i of heads says that row i begins a segment. tile_carries is the sum that enters a tile; tile_sums
// and tile_heads are what leaves it: the sum since its last head, and whether it has one (1 or 0). With carries = 1
// rows are tiles of the level below: heads has a word for each row, and a head counts behind its row, so that sums are
// what enters the tiles.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1: one invocation per tile of items rows.
// Inputs: values, words of IN_BITS[rows]; heads, a bitmap of rows bits or uint32[rows]; tile_carries, words of
// SUM_BITS[tiles], absent: zeros. Outputs: sums, words of SUM_BITS[rows], absent: not wanted; tile_sums, words of
// SUM_BITS[tiles], and tile_heads, uint32[tiles], both or none. sums may be values where both widths are equal.
// Preconditions: SERIAL 0: those of tile_rows.glsl, and bits of heads behind the last row lie in the last word.
// Source: "Scan Primitives for GPU Computing" (Sengupta, Harris, Zhang and Owens, 2007), section 3.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/segmented_scan.glsl"
#include "group.glsl"
#include "uint64.glsl"

#define Sum WORD(SUM_BITS)

Sum carry_into(uint tile) {
    return absent(tile_carries) ? Sum(0) : COLUMN_FROM(SUM_BITS)(tile_carries, tile).at[0];
}

void write_tile(uint tile, Sum sum, bool head) {
    if (absent(tile_sums)) return;
    COLUMN_FROM(SUM_BITS)(tile_sums, tile).at[0] = sum;
    column32_from(tile_heads, tile).at[0] = head ? 1u : 0u;
}

#if SERIAL

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint begin = tile * items, count = rows_left(rows, begin, items);
    COLUMN(IN_BITS) from = COLUMN_FROM(IN_BITS)(values, begin);
    COLUMN(SUM_BITS) to = COLUMN_FROM(SUM_BITS)(sums, begin);
    bool writes = !absent(sums), behind = carries == 1u, any_head = false;
    uint per_word = behind ? 0u : 5u, within = (1u << per_word) - 1u;
    uvec2 bits = heads;
    Sum sum = carry_into(tile);
    uint word = 0u;
    for (uint i = 0u; i < count; ++i) {
        uint row = begin + i;
        if (i == 0u || (row & within) == 0u) word = column32_from(bits, row >> per_word).at[0];
        bool head = (word >> (row & within) & 1u) == 1u;
        Sum value = widen(from.at[i], sum);
        if (writes) to.at[i] = head && !behind ? Sum(0) : sum;
        sum = head ? value : add(sum, value);
        any_head = any_head || head;
    }
    write_tile(tile, sum, any_head);
}

#else

#include "tile_rows.glsl"

#if SHARED

#include "workgroup_scan.glsl"

// The sum since the last head, or since the begin where there is none.
struct Held { Sum sum; bool head; };

Held nothing() { return Held(Sum(0), false); }
Held combine(Held a, Held b) {
    Sum both = add(a.sum, b.sum);
    return Held(b.head ? b.sum : both, a.head || b.head);
}

shared Sum sh_sum[4u * WORKGROUP_SIZE];
shared uint sh_head[4u * WORKGROUP_SIZE];

void put_scanned(uint at, Held held) {
    sh_sum[at] = held.sum;
    sh_head[at] = uint(held.head);
}

Held scanned(uint at) { return Held(sh_sum[at], sh_head[at] == 1u); }

#include "portions.glsl"

// Bit k: row + k is a head. For rows behind the last one that one is looked at, which takes no branches (docs/kernels.md).
uint heads_of(uint begin, uint row, uint count) {
    uint here = min(PER_LOAD, count - min(row, count)), last = count - 1u, found;
    if (carries == 0u) {
        uint bit = begin % 32u + min(row, last);
        found = column32_from(heads, begin / 32u).at[bit / 32u] >> bit % 32u;
    } else {
        Column32 from = column32_from(heads, begin);
        found = 0u;
        [[unroll]] for (uint k = 0u; k < PER_LOAD; ++k) found |= from.at[min(row + k, last)] << k;
    }
    return found & (1u << here) - 1u;
}

// The sum of a row, before which the tile holds this; with the row it holds more. It is 0 where zero and head are 1.
Sum next_sum(uint head, uint zero, Value row, inout Held held) {
    Sum before = (head & zero) == 1u ? Sum(0) : held.sum;
    held = combine(held, Held(widen(row, Sum(0)), head == 1u));
    return before;
}

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uvec2 from = uvec2(COLUMN_FROM(IN_BITS)(values, begin)), to = uvec2(COLUMN_FROM(SUM_BITS)(sums, begin));
    bool writes = !absent(sums);
    uint zero = 1u - carries;
    Held all = Held(carry_into(tile), false);
    for (uint first = 0u; first * WORKGROUP_SIZE * PER_LOAD < count; first += PORTION) {
        uint head[PORTION];
        Held before[PORTION];
        Sums row[PORTION];
        load_portion(from, first, count);
        [[unroll]] for (uint r = 0u; r < PORTION; ++r) head[r] = heads_of(begin, row_of(first + r), count);
        [[unroll]] for (uint r = 0u; r < PORTION; ++r) {
            before[r] = nothing();
            [[unroll]] for (uint k = 0u; k < PER_LOAD; ++k) next_sum(head[r] >> k & 1u, zero, value[r].at[k], before[r]);
        }
        all = scan_portion(all, before);
        [[unroll]] for (uint r = 0u; r < PORTION; ++r) {
            [[unroll]] for (uint k = 0u; k < PER_LOAD; ++k) {
                row[r].at[k] = next_sum(head[r] >> k & 1u, zero, value[r].at[k], before[r]);
            }
        }
        if (writes) store_portion(to, first, count, row);
    }
    if (writes) store_rest(to, count);
    if (INVOCATION == 0u) write_tile(tile, all.sum, all.head);
}

#else

// Bit k: row + k is a head.
uint heads_of(uint begin, uint row, uint count) {
    if (row >= count) return 0u;
    uint here = min(PER_LOAD, count - row);
    if (carries == 0u) {
        uint bit = begin % 32u + row;
        return column32_from(heads, begin / 32u).at[bit / 32u] >> bit % 32u & (1u << here) - 1u;
    }
    Column32 from = column32_from(heads, begin);
    uint found = from.at[row];
    if (here > 1u) found |= from.at[row + 1u] << 1;
    if (here > 2u) found |= from.at[row + 2u] << 2;
    if (here > 3u) found |= from.at[row + 3u] << 3;
    return found;
}

#extension GL_KHR_shader_subgroup_ballot : require

// A sum since a head is the sum since the begin of the tile less that sum at the head (start), modulo 2^SUM_BITS. So
// only plain sums are scanned, and beside them the start in force is handed on. What enters the tile is a start of
// minus that.

// What the last head of some rows makes the start, if the sum before them is this.
Sum start_of(uint head, Values rows, Sum sum) {
    if (head > 1u) sum = add(sum, widen(rows.at[0], sum));
#if IN_BITS == 32
    if (head > 3u) sum = add(sum, widen(rows.at[1], sum));
    if (head > 7u) sum = add(sum, widen(rows.at[2], sum));
#endif
    return sum;
}

// The sum of a row; sum and start go on to the next one.
Sum next_sum(uint head, Value value, inout Sum sum, inout Sum start) {
    Sum before = head == 1u && carries == 0u ? Sum(0) : subtract(sum, start);
    if (head == 1u) start = sum;
    sum = add(sum, widen(value, sum));
    return before;
}

Values value[ROUNDS];
uint head[ROUNDS];
Sum sum_before[ROUNDS]; // of the subgroup's rows before those of this invocation's round
Sum start[ROUNDS];      // as it enters the round, if a head of the subgroup has made one (started)
bool started[ROUNDS];

shared Sum sh_sum[(WORKGROUP_SIZE + 3u) / 4u], sh_start[(WORKGROUP_SIZE + 3u) / 4u]; // by subgroup
shared uint sh_started[(WORKGROUP_SIZE + 3u) / 4u];

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uvec2 from = uvec2(COLUMN_FROM(IN_BITS)(values, begin));
    [[unroll]] for (uint r = 0u; r < ROUNDS; ++r) {
        if (r < rounds) {
            value[r] = load_rows(from, row_of(r), count);
            head[r] = heads_of(begin, row_of(r), count);
        }
    }
    Sum sum = Sum(0), last_start = Sum(0);
    bool any_head = false;
    [[unroll]] for (uint r = 0u; r < ROUNDS; ++r) {
        if (r < rounds) {
            Sum own = sum_of(value[r]);
            sum_before[r] = add(sum, subgroup_sum_before(own));
            Sum own_start = start_of(head[r], value[r], sum_before[r]);
            uvec4 with_head = subgroupBallot(head[r] != 0u), earlier = with_head & gl_SubgroupLtMask;
            bool has_earlier = earlier != uvec4(0u), has_any = with_head != uvec4(0u);
            Sum earlier_start = subgroupShuffle(
                own_start, has_earlier ? subgroupBallotFindMSB(earlier) : gl_SubgroupInvocationID);
            Sum round_start = subgroupShuffle(
                own_start, has_any ? subgroupBallotFindMSB(with_head) : gl_SubgroupInvocationID);
            started[r] = any_head || has_earlier;
            start[r] = has_earlier ? earlier_start : last_start;
            if (has_any) last_start = round_start;
            any_head = any_head || has_any;
            sum = add(sum, subgroup_sum(own));
        }
    }
    if (subgroupElect()) {
        sh_sum[gl_SubgroupID] = sum;
        sh_start[gl_SubgroupID] = last_start;
        sh_started[gl_SubgroupID] = any_head ? 1u : 0u;
    }
    barrier();
    Sum before = Sum(0), all = Sum(0), enters = Sum(0), leaves = subtract(Sum(0), carry_into(tile));
    any_head = false;
    for (uint s = 0u; s < gl_NumSubgroups; ++s) {
        if (s == gl_SubgroupID) {
            before = all;
            enters = leaves;
        }
        if (sh_started[s] == 1u) {
            leaves = add(all, sh_start[s]);
            any_head = true;
        }
        all = add(all, sh_sum[s]);
    }
    if (INVOCATION == 0u) write_tile(tile, subtract(all, leaves), any_head);
    if (absent(sums)) return;
    uvec2 to = uvec2(COLUMN_FROM(SUM_BITS)(sums, begin));
    [[unroll]] for (uint r = 0u; r < ROUNDS; ++r) {
        if (r < rounds && row_of(r) < count) {
            Sum at = add(before, sum_before[r]), from_start = started[r] ? add(before, start[r]) : enters;
            Sums row;
            row.at[0] = next_sum(head[r] & 1u, value[r].at[0], at, from_start);
            row.at[1] = next_sum(head[r] >> 1 & 1u, value[r].at[1], at, from_start);
#if IN_BITS == 32
            row.at[2] = next_sum(head[r] >> 2 & 1u, value[r].at[2], at, from_start);
            row.at[3] = next_sum(head[r] >> 3 & 1u, value[r].at[3], at, from_start);
#endif
            store_rows(to, row_of(r), count, row);
        }
    }
    store_rest(to, count);
}

#endif

#endif
