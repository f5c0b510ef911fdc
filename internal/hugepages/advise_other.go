//go:build !linux

package hugepages

// Advise does nothing.
func Advise([]byte) {}
