// Package topology models the wires between the memory of the host and several devices: which of them each path takes,
// which ones paths share, and how long bytes take that move over many paths at once. It moves nothing: the planner
// predicts with it.
//
//	                 ┌─ up 0 ─► device 0 ─ out 0 ─┐
//	host memory ─────┤                            ├─► bridge ─► in 2 ─► device 2
//	(segment "host") └─ up 1 ─► device 1 ─ out 1 ─┘
package topology
