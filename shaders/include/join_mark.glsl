// Marks of rows that have a match: bit row%32 of word row/32 of a bitmap.
#extension GL_KHR_shader_subgroup_ballot : require

// The sides that kernels mark, as a set.
const uint mark_right = 1u, mark_left = 2u;

// Marks the rows that have a match. Subgroups call it whole, for rows side by side.
void mark_rows(uvec2 bitmap, uint row, uint matches) {
    uvec4 matched = subgroupBallot(matches > 0u);
    uint lane = gl_SubgroupInvocationID;
    if (lane > 0u && row % 32u > 0u) return; // the first row of a word sets the bits of all that the subgroup has there
    uint word = lane / 32u, bits = matched[word] >> lane % 32u;
    if (lane % 32u > 0u && word < 3u) bits |= matched[word + 1u] << 32u - lane % 32u;
    bits <<= row % 32u;
    if (bits > 0u) atomicOr(column32_from(bitmap, row / 32u).at[0], bits);
}
