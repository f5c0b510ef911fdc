// Sets bits of a bitmap in device memory, of which other invocations set others at the same time.
#extension GL_KHR_shader_subgroup_ballot : require

layout(buffer_reference, std430, buffer_reference_align = 4) coherent volatile buffer Marks { uint at[]; };

// Sets the bits of those rows of a subgroup that are marked. All its invocations call it, for rows side by side.
void mark_rows(uvec2 marks, uint row, bool marked) {
    uvec4 ballot = subgroupBallot(marked);
    uint lane = gl_SubgroupInvocationID;
    if (lane > 0u && row % 32u > 0u) return; // the first row of a word sets the bits of all that the subgroup has there
    uint bits = ballot.x >> lane;
    if (gl_SubgroupSize > 32u) {
        uint word = lane / 32u;
        bits = ballot[word] >> lane % 32u;
        if (lane % 32u > 0u && word < 3u) bits |= ballot[word + 1u] << 32u - lane % 32u;
    }
    bits <<= row % 32u;
    if (bits > 0u) atomicOr(column32_from(marks, row / 32u).at[0], bits);
}

// Sets the bit of a row that many may set: who finds it set waits for no atomic operation.
void mark_row(uvec2 marks, uint row) {
    Marks word = Marks(element_address(marks, row / 32u, 2u));
    uint bit = 1u << row % 32u;
    if ((word.at[0] & bit) == 0u) atomicOr(word.at[0], bit);
}
