// Subgroups of NVIDIA GPUs: warps of 32 invocations, by inline PTX, from compute capability 7.0 on. Kernels call these
// in control flow that is uniform in the subgroup. The mask of all lanes makes a warp that diverged before converge
// there. Lanes that a small workgroup lacks count as exited. Ballots have 32 bits, in x.

#define subgroup_size() 32u
#define subgroup_local_id() ((uint)get_local_id(0) & 31u)
#define subgroup_id() ((uint)get_local_id(0) >> 5)
#define subgroup_count() ((WORKGROUP + 31u) / 32u)
#define subgroup_lanes_below() ((1u << subgroup_local_id()) - 1u)
#define subgroup_lt_mask() ((uint4)(subgroup_lanes_below(), 0u, 0u, 0u))

// Orders accesses to device memory also for other workgroups; mem_fence promises less.
#define DEVICE_FENCE() __asm__ volatile("membar.gl;" ::: "memory")

#define subgroup_barrier() __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")

static inline __attribute__((always_inline)) uint subgroup_vote(uint set) {
    uint lanes;
    __asm__ volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\tvote.sync.ballot.b32 %0, p, 0xffffffff;\n\t}"
                 : "=r"(lanes) : "r"(set) : "memory");
    return lanes;
}

static inline __attribute__((always_inline)) uint subgroup_shuffle(uint a, uint lane) {
    uint other;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other) : "r"(a), "r"(lane) : "memory");
    return other;
}

static inline __attribute__((always_inline)) uint subgroup_shuffle_xor(uint a, uint mask) {
    uint other;
    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other) : "r"(a), "r"(mask) : "memory");
    return other;
}

// The value of so many lanes below; of this lane where there is none.
static inline __attribute__((always_inline)) uint subgroup_shuffle_up(uint a, uint lanes) {
    uint other;
    __asm__ volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(other) : "r"(a), "r"(lanes) : "memory");
    return other;
}

#define subgroup_elect() (subgroup_local_id() == 0u)
#define subgroup_any(a) (subgroup_vote(a) != 0u)
#define subgroup_all(a) (subgroup_vote(!(a)) == 0u)
#define subgroup_ballot(a) ((uint4)(subgroup_vote(a), 0u, 0u, 0u))
#define subgroup_ballot_bit_count(a) ((uint)popcount((a).x))
#define subgroup_ballot_exclusive_bit_count(a) ((uint)popcount((a).x & subgroup_lanes_below()))
#define subgroup_ballot_find_lsb(a) ((uint)popcount(((a).x & (0u - (a).x)) - 1u))
#define subgroup_ballot_find_msb(a) (31u - clz((a).x))
#define subgroup_broadcast(a, lane) subgroup_shuffle(a, lane)

static inline __attribute__((always_inline)) uint subgroup_add(uint a) {
    for (uint mask = 16u; mask > 0u; mask >>= 1) a += subgroup_shuffle_xor(a, mask);
    return a;
}

static inline __attribute__((always_inline)) uint subgroup_max(uint a) {
    for (uint mask = 16u; mask > 0u; mask >>= 1) a = max(a, subgroup_shuffle_xor(a, mask));
    return a;
}

static inline __attribute__((always_inline)) uint subgroup_exclusive_add(uint a) {
    uint sum = a;
    for (uint lanes = 1u; lanes < 32u; lanes <<= 1) {
        uint below = subgroup_shuffle_up(sum, lanes);
        if (subgroup_local_id() >= lanes) sum += below;
    }
    return sum - a;
}

static inline __attribute__((always_inline)) uint subgroup_exclusive_max(uint a) {
    for (uint lanes = 1u; lanes < 32u; lanes <<= 1) a = max(a, subgroup_shuffle_up(a, lanes));
    uint below = subgroup_shuffle_up(a, 1u);
    return subgroup_local_id() == 0u ? 0u : below;
}
