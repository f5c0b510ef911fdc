// Scans what the rounds of a tile (tile_rows.glsl) hold, in the order of the rows, without subgroup operations. A kernel with this
// file defines before: Held, the type of that; combine(Held, Held), associative; nothing(), which changes nothing; and
// put_scanned and scanned of workgroup_scan.glsl, for 4*WORKGROUP_SIZE elements. Four rounds at a time take these, and each
// invocation scans four neighbouring elements by itself.
DEFINE_WORKGROUP_SCAN(Held, combine, nothing())

Held scan_four(Held before, inout Held a, inout Held b, inout Held c, inout Held d) {
    Held own[4], all;
    put_scanned(INVOCATION, a);
    put_scanned(INVOCATION + WORKGROUP_SIZE, b);
    put_scanned(INVOCATION + 2u * WORKGROUP_SIZE, c);
    put_scanned(INVOCATION + 3u * WORKGROUP_SIZE, d);
    barrier();
    [[unroll]] for (uint k = 0u; k < 4u; ++k) own[k] = scanned(4u * INVOCATION + k);
    barrier();
    Held at = workgroup_scan(combine(combine(own[0], own[1]), combine(own[2], own[3])), all);
    at = combine(before, at);
    barrier();
    [[unroll]] for (uint k = 0u; k < 4u; ++k) {
        put_scanned(4u * INVOCATION + k, at);
        at = combine(at, own[k]);
    }
    barrier();
    a = scanned(INVOCATION);
    b = scanned(INVOCATION + WORKGROUP_SIZE);
    c = scanned(INVOCATION + 2u * WORKGROUP_SIZE);
    d = scanned(INVOCATION + 3u * WORKGROUP_SIZE);
    barrier();
    return combine(before, all);
}

// What each round holds becomes before and what the rows before it in the tile hold; returns before and what all rows hold. A
// round behind the last one holds nothing.
Held scan_rounds(Held before, inout Held held[ROUNDS]) {
    before = scan_four(before, held[0], held[1], held[2], held[3]);
    if (rounds > 4u) before = scan_four(before, held[4], held[5], held[6], held[7]);
#if IN_BITS == 64
    if (rounds > 8u) before = scan_four(before, held[8], held[9], held[10], held[11]);
    if (rounds > 12u) before = scan_four(before, held[12], held[13], held[14], held[15]);
#endif
    return before;
}
