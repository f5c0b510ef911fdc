//go:build !linux

package host

func processorName() string { return defaultProcessorName }

func machineMemory() (totalBytes, availableBytes uint64) {
	return unknownMemoryBytes, unknownMemoryBytes
}
