// Atomic operations of shared and of device memory; what each returns is checked where it does not depend on the order.
shared uint sh_word[8];
layout(buffer_reference, std430, buffer_reference_align = 4) coherent volatile buffer Open { uint at[]; };

void main() {
    if (LOCAL < 8u) sh_word[LOCAL] = LOCAL == 1u || LOCAL == 3u ? 0xffffffffu : 0u;
    barrier();
    uint a = VALUE(0u);
    atomicAdd(sh_word[0], a);
    atomicMin(sh_word[1], a);
    atomicMax(sh_word[2], a);
    atomicAnd(sh_word[3], a | 0xff00u);
    atomicOr(sh_word[4], a & 0xf0fu);
    atomicXor(sh_word[5], a);
    uint before = atomicCompSwap(sh_word[6], 0u, 1000u);
    if (LOCAL == 5u) atomicExchange(sh_word[7], a);
    barrier();
    for (uint i = 0u; i < 8u; ++i) RESULT(i) = sh_word[i];
    RESULT(8u) = before % 1000u;
    Open open = Open(results);
    uint mine = 16u * ROW + 9u;
    open.at[mine] = a;
    RESULT(10u) = atomicAdd(open.at[mine], 3u) + open.at[mine];
    RESULT(11u) = atomicExchange(open.at[mine], 5u) ^ atomicOr(open.at[mine], 8u);
    RESULT(12u) = atomicCompSwap(open.at[mine], 13u, a) + open.at[mine];
    memoryBarrierBuffer();
    RESULT(13u) = atomicAnd(Words(results).at[mine], 255u) + atomicMax(Words(results).at[mine], 77u) + atomicMin(Words(results).at[mine], 99u);
}
