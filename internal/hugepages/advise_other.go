//go:build !linux

// Package hugepages asks for large pages of memory, which only Linux wants to be asked for.
package hugepages

// Advise does nothing.
func Advise([]byte) {}
