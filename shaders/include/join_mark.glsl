// What becomes of a right row in kernels that mark: with a match, its bit is set in marks.
#include "mark_rows.glsl"

void looked_up(uint row, uint matches) { mark_rows(marks, row, matches > 0u); }
