// What kernels that join have in common: right rows, a batch of workgroup*items at a time, look for matches, and every pair of rows
// with equal keys becomes an output row: the key, and up to two payload columns of each side.
// A kernel with this file has the constants and push constants named below, and defines before how a key finds left rows:
uint first_match(Key key);         // where the first match is, 1 to 2^31 - 1; 0: there is none
uint next_match(Key key, uint at); // the one after it
uint left_row(uint at);            // its row, counted from left_first

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uint)

layout(buffer_reference, std430, buffer_reference_align = 4) coherent volatile buffer Cursor { uint at[]; };

shared uint sh_start, sh_room; // of the output rows of a batch, see place

const uint batch_rows = WORKGROUP_SIZE * items;
const uint has_more = 1u << 31;
const uint bitmap_word = 64u; // PLACING 3: where it begins in places

uint page_next = 0u, page_end = 0u; // PLACING 3: the free rows of this invocation's page, relative to first_row

// Row row of a payload column of so many words a value behind row first; the number of the row where the column is absent.
uvec2 payload_of(uvec2 column, uint words, uint first, uint row) {
    if (absent(column)) return uvec2(first + row, 0u);
    if (words == 2u) return column64_from(column, first).at[row];
    return uvec2(column32_from(column, first).at[row], 0u);
}

void put(uvec2 column, uint words, uint first, uint row, uvec2 value) {
    if (absent(column)) return;
    if (words == 2u) column64_from(column, first).at[row] = value;
    else column32_from(column, first).at[row] = value.x;
}

void put_key(uvec2 column, uint first, uint row, Key key) {
    if (absent(column)) return;
#if KEY_BITS == 32
    if (widened == 1u) {
        column64_from(column, first).at[row] = uvec2(key, high);
        return;
    }
#endif
    COLUMN_FROM(KEY_BITS)(column, first).at[row] = key;
}

// The values of both payload columns of a side; words[1] is 0 where there is no second one.
struct Payloads { uvec2 of[2]; };

Payloads payloads_of(uvec2 column, uvec2 second, uvec2 words, uint first, uint row) {
    Payloads p;
    p.of[0] = payload_of(column, words[0], first, row);
    if (words[1] > 0u) p.of[1] = payload_of(second, words[1], first, row);
    return p;
}

// Takes a page of output rows, one behind the end where there are no more.
void take_page() {
    Cursor cursor = Cursor(places);
    page_next = out_rows;
    // What is taken passes out_rows only by what invocations take at the same time: far less than 2^31.
    if (atomicAdd(cursor.at[0], 0u) <= out_rows) page_next = min(out_rows, atomicAdd(cursor.at[0], page_rows));
    page_end = page_next + page_rows;
}

// Marks the rows of the last page that stay empty.
void leave_page() {
    for (uint row = first_row + page_next; row < first_row + min(page_end, out_rows); ++row) {
        atomicAnd(Cursor(places).at[bitmap_word + row / 32u], ~(1u << row % 32u));
    }
}

// Finds room for n output rows behind done others of the unit: sh_room of them begin at output row sh_start, and the rest have none.
void place(uint unit, uint done, uint n) {
    sh_room = 0u;
    if (placing == 1u) {
        sh_start = first_row + column64_from(places, unit).at[0].x + done;
        sh_room = n;
        return;
    }
    Cursor cursor = Cursor(places);
    uint counted = atomicAdd(cursor.at[1], n);
    if (counted + n < n) atomicAdd(cursor.at[2], 1u);
    if (placing == 3u) {
        sh_start = first_row;
        sh_room = out_rows;
        return;
    }
    uint reserved = atomicAdd(cursor.at[0], 0u), start = 0u;
    if (n <= 0x10000u) {
        if (reserved > out_rows) return;
        // What is reserved passes out_rows only by what workgroups reserve at the same time: far less than 2^31.
        start = atomicAdd(cursor.at[0], n);
        if (start <= out_rows && n <= out_rows - start) sh_room = n;
    }
    for (uint turn = 0u; turn < 0x1000u && n > 0x10000u && n <= out_rows && reserved <= out_rows - n; ++turn) {
        start = atomicCompSwap(cursor.at[0], reserved, reserved + n);
        if (start == reserved) {
            sh_room = n;
            break;
        }
        reserved = start;
    }
    sh_start = first_row + start;
}

struct Columns { uvec2 keys, left, right, left_2, right_2; };

Columns outputs() { return Columns(keys_out, left_out, right_out, left_out_2, right_out_2); }

void put_row(Columns columns, uint start, uint to, Key key, Payloads left, Payloads right) {
    put_key(columns.keys, start, to, mixed == 1u ? unmix_of(key, seed) : key);
    put(columns.left, left_words, start, to, left.of[0]);
    put(columns.right, right_words, start, to, right.of[0]);
    if (left_words_2 > 0u) put(columns.left_2, left_words_2, start, to, left.of[1]);
    if (right_words_2 > 0u) put(columns.right_2, right_words_2, start, to, right.of[1]);
}

// The row of a page that an invocation fills.
uint page_row() {
    if (page_next == page_end) take_page();
    return page_next++;
}

// Joins count right rows from first on, of which an invocation holds the keys of run, run + subgroup size, ...; the unit has
// done output rows before, to which those of the batch are added.
void join_batch(uint unit, uint left_first, uint first, uint run, uint count, Key key[items], inout uint done) {
    uint match[items], own = 0u;
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        match[k] = 0u;
        if (run + k * gl_SubgroupSize < count) {
            match[k] = first_match(key[k]);
            own += min(match[k], 1u);
            if (unique == 0u && match[k] > 0u) {
                uint before = own;
                for (uint m = next_match(key[k], match[k]); m > 0u; m = next_match(key[k], m)) ++own;
                if (own > before) match[k] |= has_more;
            }
        }
    }
    uvec2 left_sizes = uvec2(left_words, left_words_2), right_sizes = uvec2(right_words, right_words_2);
    Payloads left_value[items], right_value[items]; // under way while room is found
    if (placing > 0u) {
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            if (match[k] > 0u) {
                left_value[k] = payloads_of(left_payload, left_payload_2, left_sizes, left_first, left_row(match[k] & ~has_more));
                right_value[k] = payloads_of(right_payload, right_payload_2, right_sizes, first, run + k * gl_SubgroupSize);
            }
        }
    }
    uint all, at = workgroup_sum(subgroup_sum(own), all);
    if (placing > 0u && all > 0u) {
        if (INVOCATION == 0u) place(unit, done, all);
        barrier();
        uint room = sh_room, start = sh_start;
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint m = match[k] & ~has_more;
            bool more = match[k] >= has_more;
            while (subgroupAny(m > 0u)) { // in every round each row with matches left writes one
                uvec4 matched = subgroupBallot(m > 0u);
                if (m > 0u) {
                    uint to = at + subgroupBallotExclusiveBitCount(matched);
                    if (placing == 3u) to = page_row();
                    if (to < room) put_row(outputs(), start, to, key[k], left_value[k], right_value[k]);
                    m = more ? next_match(key[k], m) : 0u;
                    if (more && m > 0u) left_value[k] = payloads_of(left_payload, left_payload_2, left_sizes, left_first, left_row(m));
                }
                at += subgroupBallotBitCount(matched);
            }
        }
    }
    done += all;
}
