// What becomes of a right row in kernels that mark: with a match, its bit is set in marks.
#extension GL_KHR_shader_subgroup_ballot : require

void looked_up(uint row, uint matches) {
    uvec4 matched = subgroupBallot(matches > 0u);
    uint lane = gl_SubgroupInvocationID;
    if (lane > 0u && row % 32u > 0u) return; // the first row of a word sets the bits of all that the subgroup has there
    uint word = lane / 32u, bits = matched[word] >> lane % 32u;
    if (lane % 32u > 0u && word < 3u) bits |= matched[word + 1u] << 32u - lane % 32u;
    bits <<= row % 32u;
    if (bits > 0u) atomicOr(column32_from(marks, row / 32u).at[0], bits);
}
