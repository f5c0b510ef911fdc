// Narrow keys: with narrow 1 a column has 64-bit words, whose low ones are the keys (KEY_BITS is 32 then), and high[0] is the high one of
// all of them. high[1] is accumulated and becomes other than 0 where a key has another high word.
// What row row of from has in the high word that it should not.
#define DIFFERING(from, row, expected) (narrow == 1u ? uint(Column32(uvec2(from)).at[2u * (row) + 1u] ^ expected) : 0u)

void report(uvec2 high, uint differing) {
    if (differing != 0u) atomicOr(Column32(high).at[1], differing);
}
