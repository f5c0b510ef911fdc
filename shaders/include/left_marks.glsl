// Marks of the left rows of a unit, which stay in shared memory until it ends.
// A kernel with this file has the constants table and sides and the push constant left_marks. Rows are counted within
// the unit.
#include "bitmap.glsl"
#include "join_mark.glsl"

// In the words of left_marks from that of the first left row on.
shared uint sh_left_marks[(sides & mark_left) != 0u ? (table + 62u) / 32u : 1u];
uint first_bit; // the place of the first left row in there

// All invocations call it; a barrier lies between it and the marks.
void clear_left_marks(uint left_first, uint left_count) {
    first_bit = left_first % 32u;
    if ((sides & mark_left) == 0u) return;
    for (uint i = INVOCATION; i * 32u < first_bit + left_count; i += WORKGROUP_SIZE) sh_left_marks[i] = 0u;
}

// Marks a row, and tells whether nobody had; several that mark it at a time may all hear so.
bool mark_first(uint row) {
    uint at = first_bit + row, bit = 1u << at % 32u;
    bool first = (sh_left_marks[at / 32u] & bit) == 0u;
    if (first) atomicOr(sh_left_marks[at / 32u], bit);
    return first;
}

// Marks rows first to end-1.
void mark_all(uint first, uint end) {
    uint begin = (first_bit + first) / 32u * 32u;
    first += first_bit - begin;
    end += first_bit - begin;
    for (uint word = 0u; word * 32u < end; ++word) {
        atomicOr(sh_left_marks[begin / 32u + word], bits_between(first, end, word));
    }
}

// Adds the marks to left_marks. All invocations call it.
void put_left_marks(uint left_first, uint left_count) {
    if ((sides & mark_left) == 0u) return;
    barrier();
    for (uint i = INVOCATION; i * 32u < first_bit + left_count; i += WORKGROUP_SIZE) {
        uint bits = sh_left_marks[i];
        if (bits > 0u) atomicOr(column32_from(left_marks, left_first / 32u + i).at[0], bits);
    }
}
