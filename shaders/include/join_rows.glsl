// Output rows of kernels that join, and room for them. See join_output.glsl and join_walking.glsl.
// A kernel with this file has the macro SHARED: 1: without subgroup operations.
#if !SHARED
#include "subgroup_sum.glsl"
#endif

// What the invocations of a workgroup tell each other of a batch. Batches take turns in two places, so that no barrier is
// needed between the end of one and the beginning of the next: whoever writes in a place has passed a barrier of the
// batch before, to which all come after they read that place.
#if !SHARED
const uint subgroups = (WORKGROUP_SIZE + 3u) / 4u; // at most
shared uint sh_subgroup_sum[2u * subgroups];       // output rows
#endif
shared uint sh_start[2], sh_room[2];               // see place
uint turn = 0u;

layout(buffer_reference, std430, buffer_reference_align = 4) coherent volatile buffer Cursor { uint at[]; };

const uint has_more = 1u << 31;

// Row row of a payload column of so many words a value behind row first; the number of the row where the column is
// absent.
uvec2 payload_of(uvec2 column, uint words, uint first, uint row) {
    uvec2 value = uvec2(first + row, 0u);
    if (!absent(column)) {
        if (words == 2u) value = column64_from(column, first).at[row];
        else value.x = column32_from(column, first).at[row];
    }
    return value;
}

void put(uvec2 column, uint words, uint first, uint row, uvec2 value) {
    if (!absent(column)) {
        if (words == 2u) column64_from(column, first).at[row] = value;
        else column32_from(column, first).at[row] = value.x;
    }
}

// Keys that were mixed are turned back; low words whose high words are all alike become whole keys again.
void put_key(uvec2 column, uint first, uint row, Key key) {
    if (!absent(column)) {
        if (mixed == 1u) key = unmix_of(key, seed);
#if KEY_BITS == 32
        if (widened == 1u) column64_from(column, first).at[row] = uvec2(key, high);
        else
#endif
        COLUMN_FROM(KEY_BITS)(column, first).at[row] = key;
    }
}

// The values of both payload columns of a side; words[1] is 0 where there is no second one.
struct Payloads { uvec2 of[2]; };

Payloads payloads_of(uvec2 column, uvec2 second, uvec2 words, uint first, uint row) {
    Payloads p;
    p.of[0] = payload_of(column, words[0], first, row);
    if (words[1] > 0u) p.of[1] = payload_of(second, words[1], first, row);
    return p;
}

// Adds the output rows of a unit, fewer than 2^32, to the 64-bit count of all. All invocations call it, once.
void count_rows(uint n) {
    if (PAGED == 0 && placing == 0u || INVOCATION > 0u || n == 0u) return;
    Cursor cursor = Cursor(places);
    if (atomicAdd(cursor.at[1], n) > ~n) atomicAdd(cursor.at[2], 1u);
}

#if PAGED
#include "join_pages.glsl"
#else
// Finds room for n output rows behind done others of the unit: sh_room[turn] of them begin at output row
// sh_start[turn], and the rest have none.
void place(uint unit, uint done, uint n) {
    sh_room[turn] = 0u;
    if (placing == 0u) {
        sh_start[turn] = first_row + column64_from(places, unit).at[0].x + done;
        sh_room[turn] = n;
        return;
    }
    Cursor cursor = Cursor(places);
    uint start = 0u;
    if (n <= 0x10000u) {
        // One atomic operation a batch: all workgroups wait for this word. Rows that do not fit are given back at once,
        // so that what is reserved passes out_rows by less than 2^31. Two workgroups may then get the same rows, but
        // rows are missing in any case.
        start = atomicAdd(cursor.at[0], n);
        if (start <= out_rows && n <= out_rows - start) sh_room[turn] = n;
        else atomicAdd(cursor.at[0], 0u - n);
    } else {
        uint reserved = atomicAdd(cursor.at[0], 0u);
        for (uint tries = 0u; tries < 0x1000u && n <= out_rows && reserved <= out_rows - n; ++tries) {
            start = atomicCompSwap(cursor.at[0], reserved, reserved + n);
            if (start == reserved) {
                sh_room[turn] = n;
                break;
            }
            reserved = start;
        }
    }
    sh_start[turn] = first_row + start;
}
#endif
