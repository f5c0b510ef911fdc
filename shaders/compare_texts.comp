// Compares pairs of texts of two columns: clears bit i%32 of word i/32 of keep where the texts of pair i differ in size,
// or in the piece bytes from byte begin on. Other bits stay.
// One invocation per items pairs, a workgroup apart.
// Inputs: left_texts and right_texts with starts or width (texts.glsl); left_ids and right_ids, uint32[rows], each with
// left_first or right_first the number of a text. Accumulated: keep, a bitmap of rows bits.
// Precondition: piece is a multiple of 16, begin one of piece.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/compare_texts.glsl"
#include "group.glsl"
#include "texts.glsl"

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint first = group * WORKGROUP_SIZE * items, count = rows_left(rows, first, WORKGROUP_SIZE * items);
    uvec2 left = left_texts, left_spans = left_starts, right = right_texts, right_spans = right_starts, bits = keep;
    uint left_size = left_width, left_from = left_first, right_size = right_width, right_from = right_first;
    uint from_byte = begin, end_byte = begin + piece;
    Column32 left_row = column32_from(left_ids, first), right_row = column32_from(right_ids, first);
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        Text a = text_of(left_spans, left_size, left_row.at[i] - left_from);
        Text b = text_of(right_spans, right_size, right_row.at[i] - right_from);
        bool differ = a.size != b.size;
        uint end = differ ? 0u : min(a.size, end_byte);
        for (uint at = from_byte; at < end && !differ; at += 16u) {
            differ = block_of(left, a, at) != block_of(right, b, at);
        }
        if (differ) atomicAnd(column32_from(bits, (first + i) / 32u).at[0], ~(1u << (first + i) % 32u));
    }
}
