// Texts: bytes one behind the other, with 20 more behind the last one. Text i begins at byte starts[i] and ends before
// byte starts[i + 1] or, where starts are absent, has width bytes from i * width on.
#include "bitmap.glsl"

struct Text { uint first, size; };

Text text_of(uvec2 starts, uint width, uint row) {
    if (absent(starts)) return Text(row * width, width);
    Column32 from = column32_from(starts, row);
    uint first = from.at[0];
    return Text(first, from.at[1] - first);
}

// The bits of a word of a block that lie before its end, left bytes behind its beginning.
uint bits_of_block(uint word, uint left) { return left > 4u * word ? bits_below(8u * (left - 4u * word)) : 0u; }

// The 16 bytes of a text from byte begin on, which it has, with zeros behind its end.
uvec4 block_of(uvec2 texts, Text text, uint begin) {
    uint first = text.first + begin, left = text.size - begin, shift = first % 4u * 8u;
    Column32 from = column32_from(texts, first / 4u);
    uvec4 block = uvec4(from.at[0], from.at[1], from.at[2], from.at[3]);
    if (shift > 0u) block = block >> shift | uvec4(block.yzw, from.at[4]) << 32u - shift;
    if (left < 16u) {
        block &= uvec4(bits_of_block(0u, left), bits_of_block(1u, left), bits_of_block(2u, left), bits_of_block(3u, left));
    }
    return block;
}
