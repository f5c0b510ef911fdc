package tableio

import (
	"syscall"
	"testing"
)

// mountSmall mounts a file system of 1 MiB at dir, where that is allowed.
func mountSmall(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("LOUD: a full file system is not tested: mounting needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}
