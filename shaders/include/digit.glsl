// The digit of a key: (key >> shift) & (2^bits - 1). shift is less than the width of the key.
uint digit_of(uint key, uint shift, uint bits) { return (key >> shift) & ((1u << bits) - 1u); }
uint digit_of(uvec2 key, uint shift, uint bits) {
    uint low = shift == 0u ? key.x : shift < 32u ? key.x >> shift | key.y << (32u - shift) : key.y >> (shift - 32u);
    return low & ((1u << bits) - 1u);
}

const uint max_digits = 256u;
