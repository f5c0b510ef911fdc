// Subgroup operations on vectors, by those on words.
static inline __attribute__((always_inline)) uint2 subgroup_shuffle_uint2(uint2 a, uint lane) {
    return (uint2)(subgroup_shuffle(a.x, lane), subgroup_shuffle(a.y, lane));
}

static inline __attribute__((always_inline)) uint4 subgroup_shuffle_xor_uint4(uint4 a, uint mask) {
    return (uint4)(subgroup_shuffle_xor(a.x, mask), subgroup_shuffle_xor(a.y, mask), subgroup_shuffle_xor(a.z, mask),
                   subgroup_shuffle_xor(a.w, mask));
}

static inline __attribute__((always_inline)) uint3 subgroup_add_uint3(uint3 a) {
    return (uint3)(subgroup_add(a.x), subgroup_add(a.y), subgroup_add(a.z));
}

static inline __attribute__((always_inline)) uint3 subgroup_exclusive_add_uint3(uint3 a) {
    return (uint3)(subgroup_exclusive_add(a.x), subgroup_exclusive_add(a.y), subgroup_exclusive_add(a.z));
}
