// Joins the units of a partitioned hash join: chains the left rows of a unit in a hash table in shared memory and looks
// the right rows up in it. Every pair of rows with equal keys is an output row, as in join_output.glsl.
// One workgroup per unit; it takes right rows workgroup*items at a time.
// Inputs: units, uint32[4 * units]: left from, left to, right from, right to; left_keys and right_keys, words of
// KEY_BITS; left_payload, right_payload, left_payload_2 and right_payload_2, words of 32 times left_words, ... bits,
// absent: the row numbers.
// In and out: places. PLACING 0: uint64[units], the output row of each unit's first, less first_row; only read. PLACING
// 1: uint32[3], zero before: output rows reserved from first_row on, and a 64-bit count of all, those that found no
// room among out_rows included; where the two differ or pass out_rows, rows are missing. PAGED 1, whatever PLACING: the
// same for pages of page_rows rows that invocations take one after the other; rows are missing where more than out_rows
// are taken. From word 64 on a bitmap, all set before, in which rows that stay empty are cleared.
// MARKED 1, PLACING 1: word 16 of places is the word from which on it holds a bitmap of the rows of left_keys, word 17
// the same of right_keys. Rows that have a match are added to those of sides: 1 right, 2 left, 3 both.
// Outputs: keys_out, words of KEY_BITS, or of 64 bits (widened 1); left_out, right_out, left_out_2 and right_out_2,
// payload; each may be absent. There are no second columns where left_words_2 or right_words_2 is 0.
// Preconditions: no unit has more than table left rows; heads is a power of 2; SHARED 0: a workgroup consists of whole
// subgroups; output rows are less than 2^31; mixed 1: keys are mixed with seed, and those of a unit agree in the low
// shift bits, at most 16; decided 1: KEY_BITS is 32, mixed 1, and heads << shift at least 2^16.
// Source: RT 3.2.2; GFTR 3.2 and 4.3. The table is RT's chunk of shared memory with chains instead of a scan.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/partition_join.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)
#define BUILD_IN_FLIGHT 8u

#if MARKED
uvec2 left_marks, right_marks; // bitmaps
#include "left_marks.glsl"
#endif
#include "join_output.glsl"
#include "unit_table.glsl"

// 1 + the first left row of a chain from node on that has the key; 0: none.
uint match_of(Key key, uint tag, uint node) {
    while (node > 0u) {
        uint entry = sh_node[node - 1u];
        if (entry >> 16 == tag && (decided == 1u || unit_keys.at[node - 1u] == key)) break;
        node = entry & 0xffffu;
    }
    return node;
}

uint first_match(Key key) {
    Key bits = bits_of(key);
    return match_of(key, tag_of(bits), sh_head[chain_of(bits)]);
}
uint next_match(Key key, uint at) { return match_of(key, tag_of(bits_of(key)), sh_node[at - 1u] & 0xffffu); }

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    uint left_first = rows.x, left_count = rows.y - rows.x, right_first = rows.z, right_count = rows.w - rows.z;
    uint run = RUN;
    begin_batches();
    unit_keys = COLUMN_FROM(KEY_BITS)(left_keys, left_first);
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, right_first);

    Key key[items]; // of right rows; the first ones are under way while the table is built
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        if (run + k * STRIDE < right_count) key[k] = right.at[run + k * STRIDE];
    }
#if MARKED
    left_marks = element_address(places, column32_from(places, 16u).at[0], 2u);
    right_marks = element_address(places, column32_from(places, 17u).at[0], 2u);
    clear_left_marks(left_first, left_count);
#endif
    build_table(left_count);
    barrier();

    uint done = 0u;
    for (uint first = 0u; first < right_count; first += batch_rows) {
        Key next[items]; // under way while the batch is joined
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint row = first + batch_rows + run + k * STRIDE;
            if (row < right_count) next[k] = right.at[row];
        }
        join_batch(unit, left_first, right_first + first, run, min(right_count - first, batch_rows), key, done);
        [[unroll]] for (uint k = 0u; k < items; ++k) key[k] = next[k];
    }
    count_rows(done);
#if PAGED
    leave_page();
#elif MARKED
    put_left_marks(left_first, left_count);
#endif
}
