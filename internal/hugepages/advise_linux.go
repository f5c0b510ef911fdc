package hugepages

import (
	"syscall"
	"unsafe"
)

const (
	pageBytes     = 4 << 10 // the smallest that Linux has; where pages are larger it refuses advice about parts of them
	hugePageBytes = Bytes
)

// Advise asks for large pages in b, whose first and last page it may share with others. A refusal costs nothing but speed.
func Advise(b []byte) {
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % pageBytes
	if uintptr(len(b)) >= skip+hugePageBytes {
		_ = syscall.Madvise(b[skip:], syscall.MADV_HUGEPAGE)
	}
}
