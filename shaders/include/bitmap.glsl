// Bitmaps: bit i is bit i%32 of word i/32.

// Ones below a bit of a word, which may be 32 or more.
uint bits_below(uint bit) { return bit < 32u ? (1u << bit) - 1u : ~0u; }

// The bits of a word that lie in [first, end); first is in word 0.
uint bits_between(uint first, uint end, uint word) {
    uint begin = word * 32u;
    return (end > begin ? bits_below(end - begin) : 0u) & ~(word == 0u ? bits_below(first) : 0u);
}
