//go:build !linux

package tableio

// physicalMemoryBytes is a size above which no single buffer is meant.
func physicalMemoryBytes() int64 { return 1 << 36 }
