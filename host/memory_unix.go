//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package host

import (
	"syscall"

	"github.com/spirjoin/spirjoin/internal/hugepages"
)

// mapMemory returns sizeBytes of page-aligned memory outside the Go heap and how to give it back.
func mapMemory(sizeBytes int) (memory []byte, release func() error, err error) {
	memory, err = syscall.Mmap(-1, 0, sizeBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	hugepages.Advise(memory)
	return memory, func() error { return syscall.Munmap(memory) }, nil
}
