package opencl

import "time"

// Options configure a Backend; the zero value is the default.
type Options struct {
	// directory of compiled kernels; default: spirjoin/opencl in the user's cache directory; "off": they are not kept
	CacheDir string
	// CacheAll keeps binaries of drivers, too, that keep them themselves: for tests.
	CacheAll bool
	// Unoptimized has the compilers of devices on cores skip optimization, for tests: they take a third of the time.
	Unoptimized bool
	// Staged treats every device as one with memory of its own, as a discrete GPU is: for tests on cores.
	Staged bool
	// ListLimit is how long drivers may take to list their devices; default 20 s.
	ListLimit time.Duration
	// CloseLimit is how long closing a device waits for submitted work; default 10 s.
	CloseLimit time.Duration
	Faults     Faults
}

// Faults says which calls fail, for tests. Each number is the number of the failing call, counted from 1 across all
// drivers of the backend; 0 means none.
type Faults struct {
	AllocateDevice int // AllocateBlock of device-local memory fails with ErrDeviceMemory
	AllocateHost   int // AllocateBlock of host-visible memory fails with ErrHostMemory
	Import         int // ImportHost fails with ErrHostMemory
	Compile        int // Compile fails with ErrHostMemory
	LoseBatch      int // the batch of this Submit fails on the device, with CL_OUT_OF_RESOURCES
	HangBatch      int // the batch of this Submit never ends
}
