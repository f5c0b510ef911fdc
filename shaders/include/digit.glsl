// The digit of a key: (key >> shift) & mask. shift is less than the width of the key.
struct Digit { uint shift, mask; };

const uint max_digits = 256u;

uint digit_of(uint key, Digit digit) { return key >> digit.shift & digit.mask; }
uint digit_of(uvec2 key, Digit digit) {
    uint shift = digit.shift;
    uint low = shift == 0u ? key.x : shift < 32u ? key.x >> shift | key.y << (32u - shift) : key.y >> (shift - 32u);
    return low & digit.mask;
}
