// Package hugepages requests large pages of memory. Random access by a gather or a scatter is only fast on CPU cores
// with large pages, and page faults are fewer. The request is only needed on Linux.
package hugepages

// Bytes is the size of a large page.
const Bytes = 2 << 20
