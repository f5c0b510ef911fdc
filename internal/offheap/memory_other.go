//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package offheap

func mapMemory(sizeBytes int) (memory []byte, unmap func()) {
	return make([]byte, sizeBytes), func() {}
}
