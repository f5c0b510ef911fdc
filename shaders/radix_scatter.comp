// Moves rows to where their digit belongs: a row goes to offsets[digit*tiles + tile] + its rank among the tile's rows of the
// same digit, in their order.
// SERIAL 0: one workgroup per tile of workgroup*items rows, batch rows of an invocation at a time. SERIAL 1: one invocation
// per tile of items rows.
// Inputs: keys_in, words of KEY_BITS[rows]; payload_in, uint32[rows], absent: the row numbers; offsets, uint32[2^bits * tiles].
// Outputs: keys_out and payload_out, like the inputs; they overlap no input. PAYLOAD_BITS 0: no payload.
// Preconditions: bits is 1 to 8, shift less than KEY_BITS; SERIAL 0: workgroup*batch is at least 256.
// Source: ranking by ballots, a subgroup at a time, as in "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
// section 3; the offsets come from a scan instead of a look-back.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "group.glsl"
#include "digit.glsl"

#define Key WORD(KEY_BITS)
#define key_column COLUMN_FROM(KEY_BITS)

layout(push_constant) uniform Push {
    uvec2 keys_in, payload_in, offsets, keys_out, payload_out;
    uint rows, tiles, shift, bits;
    GROUP_RANGE
};

#if SERIAL

shared uint sh_cursor[max_digits * WORKGROUP_SIZE]; // [digit][invocation]: where the next row of the digit goes

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE + INVOCATION;
    if (tile >= tiles) return;
    uint digits = 1u << bits;
    for (uint digit = 0u; digit < digits; ++digit) {
        sh_cursor[digit * WORKGROUP_SIZE + INVOCATION] = column32_from(offsets, digit * tiles + tile).at[0];
    }
    uint begin = tile * items, count = rows_left(rows, begin, items);
    COLUMN(KEY_BITS) keys = key_column(keys_in, begin);
    Digit place = Digit(shift, digits - 1u);
    uvec2 to_keys = keys_out;
#if PAYLOAD_BITS
    bool numbered = absent(payload_in);
    Column32 payload = column32_from(payload_in, begin);
    uvec2 to_payload = payload_out;
#endif
    for (uint i = 0u; i < count; ++i) {
        Key key = keys.at[i];
        uint cursor = digit_of(key, place) * WORKGROUP_SIZE + INVOCATION;
        uint to = sh_cursor[cursor];
        sh_cursor[cursor] = to + 1u;
        key_column(to_keys, to).at[0] = key;
#if PAYLOAD_BITS
        uint value = begin + i;
        if (!numbered) value = payload.at[i];
        column32_from(to_payload, to).at[0] = value;
#endif
    }
}

#else

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "uint64.glsl"
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uint)

layout(constant_id = 2) const uint batch = BATCH;

