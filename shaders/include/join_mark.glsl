// Rows that have a match, marked in bitmaps.
#include "mark_rows.glsl"

// The sides that kernels mark, as a set.
const uint mark_right = 1u, mark_left = 2u;
