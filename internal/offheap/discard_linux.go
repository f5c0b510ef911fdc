package offheap

import "syscall"

// discard returns pages to the system, and reports whether that worked; their content is lost. If they are written to
// again, the system gives others.
func discard(memory []byte) bool { return syscall.Madvise(memory, syscall.MADV_DONTNEED) == nil }
