package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/files"
)

// The memory limit holds for the whole process as the operating system sees it, with the slack that docs/cli.md
// promises: 5% of the limit and 128 MiB. What is not tables, batches or memory of the device takes:
//
//	program    45 MiB of code and data                         in the slack
//	Go heap    64 MiB and 5% of the limit                      in the slack
//	cores      6 MiB each of Go's heap: scratch of an encoder  reserved
//	drivers    what they took as the device was opened, and    reserved (driverBytes)
//	           32 MiB for what they compile later
//	staging    176 MiB through which a GPU copies              reserved (backend.StagingBytes)
//	reading    a share of the limit, or more if a page is     reserved (tableio.Reader.AheadBytes)
//	           larger, for each table that is read as it is
//	           joined or grouped, beside batches in use
//	pipes      the content of standard input, unless it is     reserved (tableio.Reader.PipeBytes)
//	           an Arrow stream
const (
	heapShare      = 20       // of the limit, which Go's heap may take beside leastHeapBytes
	leastHeapBytes = 64 << 20 // with less its collector has no rest
	laterBytes     = 32 << 20 // of drivers
	coreBytes      = 6 << 20
)

// heapLimitBytes is the size at which Go's heap is kept. Where scratch that is in use had no room in it, the collector
// would run all the time.
func heapLimitBytes(limitBytes uint64) int64 {
	return leastHeapBytes + int64(min(limitBytes, 1<<62)/heapShare) + int64(scratchBytes())
}

// scratchBytes is the memory of what all cores decode and encode with.
func scratchBytes() uint64 { return coreBytes * uint64(runtime.GOMAXPROCS(0)) }

// driverBytes is the memory of drivers, which took openedBytes as the device was opened, also where that is the host.
func driverBytes(info *backend.DeviceInfo, openedBytes uint64) uint64 {
	if info.Type != backend.Host {
		openedBytes += laterBytes
	}
	if !info.InHostMemory() {
		openedBytes += backend.StagingBytes
	}
	return openedBytes
}

// limitMemory keeps an engine, and what is read for it, within the limit. Opening the device took openedBytes.
func limitMemory(engine *spirjoin.Engine, limitBytes, openedBytes uint64) (*files.Limit, error) {
	taken := driverBytes(engine.Device(), openedBytes) + scratchBytes()
	if err := engine.Reserve(taken); err != nil {
		return nil, err
	}
	return files.NewLimit(limitBytes, taken), nil
}

// offerTempDir adds to a refusal for want of host memory that a folder for temporary files may do, unless there is one.
func offerTempDir(err error, o *joinOptions) error {
	if o.memoryLimitBytes == 0 || o.tempDir != "" || !errors.Is(err, backend.ErrHostMemory) ||
		strings.Contains(err.Error(), "temp_dir") {
		return err
	}
	return fmt.Errorf("%w; with --temp-dir DIR, less memory may do", err)
}

// dividable tells whether both sides of a join can be divided into files.
func dividable(layout *spirjoin.JoinLayout) bool {
	return layout.CheckDivided(spirjoin.BuildLeft) == nil || layout.CheckDivided(spirjoin.BuildRight) == nil
}
