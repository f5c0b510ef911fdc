//go:build !linux

package core

// PhysicalMemoryBytes is a size above which no single buffer is meant.
func PhysicalMemoryBytes() int64 { return 1 << 36 }
