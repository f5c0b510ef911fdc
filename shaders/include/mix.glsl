// An invertible mix of a key and a seed, in which every bit depends on the whole key.

// The finalizer of MurmurHash3: multiplications by odd numbers and shifts that are xored to what they come from can be undone.
uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ key >> 16) * 0x85ebca6bu;
    key = (key ^ key >> 13) * 0xc2b2ae35u;
    return key ^ key >> 16;
}
// Three rounds of a Feistel network.
uvec2 mix_of(uvec2 key, uint seed) {
    key.x ^= mix_of(key.y, seed);
    key.y ^= mix_of(key.x, ~seed);
    key.x ^= mix_of(key.y, seed + 1u);
    return key;
}
