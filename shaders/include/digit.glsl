// The digit of a key: (key >> shift) & mask of its bits or, where mixed is 1, of an invertible mix of the key and a seed, so that
// every digit depends on all of it. shift is less than the width of the key; a digit that begins in the low word of a 64-bit key
// ends in it.
struct Digit { uint shift, mask, seed; };

const uint max_digits = 256u;

layout(constant_id = 2) const uint mixed = MIXED;

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

// The key whose bits, or those of its mix, are all ones: it belongs to the last digit.
uint last_key32(uint seed) { return mixed == 1u ? 0x331da083u ^ seed : ~0u; }
uvec2 last_key64(uint seed) {
    if (mixed == 0u) return uvec2(~0u);
    uint x = ~mix_of(~0u, seed + 1u), y = ~mix_of(x, ~seed);
    return uvec2(x ^ mix_of(y, seed), y);
}

uint bits_of(uint key, Digit digit) { return key >> digit.shift & digit.mask; }
uint bits_of(uvec2 key, Digit digit) { return (digit.shift < 32u ? key.x : key.y) >> (digit.shift & 31u) & digit.mask; }

#define LAST_KEY(bits) PASTE(last_key, bits)

uint digit_of(uint key, Digit digit) { return bits_of(mixed == 0u ? key : mix_of(key, digit.seed), digit); }
uint digit_of(uvec2 key, Digit digit) { return bits_of(mixed == 0u ? key : mix_of(key, digit.seed), digit); }
