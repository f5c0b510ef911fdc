// Subgroups by the extensions cl_khr_subgroups, cl_khr_subgroup_ballot, cl_khr_subgroup_shuffle and
// cl_khr_subgroup_non_uniform_vote, for programs of OpenCL C 2.0 or later. Kernels call these in control flow that is
// uniform in the subgroup.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

// A kernel that requires a workgroup size also requires the subgroup size. Otherwise the compiler chooses a subgroup
// size for each kernel.
#define reqd_work_group_size(x, y, z) reqd_work_group_size(x, y, z), intel_reqd_sub_group_size(REQUIRED_SUBGROUP)

#define subgroup_size() ((uint)get_max_sub_group_size())
#define subgroup_local_id() ((uint)get_sub_group_local_id())
#define subgroup_id() ((uint)get_sub_group_id())
#define subgroup_count() ((uint)get_num_sub_groups())
#define subgroup_lt_mask() get_sub_group_lt_mask()
#define subgroup_barrier() sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define subgroup_elect() (sub_group_elect() != 0)
#define subgroup_any(a) (sub_group_any(a) != 0)
#define subgroup_all(a) (sub_group_all(a) != 0)
#define subgroup_ballot(a) sub_group_ballot(a)
#define subgroup_ballot_bit_count(a) sub_group_ballot_bit_count(a)
#define subgroup_ballot_exclusive_bit_count(a) sub_group_ballot_exclusive_scan(a)
#define subgroup_ballot_find_lsb(a) sub_group_ballot_find_lsb(a)
#define subgroup_ballot_find_msb(a) sub_group_ballot_find_msb(a)
#define subgroup_broadcast(a, lane) sub_group_shuffle((uint)(a), lane)
#define subgroup_shuffle(a, lane) sub_group_shuffle((uint)(a), lane)
#define subgroup_shuffle_xor(a, mask) sub_group_shuffle_xor((uint)(a), mask)
#define subgroup_add(a) sub_group_reduce_add((uint)(a))
#define subgroup_exclusive_add(a) sub_group_scan_exclusive_add((uint)(a))
#define subgroup_max(a) sub_group_reduce_max((uint)(a))
#define subgroup_exclusive_max(a) sub_group_scan_exclusive_max((uint)(a))
