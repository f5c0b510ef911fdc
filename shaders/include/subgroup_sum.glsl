// Sums over the invocations of a subgroup and of a workgroup, of 32- and 64-bit words, for subgroups of any size up to 128.
// Invocations are ordered by subgroup and by place in it (ORDER), whatever their local id.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#define ORDER (gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID)

uint subgroup_sum(uint a) { return subgroupAdd(a); }
uint subgroup_sum_before(uint a) { return subgroupExclusiveAdd(a); }

// 64-bit words are summed in limbs of 22, 22 and 20 bits, so that 128 of each fit a word.
const uint limb_mask = (1u << 22) - 1u;
uvec3 limbs(uvec2 a) { return uvec3(a.x & limb_mask, (a.x >> 22) | (a.y & 0xfffu) << 10, a.y >> 12); }
uvec2 from_limbs(uvec3 limb) {
    uvec2 sum = add(uvec2(limb.x, 0u), uvec2(limb.y << 22, limb.y >> 10));
    return uvec2(sum.x, sum.y + (limb.z << 12));
}
uvec2 subgroup_sum(uvec2 a) { return from_limbs(subgroupAdd(limbs(a))); }
uvec2 subgroup_sum_before(uvec2 a) { return from_limbs(subgroupExclusiveAdd(limbs(a))); }

// workgroup_sum adds up own, which all invocations of a subgroup hold alike, over the subgroups: before this one, and in
// all. Every invocation of the workgroup calls it; a barrier lies between two calls.
#define DEFINE_WORKGROUP_SUM(Sum)                                                 \
    shared Sum sh_subgroup_sum[(WORKGROUP_SIZE + 3u) / 4u];                       \
    Sum workgroup_sum(Sum own, out Sum all) {                                     \
        if (subgroupElect()) sh_subgroup_sum[gl_SubgroupID] = own;                \
        barrier();                                                                \
        Sum before = Sum(0);                                                      \
        all = Sum(0);                                                             \
        for (uint s = 0u; s < gl_NumSubgroups; ++s) {                             \
            if (s == gl_SubgroupID) before = all;                                 \
            all = add(all, sh_subgroup_sum[s]);                                   \
        }                                                                         \
        return before;                                                            \
    }
