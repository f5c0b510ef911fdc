// What kernels that join have in common: right rows, a batch of workgroup*items at a time, look for matches, and every
// pair of rows with equal keys becomes an output row: the key, and up to two payload columns of each side.
// A kernel with this file has the constants and push constants named below, defines PAGED (1: output in pages,
// join_pages.glsl) and MARKED (1: rows that have a match are marked, left_marks.glsl), and before how a key finds left
// rows:
uint first_match(Key key);         // where the first match is, 1 to 2^31 - 1; 0: there is none
uint next_match(Key key, uint at); // the one after it
uint left_row(uint at);            // its row, counted from left_first

#extension GL_EXT_control_flow_attributes : require
#include "join_rows.glsl"

const uint batch_rows = WORKGROUP_SIZE * items;

#if SHARED

#define RUN INVOCATION // an invocation's first row of a batch; the next ones lie STRIDE apart
#define STRIDE WORKGROUP_SIZE
#include "batch_bits.glsl"
shared uint sh_firsts[2], sh_more[2]; // by turn: right rows with a match, and their other matches
#if !PAGED
shared uint sh_before[batch_words]; // right rows with a match in the words of bits before
#endif

// Before the first batch. All invocations call it; a barrier lies between it and join_batch.
void begin_batches() {
    clear_bits();
    if (INVOCATION == 0u) sh_more[0] = sh_more[1] = 0u;
}

// Counts the rows with a match in the words before each, and finds room for the output rows of the batch. The inner loop
// has as many rounds for every word. With w rounds, PoCL 3.1 gives it a barrier that not all invocations reach if there
// are two words: then it aborts, or rows are wrong.
void place_batch(uint unit, uint done) {
#if !PAGED
    for (uint w = INVOCATION; w < batch_words; w += WORKGROUP_SIZE) {
        uint before = 0u;
        for (uint other = 0u; other + 1u < batch_words; ++other) before += other < w ? bitCount(word_of_bits(other)) : 0u;
        sh_before[w] = before;
    }
#endif
    if (INVOCATION == WORKGROUP_SIZE - 1u) {
        uint firsts = 0u;
        for (uint w = 0u; w < batch_words; ++w) firsts += bitCount(word_of_bits(w));
        sh_firsts[turn] = firsts;
        if (firsts > 0u) place(unit, done, firsts + sh_more[turn]);
    }
}

#if !PAGED
// The rows with a match before the k-th of this invocation.
uint rank_of(uint k) {
    uint row = k * WORKGROUP_SIZE + INVOCATION;
    return sh_before[row / 32u] + bitCount(word_of_bits(row / 32u) & (1u << row % 32u) - 1u);
}
#endif

// As below. The first matches of right rows become output rows in the order of these; the others follow behind all of
// them.
void join_batch(uint unit, uint left_first, uint first, uint run, uint count, Key key[items], inout uint done) {
    uint match[items], own = 0u; // own other matches
    bits_turn = turn;
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        match[k] = 0u;
        if (run + k * STRIDE < count) match[k] = first_match(key[k]);
        if (match[k] > 0u) {
            set_bit(k);
#if MARKED
            if ((sides & mark_left) != 0u) mark_first(left_row(match[k]));
#endif
            if (unique == 0u) {
                uint before = own;
                for (uint m = next_match(key[k], match[k]); m > 0u; m = next_match(key[k], m)) {
#if MARKED
                    if ((sides & mark_left) != 0u) mark_first(left_row(m));
#endif
                    ++own;
                }
                if (own > before) match[k] |= has_more;
            }
        }
    }
    uint others = own > 0u ? atomicAdd(sh_more[turn], own) : 0u; // of the batch, before own
    uvec2 left_sizes = uvec2(left_words, left_words_2), right_sizes = uvec2(right_words, right_words_2);
    Payloads left_value[items], right_value[items]; // under way while room is found
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(match[k] & ~has_more);
            left_value[k] = payloads_of(left_payload, left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(right_payload, right_payload_2, right_sizes, first, run + k * STRIDE);
        }
    }
    barrier();
    place_batch(unit, done);
    clear_next_bits();
    if (INVOCATION == 0u) sh_more[1u - turn] = 0u;
    barrier();
#if MARKED
    if ((sides & mark_right) != 0u) put_bits(right_marks, first);
