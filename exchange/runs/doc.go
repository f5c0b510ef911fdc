// Package runs is the host's side of the multi-GPU sort-merge join (HMG, docs/hmg.md): sorted rows in host memory are
// merged, and cut into pairs of partitions that devices join one by one. Rows that are not sorted are divided by key
// ranges.
//
//	k sorted runs of a side ─► Merge ─► one run                                            HMG 3.2
//	sorted R, sorted S ─► Partition: merge path, keys at boundaries taken out ─► tasks     HMG 3.3.1
//	R, S ─► Divide, Scatter: the same key ranges of both ─► segments                       HMG 5
//
// Rows are two parallel slices: key codes, and row numbers or other words of 4 or 8 bytes. Nothing here allocates
// memory for rows but [NewBuffer], and nothing copies rows but what makes output. All row counts are 64-bit.
package runs
