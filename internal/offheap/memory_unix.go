//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package offheap

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/spirjoin/spirjoin/internal/hugepages"
)

// Map maps zeroed memory of the operating system outside Go's heap, and returns a function that unmaps it. The memory
// begins at a large page, so that all of it can be in large pages.
func Map(sizeBytes int) (memory []byte, unmap func(), err error) {
	all, err := syscall.Mmap(-1, 0, sizeBytes+hugepages.Bytes, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("map %d bytes of memory: %w", sizeBytes, err)
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) % hugepages.Bytes)
	memory = all[skip:][:sizeBytes:sizeBytes]
	hugepages.Advise(memory)
	return memory, func() { _ = syscall.Munmap(all) }, nil // cannot fail for a whole mapping
}