#endif
    uint firsts = sh_firsts[turn];
    if (firsts > 0u) {
        uint room = sh_room[turn], start = sh_start[turn], next = firsts + others;
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint m = match[k] & ~has_more;
            bool more = match[k] >= has_more;
#if !PAGED
            uint to = rank_of(k);
#endif
            while (m > 0u) {
#if PAGED
                uint to = page_row();
#endif
                if (to < room) {
                    put_key(keys_out, start, to, key[k]);
                    put(left_out, left_words, start, to, left_value[k].of[0]);
                    put(right_out, right_words, start, to, right_value[k].of[0]);
                    if (left_words_2 > 0u) put(left_out_2, left_words_2, start, to, left_value[k].of[1]);
                    if (right_words_2 > 0u) put(right_out_2, right_words_2, start, to, right_value[k].of[1]);
                }
                m = more ? next_match(key[k], m) : 0u;
                if (more && m > 0u) {
                    left_value[k] = payloads_of(left_payload, left_payload_2, left_sizes, left_first, left_row(m));
#if !PAGED
                    to = next++;
#endif
                }
            }
        }
    }
    done += firsts + sh_more[turn];
    turn = 1u - turn;
}

#else

#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#define RUN (gl_SubgroupID * gl_SubgroupSize * items + gl_SubgroupInvocationID)
#define STRIDE gl_SubgroupSize

void begin_batches() {}

// Adds up own, which the invocations of a subgroup hold alike: over the subgroups before, and over all.
uint sum_before(uint own, out uint all) {
    if (subgroupElect()) sh_subgroup_sum[turn * subgroups + gl_SubgroupID] = own;
    barrier();
    uint before = 0u;
    all = 0u;
    for (uint s = 0u; s < gl_NumSubgroups; ++s) {
        if (s == gl_SubgroupID) before = all;
        all += sh_subgroup_sum[turn * subgroups + s];
    }
    return before;
}

// Joins count right rows from first on, of which an invocation holds the keys of run, run + subgroup size, ...; the
// unit has done output rows before, to which those of the batch are added.
void join_batch(uint unit, uint left_first, uint first, uint run, uint count, Key key[items], inout uint done) {
    uint match[items], own = 0u;
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        match[k] = 0u;
        if (run + k * gl_SubgroupSize < count) {
            match[k] = first_match(key[k]);
            own += min(match[k], 1u);
#if MARKED
            if ((sides & mark_left) != 0u && match[k] > 0u) mark_first(left_row(match[k]));
#endif
            if (unique == 0u && match[k] > 0u) {
                uint before = own;
#if MARKED
                for (uint m = next_match(key[k], match[k]); m > 0u; m = next_match(key[k], m)) {
                    if ((sides & mark_left) != 0u) mark_first(left_row(m));
                    ++own;
                }
#else
                for (uint m = next_match(key[k], match[k]); m > 0u; m = next_match(key[k], m)) ++own;
#endif
                if (own > before) match[k] |= has_more;
            }
        }
#if MARKED
        if ((sides & mark_right) != 0u) collect_marks(k, match[k] > 0u);
#endif
    }
#if MARKED
    if ((sides & mark_right) != 0u) put_marks(right_marks, first + run - gl_SubgroupInvocationID);
#endif
    uvec2 left_sizes = uvec2(left_words, left_words_2), right_sizes = uvec2(right_words, right_words_2);
    Payloads left_value[items], right_value[items]; // under way while room is found
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(match[k] & ~has_more);
            left_value[k] = payloads_of(left_payload, left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(right_payload, right_payload_2, right_sizes, first, run + k * gl_SubgroupSize);
        }
    }
    uint all, at = sum_before(subgroup_sum(own), all);
    if (all > 0u) {
        if (INVOCATION == 0u) place(unit, done, all);
        barrier();
        uint room = sh_room[turn], start = sh_start[turn];
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint m = match[k] & ~has_more;
            bool more = match[k] >= has_more;
            while (subgroupAny(m > 0u)) { // in every round each row with matches left writes one
                uvec4 matched = subgroupBallot(m > 0u);
                if (m > 0u) {
                    uint to = at + subgroupBallotExclusiveBitCount(matched);
#if PAGED
                    to = page_row();
#endif
                    if (to < room) {
                        put_key(keys_out, start, to, key[k]);
                        put(left_out, left_words, start, to, left_value[k].of[0]);
                        put(right_out, right_words, start, to, right_value[k].of[0]);
                        if (left_words_2 > 0u) put(left_out_2, left_words_2, start, to, left_value[k].of[1]);
                        if (right_words_2 > 0u) put(right_out_2, right_words_2, start, to, right_value[k].of[1]);
                    }
                    m = more ? next_match(key[k], m) : 0u;
                    if (more && m > 0u) {
                        left_value[k] = payloads_of(left_payload, left_payload_2, left_sizes, left_first, left_row(m));
                    }
                }
                at += subgroupBallotBitCount(matched);
            }
        }
    }
    done += all;
    turn = 1u - turn;
}

#endif
