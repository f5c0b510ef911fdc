#ifndef BATCH_BITS
#define BATCH_BITS
// The rows of a batch without subgroup operations: its row k*workgroup + invocation is the k-th of an invocation, and
// has a bit in shared memory. Batches take turns in two places, so that two barriers a batch are enough.
// A kernel with this file has the constant items.
const uint batch_words = (WORKGROUP_SIZE * items + 31u) / 32u;

shared uint sh_bits[2u * batch_words]; // by turn
uint bits_turn = 0u;

// Before the first batch. All invocations call it; a barrier lies between it and set_bit.
void clear_bits() {
    for (uint w = INVOCATION; w < 2u * batch_words; w += WORKGROUP_SIZE) sh_bits[w] = 0u;
}

// Clears the place of the next batch. All invocations call it between the two barriers of a batch.
void clear_next_bits() {
    for (uint w = INVOCATION; w < batch_words; w += WORKGROUP_SIZE) sh_bits[(1u - bits_turn) * batch_words + w] = 0u;
}

uint word_of_bits(uint w) { return sh_bits[bits_turn * batch_words + w]; }

void set_bit(uint k) {
    uint row = k * WORKGROUP_SIZE + INVOCATION;
    atomicOr(sh_bits[bits_turn * batch_words + row / 32u], 1u << row % 32u);
}

// Adds the bits of the batch to a bitmap in device memory, in which they begin at row. All invocations call it behind
// the first barrier of a batch, before they set bits of the next.
void put_bits(uvec2 marks, uint row) {
    uint shift = row % 32u;
    for (uint w = INVOCATION; w <= batch_words; w += WORKGROUP_SIZE) {
        uint bits = w < batch_words ? word_of_bits(w) << shift : 0u;
        if (w > 0u && shift > 0u) bits |= word_of_bits(w - 1u) >> 32u - shift;
        if (bits > 0u) atomicOr(column32_from(marks, row / 32u + w).at[0], bits);
    }
}
#endif
