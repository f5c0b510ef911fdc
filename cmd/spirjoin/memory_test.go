package main

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/internal/command"
)

func TestMemoryLimitIsTakenBack(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	_, args := orders(t, ".parquet")
	tested.Require(t, command.ExitDone, append(args, "--count", "--memory-limit", "1GiB")...)
	require.Equal(t, before, debug.SetMemoryLimit(-1))
}

// TestHeapHasRoomForScratch: what all cores encode with at once does not keep the collector busy, and is reserved.
func TestHeapHasRoomForScratch(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := heapLimitBytes(1 << 30)
	require.EqualValues(t, 64<<20+(1<<30)/20+coreBytes, one)
	runtime.GOMAXPROCS(16)
	require.EqualValues(t, 15*coreBytes, heapLimitBytes(1<<30)-one)

	leftBy := func(cores int) int64 {
		runtime.GOMAXPROCS(cores)
		engine, err := spirjoin.Open(t.Context(), spirjoin.Options{Device: spirjoin.HostDevice, MemoryLimitBytes: 1 << 30})
		require.NoError(t, err)
		defer func() { require.NoError(t, engine.Close()) }()
		limit, err := limitMemory(engine, 1<<30, 0)
		require.NoError(t, err)
		return limit.TableBytes
	}
	require.EqualValues(t, 15*coreBytes, leftBy(1)-leftBy(16))
}
