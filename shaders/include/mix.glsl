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

uint unmix_of(uint key, uint seed) {
    key = (key ^ key >> 16) * 0x7ed1b41du;
    key = (key ^ key >> 13 ^ key >> 26) * 0xa5cb9243u;
    return key ^ key >> 16 ^ seed;
}
uvec2 unmix_of(uvec2 key, uint seed) {
    key.x ^= mix_of(key.y, seed + 1u);
    key.y ^= mix_of(key.x, ~seed);
    key.x ^= mix_of(key.y, seed);
    return key;
}