const uint batch_rows = WORKGROUP_SIZE * batch;
const uint own_digits = (max_digits + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;

shared uint sh_data[batch_rows]; // first counters, [counter row][digit]; then rows in the order of their digits
shared uint sh_to[max_digits];   // where a row of a digit goes, less its place in sh_data

// The invocations of the subgroup that hold a row of the same digit.
uvec4 same_digit(bool valid, uint digit) {
    uvec4 same = subgroupBallot(valid);
    [[unroll]] for (uint b = 0u; b < 8u; ++b) {
        bool set = (digit >> b & 1u) != 0u;
        uvec4 others = subgroupBallot(set);
        same &= set ? others : ~others;
    }
    return same;
}

// A subgroup works on batch rows of its invocations that follow each other: row k of the subgroup is k*subgroup size rows
// behind its first. It ranks them one after the other against counters of its own, or, where there are more subgroups
// than counters fit, of a few subgroups that take turns in their order.
void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * WORKGROUP_SIZE * items, count = rows_left(rows, begin, WORKGROUP_SIZE * items);
    uint turns = (gl_NumSubgroups + batch_rows / max_digits - 1u) / (batch_rows / max_digits);
    uint counter_rows = (gl_NumSubgroups + turns - 1u) / turns;
    uint counters = gl_SubgroupID / turns * max_digits;
    Digit digits_at = Digit(shift, (1u << bits) - 1u);
    uint run = gl_SubgroupID * gl_SubgroupSize * batch + gl_SubgroupInvocationID;

    uint cursor[own_digits];
    [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
        uint digit = ORDER * own_digits + d;
        cursor[d] = digit < 1u << bits ? column32_from(offsets, digit * tiles + tile).at[0] : 0u;
    }

    for (uint done = 0u; done < count; done += batch_rows) {
        uint filled = min(batch_rows, count - done);
        COLUMN(KEY_BITS) keys = key_column(keys_in, begin + done);
        Key key[batch];
        [[unroll]] for (uint k = 0u; k < batch; ++k) {
            uint i = run + k * gl_SubgroupSize;
            key[k] = i < filled ? keys.at[i] : Key(0u);
        }

        for (uint i = INVOCATION; i < counter_rows * max_digits; i += WORKGROUP_SIZE) sh_data[i] = 0u;
        barrier();
        uint place[batch]; // at first the rank in the subgroup's counters, then the place in sh_data
        for (uint turn = 0u; turn < turns; ++turn) {
            if (gl_SubgroupID % turns == turn) {
                [[unroll]] for (uint k = 0u; k < batch; ++k) {
                    bool valid = run + k * gl_SubgroupSize < filled;
                    uint digit = digit_of(key[k], digits_at);
                    uvec4 same = same_digit(valid, digit);
                    uint leader = valid ? subgroupBallotFindLSB(same) : gl_SubgroupInvocationID;
                    uint before = 0u;
                    if (valid && leader == gl_SubgroupInvocationID) {
                        before = atomicAdd(sh_data[counters + digit], subgroupBallotBitCount(same));
                    }
                    // Every invocation depends on the leader's addition here, so the next row's comes after it.
                    place[k] = subgroupShuffle(before, leader) + subgroupBallotExclusiveBitCount(same);
                }
            }
            barrier();
        }

        uint digit_count[own_digits];
        uint own = 0u;
        [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
            uint digit = ORDER * own_digits + d;
            digit_count[d] = 0u;
            if (digit < max_digits) {
                for (uint r = 0u; r < counter_rows; ++r) digit_count[d] += sh_data[r * max_digits + digit];
            }
            own += digit_count[d];
        }
        uint all;
        uint start = workgroup_sum(subgroup_sum(own), all) + subgroup_sum_before(own);
        [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
            uint digit = ORDER * own_digits + d;
            if (digit < max_digits) {
                sh_to[digit] = cursor[d] - start;
                for (uint r = 0u; r < counter_rows; ++r) {
                    uint n = sh_data[r * max_digits + digit];
                    sh_data[r * max_digits + digit] = start;
                    start += n;
                }
            }
            cursor[d] += digit_count[d];
        }
        barrier();
        [[unroll]] for (uint k = 0u; k < batch; ++k) place[k] += sh_data[counters + digit_of(key[k], digits_at)];

// EXCHANGE gives in to[k] what from[k] is for the row whose place is INVOCATION + k*workgroup.
#define EXCHANGE(to, from)                                                                \
    barrier();                                                                            \
    [[unroll]] for (uint k = 0u; k < batch; ++k) {                                        \
        if (run + k * gl_SubgroupSize < filled) sh_data[place[k]] = from;                 \
    }                                                                                     \
    barrier();                                                                            \
    [[unroll]] for (uint k = 0u; k < batch; ++k) to = sh_data[INVOCATION + k * WORKGROUP_SIZE];

#if PAYLOAD_BITS
        uint payload[batch]; // loaded early: the exchange of the keys hides the latency
        bool numbered = absent(payload_in);
        Column32 payloads = column32_from(payload_in, begin + done);
        [[unroll]] for (uint k = 0u; k < batch; ++k) {
            uint i = run + k * gl_SubgroupSize;
            payload[k] = begin + done + i;
            if (!numbered && i < filled) payload[k] = payloads.at[i];
        }
#endif
#if KEY_BITS == 64
        Key sorted[batch];
        EXCHANGE(sorted[k].x, key[k].x)
        EXCHANGE(sorted[k].y, key[k].y)
#else
        Key sorted[batch];
        EXCHANGE(sorted[k], key[k])
#endif
        uint to[batch];
        [[unroll]] for (uint k = 0u; k < batch; ++k) {
            uint i = INVOCATION + k * WORKGROUP_SIZE;
            to[k] = sh_to[digit_of(sorted[k], digits_at)] + i;
            if (i < filled) key_column(keys_out, to[k]).at[0] = sorted[k];
        }
#if PAYLOAD_BITS
        EXCHANGE(payload[k], payload[k])
        [[unroll]] for (uint k = 0u; k < batch; ++k) {
            if (INVOCATION + k * WORKGROUP_SIZE < filled) column32_from(payload_out, to[k]).at[0] = payload[k];
        }
#endif
        barrier(); // the counters of the next batch reuse sh_data
    }
}

#endif
