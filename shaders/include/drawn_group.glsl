// Rows and groups of the draws that only read and write buffers; include it after the declarations of a draw.

// A vertex takes up to 8 rows, `vertices` apart, so that neighbours take neighbours: of vertices that draw nothing, a
// GPU takes far fewer in a second than of such rows. It is no loop, because lavapipe ends loops of vertex shaders after
// one trip under GPU-assisted validation.
#define TAKE_NEXT(take) if ((n += vertices) < rows) take(n)
#define TAKE_ROWS(take) { \
    uint n = uint(gl_VertexIndex); \
    take(n); TAKE_NEXT(take); TAKE_NEXT(take); TAKE_NEXT(take); \
    TAKE_NEXT(take); TAKE_NEXT(take); TAKE_NEXT(take); TAKE_NEXT(take); \
}
