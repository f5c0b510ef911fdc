// matches_of for join_lookup.glsl, of left rows that are walked through. unique 1: a key has one match, or the first of
// them is enough.
uint matches_of(Key key, inout uint cursor) {
    uint matches = 0u, next;
    for (uint stop = first_stop(key, cursor); stop > 0u; stop = next) {
        if (matches_at(key, stop, next)) {
            ++matches;
            if (unique == 1u) next = 0u;
        }
    }
    return matches;
}
