// Package backend is the contract between the join algorithms and the APIs that drive devices.
//
// It has two interfaces. A backend implements the thin one: [Backend] enumerates and opens devices, [Driver] allocates
// blocks of memory, compiles kernels and runs batches of commands whose barriers are already placed. Algorithms use the
// other one: [Device] sub-allocates [Buffer] values from arenas under a hard cap, takes command lists ([List]), places
// barriers and waits between queues according to the accesses that the kernels declare, splits work that would occupy
// the device for too long, and gives every wait a context and a time limit. The code between the two interfaces is
// written once, here, and is the same for every API.
package backend
