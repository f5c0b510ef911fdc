// Package hugepages asks for large pages of memory, which random access by a gather or a scatter needs to be fast on CPU
// cores, and which are touched for the first time in a fraction of the time. Only Linux wants to be asked.
package hugepages

// Bytes is the size of a large page.
const Bytes = 2 << 20
