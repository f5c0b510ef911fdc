//go:build unix

package endtoend

import (
	"syscall"
	"time"
)

// cpuTime is the time that the process has had on all cores.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
