// The digit of a key: (key >> shift) & mask. shift is less than the width of the key; a digit that begins in the low word of a
// 64-bit key ends in it.
struct Digit { uint shift, mask; };

const uint max_digits = 256u;

uint digit_of(uint key, Digit digit) { return key >> digit.shift & digit.mask; }
uint digit_of(uvec2 key, Digit digit) { return (digit.shift < 32u ? key.x : key.y) >> (digit.shift & 31u) & digit.mask; }
