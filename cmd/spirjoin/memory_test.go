package main

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/command"
)

func TestCappedAllocator(t *testing.T) {
	checked := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer checked.AssertSize(t, 0)
	require.Equal(t, memory.Allocator(checked), (*memoryCap)(nil).of(checked), "no limit, nothing between")
	limit := &memoryCap{limitBytes: 1000}
	a, other := limit.of(checked), limit.of(checked)
	refuses := func(allocate func()) {
		t.Helper()
		defer func() {
			err, _ := recover().(error)
			require.ErrorIs(t, err, backend.ErrHostMemory)
			require.ErrorContains(t, err, "1000 bytes")
		}()
		allocate()
	}
	b := a.Allocate(600)
	refuses(func() { a.Allocate(401) })
	c := other.Allocate(400)
	refuses(func() { a.Allocate(1) })
	refuses(func() { a.Reallocate(601, b) })
	b = a.Reallocate(500, b)
	c = a.Reallocate(500, c)
	a.Free(b)
	b = a.Allocate(500)
	a.Free(b)
	a.Free(c)
}

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
		return limit.limitBytes
	}
	require.EqualValues(t, 15*coreBytes, leftBy(1)-leftBy(16))
}
