// Sets bits of a bitmap in device memory, of which other invocations set others at the same time.

layout(buffer_reference, std430, buffer_reference_align = 4) coherent volatile buffer Marks { uint at[]; };

#if SHARED

#include "batch_bits.glsl"

// Before the first batch. All invocations call it.
void begin_marks() {
    clear_bits();
    barrier();
}

// Marks some of the k-th rows of a workgroup, a row an invocation.
void collect_marks(uint k, bool marked) {
    if (marked) set_bit(k);
}

// Sets the bits of a batch, whose rows begin at row. All invocations call it.
void put_marks(uvec2 marks, uint row) {
    barrier();
    put_bits(marks, row);
    clear_next_bits();
    barrier();
    bits_turn = 1u - bits_turn;
}

#else

#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require

// Marks of the rows of a batch, of which a subgroup has items times its size side by side: invocation j collects the
// bits of its rows from 32j on, and all are set at once. Whatever the size of subgroups, items is at most 24.
uint batch_marks = 0u;

void begin_marks() {}

// Marks some of the k-th rows of a subgroup, a row an invocation. All of them call it.
void collect_marks(uint k, bool marked) {
    uvec4 ballot = subgroupBallot(marked);
    uint lane = gl_SubgroupInvocationID, size = gl_SubgroupSize;
    if (size <= 32u) {
        if (lane == k * size / 32u) batch_marks |= ballot.x << k * size % 32u;
    } else if (lane / (size / 32u) == k) {
        batch_marks = ballot[lane % (size / 32u)];
    }
}

// Sets the bits of a batch, whose rows of the subgroup begin at row. All invocations call it.
void put_marks(uvec2 marks, uint row) {
    uint lane = gl_SubgroupInvocationID, shift = row % 32u;
    uint before = subgroupShuffle(batch_marks, max(lane, 1u) - 1u);
    uint bits = batch_marks << shift;
    if (lane > 0u && shift > 0u) bits |= before >> 32u - shift;
    if (bits > 0u) atomicOr(column32_from(marks, row / 32u + lane).at[0], bits);
    batch_marks = 0u;
}

#endif

// Sets the bit of a row that many may set: who finds it set waits for no atomic operation.
void mark_row(uvec2 marks, uint row) {
    Marks word = Marks(element_address(marks, row / 32u, 2u));
    uint bit = 1u << row % 32u;
    if ((word.at[0] & bit) == 0u) atomicOr(word.at[0], bit);
}
