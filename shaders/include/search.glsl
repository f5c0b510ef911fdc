// Searches in sorted columns. A kernel with this file defines before: whether a row lies before the place that search number
// which looks for. Such rows come first.
bool before(uint which, uint row);

// The first row of [low, high) that does not lie before the place; high if there is none.
uint search(uint which, uint low, uint high) {
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (before(which, middle)) low = middle + 1u; else high = middle;
    }
    return low;
}

// The same where it is expected near low. The loop ends even on nonsense, when step becomes 0: where a workgroup fills no
// subgroup, lavapipe (Mesa 22.3) runs the missing invocations too, without their loads.
uint gallop(uint which, uint low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= high - low && before(which, low + step - 1u); step *= 2u) low += step;
    return search(which, low, low + min(step - 1u, high - low));
}

#if !SERIAL
// Searches 0 and 1 over [0, rows) by the whole workgroup, of an even number of invocations, or with SHARED of one. Each
// round cuts what is left of both into one step per invocation of a half: 2^32 rows take 5 rounds of 128 instead of 32
// loads one after the other.
shared uint sh_low[2], sh_passed[2];

uvec2 workgroup_search(uint rows) {
#if SHARED
    if (WORKGROUP_SIZE == 1u) return uvec2(search(0u, 0u, rows), search(1u, 0u, rows));
#endif
    uint probes = WORKGROUP_SIZE / 2u, which = INVOCATION / probes, probe = INVOCATION % probes;
    if (INVOCATION < 2u) sh_low[INVOCATION] = 0u;
    for (uint left = rows; left > 0u;) { // the first row not before the place is one of [low, low + left]
        if (INVOCATION < 2u) sh_passed[INVOCATION] = 0u;
        barrier();
        uint low = sh_low[which], step = (left + probes - 1u) / probes;
        uint row = min(probe * step + step, left) - 1u;
        if (probe * step < left && row < rows - low && before(which, low + row)) atomicMax(sh_passed[which], row + 1u);
        barrier();
        if (INVOCATION < 2u) sh_low[INVOCATION] += sh_passed[INVOCATION];
        left = step - 1u;
    }
    barrier();
    return uvec2(sh_low[0], sh_low[1]);
}
#endif
