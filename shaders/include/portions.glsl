// The rows of a tile, and scans over them, without subgroup operations: a workgroup takes portions of four rounds
// (tile_rows.glsl) one after the other. A kernel with this file defines before: Held, the type of what a round holds;
// combine(Held, Held), associative; nothing(), which changes nothing; and put_scanned and scanned of
// workgroup_scan.glsl, for 4*WORKGROUP_SIZE elements.
DEFINE_WORKGROUP_SCAN(Held, combine, nothing())

#define PORTION 4u // rounds

Values value[PORTION];

// Whether the portion from round first on is full, and takes no tests of rows, so that loads overlap.
bool full(uint first, uint count) { return row_of(first + PORTION) - row_of(0u) <= count; }

void load_portion(uvec2 from, uint first, uint count) {
    if (full(first, count)) {
        [[unroll]] for (uint r = 0u; r < PORTION; ++r) value[r] = load_values(from, row_of(first + r) / PER_LOAD);
    } else {
        [[unroll]] for (uint r = 0u; r < PORTION; ++r) value[r] = load_rows(from, row_of(first + r), count);
    }
}

// store_rest comes behind the last portion.
void store_portion(uvec2 to, uint first, uint count, Sums sums[PORTION]) {
    [[unroll]] for (uint r = 0u; r < PORTION; ++r) {
        if (row_of(first + r) < count) store_rows(to, row_of(first + r), count, sums[r]);
    }
}

// What each round of the portion holds becomes before and what the rows before it in the portion hold, for which each
// invocation scans four neighbouring elements by itself. Returns before and what the whole portion holds.
Held scan_portion(Held before, inout Held held[PORTION]) {
    Held own[PORTION], sum = nothing(), all;
    [[unroll]] for (uint r = 0u; r < PORTION; ++r) put_scanned(r * WORKGROUP_SIZE + INVOCATION, held[r]);
    barrier();
    [[unroll]] for (uint k = 0u; k < PORTION; ++k) {
        own[k] = scanned(PORTION * INVOCATION + k);
        sum = combine(sum, own[k]);
    }
    barrier();
    Held at = workgroup_scan(sum, all);
    at = combine(before, at);
    barrier();
    [[unroll]] for (uint k = 0u; k < PORTION; ++k) {
        put_scanned(PORTION * INVOCATION + k, at);
        at = combine(at, own[k]);
    }
    barrier();
    [[unroll]] for (uint r = 0u; r < PORTION; ++r) held[r] = scanned(r * WORKGROUP_SIZE + INVOCATION);
    barrier();
    return combine(before, all);
}
