package hugepages

import (
	"syscall"
	"unsafe"
)

const (
	pageBytes     = 4 << 10 // smallest page of Linux; with larger ones it rejects advice about parts of a page
	hugePageBytes = Bytes
)

// Advise requests large pages for b, which may share its first and last page with other memory. If Linux refuses,
// access is only slower.
func Advise(b []byte) {
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % pageBytes
	if uintptr(len(b)) >= skip+hugePageBytes {
		_ = syscall.Madvise(b[skip:], syscall.MADV_HUGEPAGE)
	}
}
