// Subgroups of one invocation. The least size of a subgroup is 1, whatever the device was asked for.
#undef SUBGROUP
#define SUBGROUP 1u
#define subgroup_size() 1u
#define subgroup_local_id() 0u
#define subgroup_id() ((uint)get_local_id(0))
#define subgroup_count() WORKGROUP
#define subgroup_barrier()
#define subgroup_elect() true
#define subgroup_any(a) (a)
#define subgroup_ballot(a) ((uint4)((uint)(a), 0u, 0u, 0u))
#define subgroup_ballot_bit_count(a) ((a).x)
#define subgroup_ballot_exclusive_bit_count(a) 0u
#define subgroup_ballot_find_lsb(a) 0u
#define subgroup_ballot_find_msb(a) 0u
#define subgroup_broadcast(a, lane) (a)
#define subgroup_shuffle(a, lane) (a)
#define subgroup_add(a) (a)
#define subgroup_exclusive_add(a) 0u
#define subgroup_all(a) (a)
#define subgroup_lt_mask() ((uint4)(0u))
#define subgroup_shuffle_xor(a, mask) (a)
#define subgroup_max(a) (a)
#define subgroup_exclusive_max(a) 0u
#define subgroup_shuffle_uint2(a, lane) (a)
#define subgroup_shuffle_xor_uint4(a, mask) (a)
#define subgroup_add_uint3(a) (a)
#define subgroup_exclusive_add_uint3(a) ((uint3)(0u))
