// Workgroups and tiles. The kernel's declarations, in include/kernels, come before. Kernels first copy what their loops
// need of them to variables, because lavapipe reloads a push constant, for each invocation, at every use.

// The workgroup's number in the dispatch, which the host may cut into ranges and folds into rows of 32768. A workgroup
// whose number is end_group or more returns as a whole.
#define GROUP (first_group + gl_WorkGroupID.y * 32768u + gl_WorkGroupID.x)

#define WORKGROUP_SIZE gl_WorkGroupSize.x
#define INVOCATION gl_LocalInvocationID.x

// The rows of a tile of size rows that starts at row first; none behind the last row.
uint rows_left(uint rows, uint first, uint size) { return first < rows ? min(size, rows - first) : 0u; }
