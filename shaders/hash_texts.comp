// Hashes texts, those that begin or go on at byte begin: piece bytes of each, whose states go on from those that the
// piece before has left. A block of 16 bytes is folded into the state by a multiplication to 128 bits.
// One invocation per items texts, a workgroup apart.
// Inputs: texts and starts or width (texts.glsl), of rows texts. Read and written: states, uint64[rows], of texts that
// are longer than piece, absent where none is; hashes, uint64[rows], of the texts that end in this piece: with folded=1
// those of the columns before, which this column is folded into. With coded=1 the first 8 bytes of a text are its hash.
// kept and kept_2, low and high word, are the bits of hashes that are not cleared.
// Preconditions: piece is a multiple of 16, begin one of piece; with coded=1 texts have 8 bytes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/hash_texts.glsl"
#include "group.glsl"
#include "texts.glsl"

// The halves of a product of 128 bits.
uvec2 fold(uvec2 a, uvec2 b) {
    uint low, low_high, left_low, left_high, right_low, right_high, high_low, high_high;
    umulExtended(a.x, b.x, low_high, low);
    umulExtended(a.x, b.y, left_high, left_low);
    umulExtended(a.y, b.x, right_high, right_low);
    umulExtended(a.y, b.y, high_high, high_low);
    uvec2 to_third;
    uvec3 to_fourth;
    uint second = uaddCarry(low_high, left_low, to_third.x);
    second = uaddCarry(second, right_low, to_third.y);
    uint third = uaddCarry(high_low, to_third.x + to_third.y, to_fourth.x);
    third = uaddCarry(third, left_high, to_fourth.y);
    third = uaddCarry(third, right_high, to_fourth.z);
    uint fourth = high_high + to_fourth.x + to_fourth.y + to_fourth.z;
    return uvec2(low ^ third, second ^ fourth);
}

const uvec2 text_seed = uvec2(0x85a308d3u, 0x243f6a88u), text_low = uvec2(0x03707344u, 0x13198a2eu),
    text_size = uvec2(0x299f31d0u, 0xa4093822u), fold_hash = uvec2(0x7f4a7c15u, 0x9e3779b9u),
    fold_code = uvec2(0xde82ef95u, 0xd1342543u);

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint first = group * WORKGROUP_SIZE * items, count = rows_left(rows, first, WORKGROUP_SIZE * items);
    uvec2 from = texts, spans = starts, state_column = states, bits = uvec2(kept, kept_2);
    uint size = width, from_byte = begin, end_byte = begin + piece, is_coded = coded, is_folded = folded;
    Column64 to = column64_from(hashes, first);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        Text text = text_of(spans, size, first + i);
        if (from_byte > 0u && text.size <= from_byte) continue;
        uvec2 hash = text_seed;
        if (from_byte > 0u) hash = column64_from(state_column, first + i).at[0];
        uint end = min(text.size, end_byte);
        uvec4 block = uvec4(0u);
        for (uint at = from_byte; at < end; at += 16u) {
            block = block_of(from, text, at);
            hash = fold(block.xy ^ text_low, block.zw ^ hash);
        }
        if (text.size > end_byte) {
            column64_from(state_column, first + i).at[0] = hash;
            continue;
        }
        hash = is_coded == 1u ? block.xy : fold(hash, uvec2(text.size, 0u) ^ text_size);
        if (is_folded == 1u) hash = fold(to.at[i] ^ fold_hash, hash ^ fold_code);
        to.at[i] = hash & bits;
    }
}
