// Package model runs the exchange among devices for machines that are not there: 16 or 64 devices with their own limits
// of memory and speeds, and any wires between them.
//
// The ranks of package peers run for real, on logical devices of the host, and rows really move ([Machine.Run]). So
// results can be compared with an oracle, and what is judged is the traffic of the real code, not a description of it.
// What is modelled is time: [Machine.Judge] schedules the recorded puts on the segments of a topology.
//
//	ranks on host devices ─► rows, compared by tests
//	        │
//	        └─ puts ─► Traffic ─► Judge (topology) ─► time, bound, fullest segment
package model
