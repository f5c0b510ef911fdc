// The rows of a match: their numbers in their chunks, and the bitmaps of rows with a partner.

// The number that a row had before its side was partitioned; ids are absent where it was not.
uint id_of(uvec2 ids, uint row) { return absent(ids) ? row : column32_from(ids, row).at[0]; }

void mark(uvec2 marks, uint row) {
    if (!absent(marks)) atomicOr(column32_from(marks, row / 32u).at[0], 1u << row % 32u);
}
