// Package clc translates kernels from SPIR-V to OpenCL C 1.2, so that a kernel has one source, the GLSL. It takes what
// glslc makes of them without optimisation: names, functions, structured control flow, variables in memory. What it
// does not know is an error; nothing is guessed. docs/opencl.md says what becomes what.
//
// A variant is translated function by function, callees first. Values are expressions until they are used. A value gets
// a variable of C only where what it reads would change before, or where it is used more than once. What glslang makes
// of &&, || and ?:, branches, becomes an expression again if the branches do nothing else. Variables are declared last,
// each as far inside as its uses allow.
//
// Operations of subgroups are calls of functions that a prelude before the source defines. The types are those of
// OpenCL C; a is a uint, or a vector where the name ends in its type (subgroup_add_uint3).
//
//	subgroup_size()                         uint   invocations of a subgroup
//	subgroup_count()                        uint   subgroups of the workgroup
//	subgroup_id()                           uint   number of the subgroup in the workgroup
//	subgroup_local_id()                     uint   number of the invocation in the subgroup
//	subgroup_lt_mask()                      uint4  bits of the invocations below this one
//	subgroup_barrier()                      void   orders memory among the invocations of the subgroup
//	subgroup_elect()                        bool   true for one invocation
//	subgroup_all(bool), subgroup_any(bool)  bool   of all invocations
//	subgroup_ballot(bool)                   uint4  a bit for each invocation
//	subgroup_ballot_bit_count(uint4)        uint   bits
//	subgroup_ballot_exclusive_bit_count(uint4)  uint  bits of the invocations below
//	subgroup_ballot_find_lsb(uint4)         uint   lowest bit
//	subgroup_ballot_find_msb(uint4)         uint   highest bit
//	subgroup_broadcast(a, uint)             of a   the value of one invocation, the same for all
//	subgroup_shuffle(a, uint)               of a   the value of any invocation
//	subgroup_shuffle_xor(a, uint)           of a   the value of the invocation local id ^ mask
//	subgroup_add(a), subgroup_max(a)        of a   over all invocations
//	subgroup_exclusive_add(a), subgroup_exclusive_max(a)  of a  over the invocations below, 0 for the first
//
// Kernels call them in control flow that is uniform in the subgroup. A prelude may define DEVICE_FENCE(), too: it
// orders accesses to device memory before and after it, for all workgroups. The default is
// mem_fence(CLK_GLOBAL_MEM_FENCE), which OpenCL 1.2 promises only within a workgroup.
package clc
