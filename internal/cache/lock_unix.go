//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package cache

import (
	"os"
	"syscall"
	"time"
)

// lockWait is how long Lock waits.
const lockWait = time.Second

// Lock keeps other processes that call it from changing files of a folder at the same time. It makes the folder if
// needed. After a second, or if the file system has no locks, it goes on without: files are replaced atomically anyway.
func Lock(folder string) (unlock func()) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return func() {}
	}
	f, err := os.Open(folder)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(lockWait); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EWOULDBLOCK {
			break
		}
	}
	return func() { _ = f.Close() } // which unlocks
}
