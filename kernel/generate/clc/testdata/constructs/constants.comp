// Specialization constants and what follows from them: sizes of arrays, bounds of loops, conditions.
const uint doubled = 2u * items, rounds = (gl_WorkGroupSize.x + doubled - 1u) / doubled;
const bool many = doubled > 5u;
const uint mask = many ? 0xffu : 0xfu;
uint seen[doubled + 1u];

void main() {
    for (uint i = 0u; i <= doubled; ++i) seen[i] = i * VALUE(0u);
    uint sum = 0u;
    [[unroll]] for (uint i = 0u; i < rounds; ++i) sum += seen[i % doubled] & mask;
    RESULT(0u) = sum;
    RESULT(1u) = many ? doubled : rounds;
    if (items == 3u) RESULT(2u) = items << 4u;
    else RESULT(2u) = 1u;
    uint local[items];
    for (uint i = 0u; i < items; ++i) local[i] = VALUE(i);
    RESULT(3u) = local[VALUE(3u) % items];
}
