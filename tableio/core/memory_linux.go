package core

import "syscall"

// PhysicalMemoryBytes is the size of the machine's memory.
func PhysicalMemoryBytes() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 1 << 36
	}
	return int64(info.Totalram) * int64(info.Unit)
}
