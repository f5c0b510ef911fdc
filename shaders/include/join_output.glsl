// What kernels that join have in common: right rows, a batch of workgroup*items at a time, look for matches, and every pair of rows
// with equal keys becomes an output row: the key, a payload of each side, and the numbers of both rows.
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

shared uint sh_start, sh_skip, sh_room; // of the output rows of a batch, see place

const uint batch_rows = WORKGROUP_SIZE * items;
const uint has_more = 1u << 31;

// Row row of a payload column of one or two words behind row first; the number of the row where the column is absent.
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

// Finds room for n output rows behind done others of the unit: the first sh_skip of them have none, the sh_room after them begin at
// output row sh_start, and the rest have none.
void place(uint unit, uint done, uint n) {
    sh_skip = 0u;
    sh_room = 0u;
    if (placing == 1u) {
        uvec2 start = subtract(add(column64_from(places, unit).at[0], uvec2(done, 0u)), uvec2(first_lo, first_hi));
        sh_start = start.x;
        if (start.y == 0u && start.x < out_rows) sh_room = out_rows - start.x;
        if (start.y >> 31 == 1u) { // before the first row that is wanted
            uvec2 before = subtract(uvec2(0u), start);
            sh_skip = before.y == 0u ? before.x : ~0u;
            sh_start = 0u;
            sh_room = out_rows;
        }
        return;
    }
    Cursor cursor = Cursor(places);
    uint counted = atomicAdd(cursor.at[1], n);
    if (counted + n < n) atomicAdd(cursor.at[2], 1u);
    uint reserved = atomicAdd(cursor.at[0], 0u);
    if (n <= 0x10000u) {
        if (reserved > out_rows) return;
        // What is reserved passes out_rows only by what workgroups reserve at the same time: far less than 2^31.
        sh_start = atomicAdd(cursor.at[0], n);
        if (sh_start <= out_rows && n <= out_rows - sh_start) sh_room = n;
        return;
    }
    for (uint turn = 0u; turn < 0x1000u && n <= out_rows && reserved <= out_rows - n; ++turn) {
        sh_start = atomicCompSwap(cursor.at[0], reserved, reserved + n);
        if (sh_start == reserved) {
            sh_room = n;
            return;
        }
        reserved = sh_start;
    }
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
    uvec2 left_value[items], right_value[items]; // under way while room is found
    if (placing > 0u) {
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            if (match[k] > 0u) {
                left_value[k] = payload_of(left_payload, left_words, left_first, left_row(match[k] & ~has_more));
                right_value[k] = payload_of(right_payload, right_words, first, run + k * gl_SubgroupSize);
            }
        }
    }
    uint all, at = workgroup_sum(subgroup_sum(own), all);
    if (placing > 0u && all > 0u) {
        if (INVOCATION == 0u) place(unit, done, all);
        barrier();
        uint skip = sh_skip, room = sh_room, start = sh_start;
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint m = match[k] & ~has_more, row = run + k * gl_SubgroupSize;
            bool more = match[k] >= has_more;
            while (subgroupAny(m > 0u)) { // in every round each row with matches left writes one
                uvec4 matched = subgroupBallot(m > 0u);
                if (m > 0u) {
                    uint j = at + subgroupBallotExclusiveBitCount(matched), to = j - skip;
                    if (j >= skip && to < room) {
                        if (!absent(keys_out)) COLUMN_FROM(KEY_BITS)(keys_out, start).at[to] = mixed == 1u ? unmix_of(key[k], seed) : key[k];
                        put(left_out, left_words, start, to, left_value[k]);
                        put(right_out, right_words, start, to, right_value[k]);
                        if (!absent(left_rows)) put(left_rows, 1u, start, to, uvec2(left_first + left_row(m), 0u));
                        put(right_rows, 1u, start, to, uvec2(first + row, 0u));
                    }
                    m = more ? next_match(key[k], m) : 0u;
                    if (more && m > 0u) left_value[k] = payload_of(left_payload, left_words, left_first, left_row(m));
                }
                at += subgroupBallotBitCount(matched);
            }
        }
    }
    done += all;
}
