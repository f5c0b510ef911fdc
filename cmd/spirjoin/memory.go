package main

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
)

// cappedAllocator refuses what goes beyond a limit, so that reading a table that is too large ends in an error and not
// in an exhausted machine. As Arrow's allocators cannot return errors it panics with one, which tableio turns into the
// error of the read.
type cappedAllocator struct {
	inner      memory.Allocator
	limitBytes int64
	usedBytes  atomic.Int64
}

// capAllocator returns inner itself where there is no limit.
func capAllocator(inner memory.Allocator, limitBytes uint64) memory.Allocator {
	if limitBytes == 0 {
		return inner
	}
	return &cappedAllocator{inner: inner, limitBytes: int64(min(limitBytes, 1<<62))}
}

func (a *cappedAllocator) Allocate(size int) []byte {
	a.take(size)
	return a.inner.Allocate(size)
}

func (a *cappedAllocator) Reallocate(size int, b []byte) []byte {
	a.take(size - len(b))
	return a.inner.Reallocate(size, b)
}

func (a *cappedAllocator) Free(b []byte) {
	a.usedBytes.Add(-int64(len(b)))
	a.inner.Free(b)
}

func (a *cappedAllocator) take(growth int) {
	if used := a.usedBytes.Add(int64(growth)); growth > 0 && used > a.limitBytes {
		a.usedBytes.Add(-int64(growth))
		panic(&backend.OpError{Op: "allocate", Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
			"the tables take more than %d bytes, the limit; raise memory_limit or read fewer columns", a.limitBytes)})
	}
}
