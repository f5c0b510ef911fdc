//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package offheap

import (
	"unsafe"

	"github.com/spirjoin/spirjoin/internal/hugepages"
)

// Map returns zeroed memory of Go's heap that begins at a multiple of hugepages.Bytes. unmap does nothing.
func Map(sizeBytes int) (memory []byte, unmap func(), err error) {
	all := make([]byte, sizeBytes+hugepages.Bytes)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) % hugepages.Bytes)
	return all[skip:][:sizeBytes:sizeBytes], func() {}, nil
}
