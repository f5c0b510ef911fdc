//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package host

// mapMemory returns sizeBytes of page-aligned memory and how to give it back.
func mapMemory(sizeBytes int) (memory []byte, release func() error, err error) {
	return heapMemory(sizeBytes), func() error { return nil }, nil
}
