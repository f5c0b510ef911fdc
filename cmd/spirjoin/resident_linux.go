package main

import (
	"fmt"
	"os"
)

// residentBytes is the memory of this process now, code included; 0 if the system does not tell.
func residentBytes() uint64 {
	content, err := os.ReadFile("/proc/self/statm")
	var size, pages uint64
	if _, scanErr := fmt.Sscan(string(content), &size, &pages); err != nil || scanErr != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}
